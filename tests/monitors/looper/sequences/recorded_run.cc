#include "tests/monitors/looper/sequences/recorded_run.h"

#include <zstd.h>

#include <algorithm>

#include "base/file.h"

namespace jankbox {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr size_t kMaxContentBytes = 32 << 20;

// Reads numbers and texts; past the end everything is 0, and ok() is false.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ >= bytes_.size(); }

  char Byte() {
    ok_ = ok_ && !AtEnd();
    return ok_ ? bytes_[at_++] : '\0';
  }
  uint64_t Number() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(Byte());
      number |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return number;
    }
    ok_ = false;
    return 0;
  }
  // A number of things that each take a byte at least.
  size_t Count() {
    const uint64_t count = Number();
    ok_ = ok_ && count <= bytes_.size() - at_;
    return ok_ ? count : 0;
  }
  std::string_view Text() {
    const size_t size = Count();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

// From the bytes of one run.
class RunParser {
 public:
  RunParser(std::string_view bytes, RecordedRun* run) : in_(bytes), run_(run) {}

  bool Parse() {
    while (in_.ok() && !in_.AtEnd()) {
      if (!ParseRecord(static_cast<WaitRecord>(in_.Byte()))) return false;
    }
    return in_.ok();
  }

 private:
  bool ParseRecord(WaitRecord tag) {
    switch (tag) {
      case WaitRecord::kModule:
        modules_.emplace_back(in_.Text());
        return true;
      case WaitRecord::kSite:
        return ParseSite();
      case WaitRecord::kFunction:
        return ParseFunction();
      case WaitRecord::kCall:
        return ParseCall();
      case WaitRecord::kTerminals:
      case WaitRecord::kWait:
      case WaitRecord::kReturn:
      case WaitRecord::kStallBegin:
      case WaitRecord::kStallEnd:
      case WaitRecord::kEnd:
        return ParseEvent(tag);
    }
    return false;
  }

  bool ParseSite() {
    const size_t module = in_.Number();
    const uint64_t offset = in_.Number();
    if (module > modules_.size()) return false;
    run_->sites.push_back(
        {module == 0 ? std::string() : modules_[module - 1], offset, in_.Number()});
    return true;
  }

  bool ParseFunction() {
    const size_t module = in_.Number();
    if (module >= modules_.size()) return false;
    run_->functions.push_back({modules_[module], in_.Number()});
    return true;
  }

  int Descriptor() { return static_cast<int>(in_.Number()); }

  void ParseSets(RecordedCall* call) {
    call->set_bits = Descriptor();
    for (int i = 0; i < 3; ++i) {
      FD_ZERO(&call->sets[i]);
      const size_t count = in_.Count();
      call->has_set[i] = count != 0;
      for (size_t n = 1; n < count; ++n) {
        const int fd = Descriptor();
        if (fd < FD_SETSIZE) FD_SET(fd, &call->sets[i]);
      }
    }
  }

  bool ParseCall() {
    RecordedCall call;
    const uint64_t family = in_.Number();
    if (family > static_cast<uint64_t>(WaitFamily::kRead)) return false;
    call.family = static_cast<WaitFamily>(family);
    call.returns_at_once = in_.Number() != 0;
    if (call.family == WaitFamily::kPump) {
      call.pump = in_.Text();
    } else if (call.family == WaitFamily::kSelect) {
      ParseSets(&call);
    } else {
      call.fd = Descriptor() - 1;
      call.fds.resize(in_.Count());
      for (int& fd : call.fds) fd = Descriptor() - 1;
    }
    run_->calls.push_back(std::move(call));
    return true;
  }

  bool ParseEvent(WaitRecord tag) {
    RecordedEvent event;
    event.kind = tag;
    if (tag == WaitRecord::kTerminals) {
      event.terminals = in_.Number();
    } else {
      at_us_ += in_.Number();
      if (tag != WaitRecord::kEnd) work_us_ += in_.Number();
    }
    event.at_us = at_us_;
    event.work_us = work_us_;
    if (tag == WaitRecord::kWait && !ParseWait(&event)) return false;
    run_->events.push_back(std::move(event));
    return true;
  }

  bool ParseWait(RecordedEvent* event) {
    event->site = in_.Number();
    event->depth = in_.Number();
    event->call = in_.Number();
    event->qt_frame = in_.Number();
    event->words.resize(in_.Count());
    size_t depth = 0;
    for (ChangedWord& word : event->words) {
      depth += in_.Number();
      const uint64_t value = in_.Number();
      word = {depth, value >> 1, (value & 1) != 0 ? in_.Number() + 1 : 0};
      if (depth > event->depth || word.function > run_->functions.size()) return false;
    }
    return event->site < run_->sites.size() && event->call < run_->calls.size() &&
           event->depth <= kMaxRecordedDepth && event->qt_frame <= kRecordedCallerWords;
  }

  Input in_;
  RecordedRun* run_;
  std::vector<std::string> modules_;
  uint64_t at_us_ = 0;
  uint64_t work_us_ = 0;
};

Status Damaged(const std::string& program) {
  return Status(StatusCode::kCorrupt, program + " has damaged records");
}

}  // namespace

Result<std::vector<RecordedRun>> ParseRecordedRuns(std::string_view content,
                                                   const std::string& program) {
  constexpr std::string_view kMagic = kWaitFileMagic;
  if (content.substr(0, kMagic.size()) != kMagic) {
    return Status(StatusCode::kCorrupt, program + " is of another version");
  }
  std::vector<RecordedRun> runs;
  for (Input in(content.substr(kMagic.size())); !in.AtEnd();) {
    if (in.Byte() != kWaitRunTag) return Damaged(program);
    RecordedRun run;
    run.program = program;
    run.name = in.Text();
    const std::string_view records = in.Text();
    if (!in.ok() || !RunParser(records, &run).Parse()) return Damaged(program);
    runs.push_back(std::move(run));
  }
  return runs;
}

Result<std::vector<RecordedRun>> ReadRecordedRuns(const std::string& path) {
  const std::string program(BaseName(path).substr(0, BaseName(path).find('.')));
  Result<std::string> file = ReadFile(path, kMaxFileBytes);
  if (!file.ok()) return file.status();
  const unsigned long long size = ZSTD_getFrameContentSize(file->data(), file->size());
  if (size > kMaxContentBytes) return Damaged(program);
  std::string content(size, '\0');
  const size_t written =
      ZSTD_decompress(content.data(), content.size(), file->data(), file->size());
  if (ZSTD_isError(written) != 0 || written != size) return Damaged(program);
  return ParseRecordedRuns(content, program);
}

}  // namespace jankbox
