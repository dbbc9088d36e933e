#include "uploader/transport/pace_file.h"

#include "base/file.h"
#include "base/sealed_file.h"

namespace jankbox {
namespace {

constexpr char kPaceName[] = ".upload";
constexpr size_t kMaxPaceBytes = 4096;

}  // namespace

UploadPace LoadUploadPace(const std::string& directory) {
  const Result<std::string> bytes = ReadFile(JoinPath(directory, kPaceName), kMaxPaceBytes);
  return bytes.ok() ? DecodeUploadPace(bytes.value()) : UploadPace();
}

Status StoreUploadPace(const std::string& directory, const UploadPace& pace) {
  return ReplaceFile(directory, kPaceName, EncodeUploadPace(pace), /*durable=*/false);
}

}  // namespace jankbox
