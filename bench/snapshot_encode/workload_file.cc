#include <cstring>
#include <stdexcept>

#include "base/file.h"
#include "bench/snapshot_encode/compression.h"
#include "bench/snapshot_encode/workload.h"

namespace jankbox::bench {
namespace {

constexpr size_t kMaxFileBytes = 256u << 20;
constexpr char kMagic[8] = {'J', 'B', 'X', 'W', 'O', 'R', 'K', '1'};

class Input {
 public:
  explicit Input(const std::string& bytes) : bytes_(bytes) {}

  template <typename T>
  T Number() {
    T value;
    memcpy(&value, Take(sizeof(value)), sizeof(value));
    return value;
  }
  const char* Take(size_t count) {
    if (count > bytes_.size() - at_) throw std::runtime_error("the workload file is cut off");
    at_ += count;
    return bytes_.data() + at_ - count;
  }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
};

}  // namespace

Workload ReadWorkload(const std::string& path) {
  Result<std::string> file = ReadFile(path, kMaxFileBytes);
  if (!file.ok()) throw std::runtime_error(file.status().message());
  const std::string bytes = IsZstd(file.value()) ? ZstdDecompress(file.value()) : file.value();
  Input input(bytes);
  if (memcmp(input.Take(sizeof(kMagic)), kMagic, sizeof(kMagic)) != 0) {
    throw std::runtime_error(path + " is no workload file");
  }
  Workload workload;
  workload.threads.resize(input.Number<uint32_t>());
  workload.names.resize(input.Number<uint32_t>());
  workload.pid = input.Number<int32_t>();
  input.Number<uint32_t>();
  for (std::string& name : workload.names) {
    const auto length = input.Number<uint32_t>();
    name.assign(input.Take(length), length);
  }
  for (WorkloadThread& thread : workload.threads) {
    thread.tid = input.Number<int32_t>();
    thread.events.resize(input.Number<uint32_t>());
    for (WorkloadEvent& event : thread.events) {
      event.timestamp_ns = input.Number<uint64_t>();
      event.name = input.Number<uint32_t>();
      event.begin = input.Number<uint32_t>() == 0;
      if (event.name >= workload.names.size()) throw std::runtime_error("no such name");
    }
  }
  return workload;
}

}  // namespace jankbox::bench
