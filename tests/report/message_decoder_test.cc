#include "report/message_decoder.h"

#include <gtest/gtest.h>

#include "report/report.pb.h"
#include "report/report_encoder.h"
#include "tests/report/sample_report.h"

namespace jankbox {
namespace {

TEST(MessageDecoder, ReadsEveryFieldThatTheWriterWrites) {
  const ReportCountBook filled = FilledCountBook();
  const std::string bytes = EncodeCountBook(filled);
  ReportCountBook read;
  ASSERT_TRUE(DecodeCountBook(bytes, &read).ok());
  EXPECT_EQ(EncodeCountBook(read), bytes);
  proto::CountBook parsed;
  ASSERT_TRUE(parsed.ParseFromString(bytes));
  EXPECT_EQ(parsed.SerializeAsString().size(), bytes.size());
  ASSERT_EQ(parsed.counters_size(), 2);
  EXPECT_EQ(parsed.counters(1).counter().buckets(1).incidents(),
            read.counters[1].counter.buckets[1].incidents);
  EXPECT_EQ(parsed.counters(0).counter().kind(), proto::ANR);
  EXPECT_EQ(read.counters[0].counter.kind, ReportKind::kAnr);
}

TEST(MessageDecoder, AnyCutIsHandled) {
  const std::string bytes = EncodeCountBook(FilledCountBook());
  for (size_t size = 0; size < bytes.size(); ++size) {
    ReportCountBook read;
    // A cut between two fields is a whole message.
    (void)DecodeCountBook(bytes.substr(0, size), &read).ok();
    EXPECT_LE(EncodeCountBook(read).size(), size);
  }
}

TEST(MessageDecoder, LimitsOfTheSchemaHold) {
  proto::CountBook book;
  for (int i = 0; i < 501; ++i) book.add_counters();
  ReportCountBook read;
  EXPECT_TRUE(DecodeCountBook(book.SerializeAsString(), &read).ok());
  book.add_counters();
  read = {};
  EXPECT_EQ(DecodeCountBook(book.SerializeAsString(), &read).code(), StatusCode::kCorrupt);
  book.clear_counters();
  book.set_epoch(std::string(1025, 'x'));
  EXPECT_EQ(DecodeCountBook(book.SerializeAsString(), &read).code(), StatusCode::kCorrupt);
}

TEST(MessageDecoder, FieldOfAnotherTypeIsDamage) {
  ReportCountBook read;
  EXPECT_FALSE(DecodeCountBook(std::string("\x08\x01", 2), &read).ok()) << "epoch as a number";
  EXPECT_FALSE(DecodeCountBook(std::string("\x22\x01x", 3), &read).ok()) << "seq as a text";
  EXPECT_TRUE(DecodeCountBook(std::string("\xa0\x06\x01", 3), &read).ok()) << "an unknown field";
}

}  // namespace
}  // namespace jankbox
