#include <algorithm>
#include <cstring>
#include <limits>

#include "tracer/sampling/perf_source.h"

namespace jankbox {

namespace {

constexpr size_t kHeaderBytes = 8;
constexpr uint64_t kNoRegisters =
    0;  // PERF_SAMPLE_REGS_ABI_NONE: a kernel thread's, an exiting one

// Takes values off a record; false at its end.
class RecordReader {
 public:
  explicit RecordReader(std::span<const std::byte> record) : rest_(record) {}

  template <typename T>
  bool Take(T* value) {
    if (rest_.size() < sizeof(T)) return false;
    std::memcpy(value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return true;
  }

  bool TakeBytes(uint64_t size, std::span<const std::byte>* bytes) {
    if (size > rest_.size()) return false;
    *bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return true;
  }

 private:
  std::span<const std::byte> rest_;
};

bool TakeRegisters(RecordReader* reader, Registers* registers) {
  for (uint32_t i = 0; i < machine::kPerfRegisterCount; ++i) {
    uint64_t value = 0;
    if (!reader->Take(&value)) return false;
    // Kernels before 5.11 give -1 for the registers that a system call's entry did not save.
    if (value != std::numeric_limits<uint64_t>::max()) {
      registers->Set(machine::kPerfRegisters[i], value);
    }
  }
  return true;
}

}  // namespace

bool ParsePerfSample(std::span<const std::byte> record, PerfSample* sample) {
  *sample = PerfSample();
  if (record.size() < kHeaderBytes) return false;
  RecordReader reader(record.subspan(kHeaderBytes));
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t abi = kNoRegisters;
  if (!reader.Take(&pid) || !reader.Take(&tid) || !reader.Take(&sample->time_ns) ||
      !reader.Take(&abi)) {
    return false;
  }
  sample->tid = static_cast<int32_t>(tid);
  if (abi != kNoRegisters && !TakeRegisters(&reader, &sample->registers)) return false;
  uint64_t size = 0;
  if (!reader.Take(&size)) return false;
  if (size == 0) return true;
  std::span<const std::byte> bytes;
  uint64_t filled = 0;
  if (!reader.TakeBytes(size, &bytes) || !reader.Take(&filled)) return false;
  if (!sample->registers.Known(machine::kStackPointer)) return true;
  sample->stack = {sample->registers.Get(machine::kStackPointer),
                   bytes.first(std::min(filled, size))};
  return true;
}

}  // namespace jankbox
