#include "uploader/policy/upload_outcome.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

TEST(JudgeAnswer, EachClassHasItsOutcome) {
  struct {
    int http_status;
    bool typed_ack;
    UploadOutcome outcome;
  } const cases[] = {
      {200, true, UploadOutcome::kAcknowledged},
      {200, false, UploadOutcome::kRetryLater},  // captive portal
      {201, true, UploadOutcome::kRetryLater},   // no collector answers so
      {204, false, UploadOutcome::kRetryLater},
      {0, true, UploadOutcome::kRetryLater},  // no whole answer
      {0, false, UploadOutcome::kRetryLater},
      {100, false, UploadOutcome::kRetryLater},
      {301, false, UploadOutcome::kRetryLater},
      {302, true, UploadOutcome::kRetryLater},
      {307, false, UploadOutcome::kRetryLater},
      {400, false, UploadOutcome::kRefused},
      {400, true, UploadOutcome::kRefused},
      {409, false, UploadOutcome::kRefused},
      {413, false, UploadOutcome::kTooLarge},
      {415, false, UploadOutcome::kRefused},
      {401, false, UploadOutcome::kPause},
      {403, false, UploadOutcome::kPause},
      {404, false, UploadOutcome::kPause},
      {405, false, UploadOutcome::kPause},
      {407, false, UploadOutcome::kPause},
      {408, false, UploadOutcome::kRetryLater},
      {425, false, UploadOutcome::kRetryLater},
      {429, false, UploadOutcome::kRetryLater},
      {500, false, UploadOutcome::kRetryReport},
      {500, true, UploadOutcome::kRetryReport},
      {502, false, UploadOutcome::kRetryReport},
      {503, false, UploadOutcome::kRetryLater},
      {504, false, UploadOutcome::kRetryReport},
      {599, false, UploadOutcome::kRetryReport},
      {999, false, UploadOutcome::kRetryReport},
      {-1, false, UploadOutcome::kRetryLater},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(JudgeAnswer(c.http_status, c.typed_ack), c.outcome)
        << c.http_status << " " << c.typed_ack;
  }
}

TEST(JudgeAnswer, OnlyATypedAckRemovesAReport) {
  for (int status = -1; status < 700; ++status) {
    EXPECT_NE(JudgeAnswer(status, false), UploadOutcome::kAcknowledged) << status;
  }
}

}  // namespace
}  // namespace jankbox
