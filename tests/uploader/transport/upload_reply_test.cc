#include "uploader/transport/upload_reply.h"

#include <gtest/gtest.h>

#include <string>

#include "report/report.pb.h"

namespace jankbox {
namespace {

constexpr char kId[] = "01890a5d-ac96-774b-bcce-b302099a8057";

std::string Reply(const std::string& id, proto::UploadReply::Result result) {
  proto::UploadReply reply;
  reply.set_id(id);
  reply.set_revision(2);
  reply.set_result(result);
  return reply.SerializeAsString();
}

TEST(UploadReply, EachResultIsAnAck) {
  EXPECT_TRUE(AcknowledgesReport(Reply(kId, proto::UploadReply::STORED), kId));
  EXPECT_TRUE(AcknowledgesReport(Reply(kId, proto::UploadReply::DUPLICATE), kId));
  EXPECT_TRUE(AcknowledgesReport(Reply(kId, proto::UploadReply::SUPERSEDED), kId));
}

TEST(UploadReply, OtherAnswersAreNone) {
  EXPECT_FALSE(AcknowledgesReport("", kId));
  EXPECT_FALSE(AcknowledgesReport("<html><body>Welcome to the hotel</body></html>", kId));
  EXPECT_FALSE(AcknowledgesReport("{\"id\":\"" + std::string(kId) + "\",\"result\":1}", kId));
  EXPECT_FALSE(AcknowledgesReport(Reply(kId, proto::UploadReply::RESULT_UNSPECIFIED), kId));
  EXPECT_FALSE(AcknowledgesReport(Reply(kId, static_cast<proto::UploadReply::Result>(4)), kId));
  EXPECT_FALSE(AcknowledgesReport(Reply(kId, static_cast<proto::UploadReply::Result>(-1)), kId));
  std::string other = kId;
  other.back() = '8';
  EXPECT_FALSE(AcknowledgesReport(Reply(other, proto::UploadReply::STORED), kId));
  EXPECT_FALSE(AcknowledgesReport(Reply("", proto::UploadReply::STORED), ""));
}

TEST(UploadReply, FieldsOfALaterServerAreIgnored) {
  const std::string later = Reply(kId, proto::UploadReply::STORED) + "\x22\x05limit";
  EXPECT_TRUE(AcknowledgesReport(later, kId));
}

TEST(UploadReply, CutAtEveryByteIsNone) {
  const std::string whole = Reply(kId, proto::UploadReply::STORED);
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(AcknowledgesReport(whole.substr(0, length), kId)) << length;
  }
}

TEST(UploadReply, AgreesWithLibprotobufOnEveryFlippedBit) {
  const std::string whole = Reply(kId, proto::UploadReply::STORED);
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    if (!AcknowledgesReport(damaged, kId)) continue;
    proto::UploadReply reply;
    EXPECT_TRUE(reply.ParseFromString(damaged)) << bit;
    EXPECT_EQ(reply.id(), kId) << bit;
    EXPECT_NE(reply.result(), proto::UploadReply::RESULT_UNSPECIFIED) << bit;
  }
}

std::string CountsAnswerOf(const std::string& epoch, uint64_t seq,
                           proto::CountsReply::Result result) {
  proto::CountsReply reply;
  reply.set_epoch(epoch);
  reply.set_seq(seq);
  reply.set_result(result);
  return reply.SerializeAsString();
}

TEST(CountsReply, SaysWhatTheServerHas) {
  using Reply = proto::CountsReply;
  const auto stored = AnswerToCounts(CountsAnswerOf(kId, 7, Reply::STORED), kId);
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->seq, 7u);
  EXPECT_FALSE(stored->forked);
  EXPECT_FALSE(stored->resend);
  EXPECT_TRUE(AnswerToCounts(CountsAnswerOf(kId, 7, Reply::FORKED), kId)->forked);
  EXPECT_TRUE(AnswerToCounts(CountsAnswerOf(kId, 7, Reply::RESEND), kId)->resend);
}

TEST(CountsReply, OtherAnswersAreNone) {
  using Reply = proto::CountsReply;
  const std::string other = "01890a5d-ac96-774b-bcce-b302099a8058";
  EXPECT_FALSE(AnswerToCounts("", kId).has_value());
  EXPECT_FALSE(AnswerToCounts("<html><body>Welcome to the hotel</body></html>", kId).has_value());
  EXPECT_FALSE(AnswerToCounts(CountsAnswerOf(other, 7, Reply::STORED), kId).has_value());
  EXPECT_FALSE(AnswerToCounts(CountsAnswerOf(kId, 7, Reply::RESULT_UNSPECIFIED), kId).has_value());
  EXPECT_FALSE(
      AnswerToCounts(CountsAnswerOf(kId, 7, static_cast<Reply::Result>(4)), kId).has_value());
  EXPECT_FALSE(AnswerToCounts(Reply::default_instance().SerializeAsString(), "").has_value());
}

}  // namespace
}  // namespace jankbox
