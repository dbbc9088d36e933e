#include "tracer/sampling/sample_event.h"

#include <gtest/gtest.h>

#include <vector>

namespace jankbox {
namespace {

StackSample FullSample() {
  StackSample sample;
  sample.tid = 0x7fffffff;
  sample.source = SampleSource::kSignal;
  sample.running = true;
  sample.syscall = 232;
  sample.state = 'D';
  sample.fd_class = StackSample::FdClass::kOther;
  sample.truncated = true;
  sample.uncertain = true;
  sample.depth = StackSample::kMaxDepth;
  for (uint32_t i = 0; i < sample.depth; ++i) sample.pcs[i] = 0x7fff'0000'0000 + i;
  return sample;
}

std::vector<uint64_t> Encode(const StackSample& sample) {
  std::vector<uint64_t> words(kMaxSamplePayloadWords);
  words.resize(EncodeSample(sample, words.data()));
  return words;
}

void ExpectEqual(const StackSample& a, const StackSample& b) {
  EXPECT_EQ(a.tid, b.tid);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.running, b.running);
  EXPECT_EQ(a.syscall, b.syscall);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.fd_class, b.fd_class);
  EXPECT_EQ(a.truncated, b.truncated);
  EXPECT_EQ(a.uncertain, b.uncertain);
  ASSERT_EQ(a.depth, b.depth);
  for (uint32_t i = 0; i < a.depth; ++i) EXPECT_EQ(a.pcs[i], b.pcs[i]);
}

TEST(SampleEvent, RoundTripKeepsEveryField) {
  StackSample plain;
  plain.tid = 1;
  StackSample first_call = FullSample();
  first_call.syscall = 0;  // read: not to be mistaken for none
  first_call.depth = 1;
  for (const StackSample& sample : {plain, FullSample(), first_call}) {
    const std::vector<uint64_t> words = Encode(sample);
    for (uint64_t word : words) EXPECT_EQ(word >> 60, 0u);
    StackSample decoded;
    ASSERT_TRUE(DecodeSample(words, &decoded));
    ExpectEqual(sample, decoded);
  }
}

TEST(SampleEvent, EveryTruncationIsRefused) {
  const std::vector<uint64_t> words = Encode(FullSample());
  for (size_t size = 0; size < words.size(); ++size) {
    StackSample decoded;
    EXPECT_FALSE(DecodeSample(std::span(words).first(size), &decoded)) << size;
  }
}

TEST(SampleEvent, ValuesOutOfRangeAreRefused) {
  const auto refused = [](size_t word, uint64_t value) {
    std::vector<uint64_t> words = Encode(FullSample());
    words[word] = value;
    StackSample decoded;
    return !DecodeSample(words, &decoded);
  };
  EXPECT_TRUE(refused(0, uint64_t{5} << 32));  // no such source
  EXPECT_TRUE(refused(0, uint64_t{6} << 44));  // no such fd class
  EXPECT_TRUE(refused(0, uint64_t{1} << 51));  // a flag that is not defined
  EXPECT_TRUE(refused(1, uint64_t{1} << 32));
  EXPECT_TRUE(refused(2, StackSample::kMaxDepth + 1));
  EXPECT_TRUE(refused(2, UINT64_MAX));
}

}  // namespace
}  // namespace jankbox
