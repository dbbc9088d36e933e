#include "tracer/sampling/proc_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/recorded_process.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox {

namespace {

constexpr size_t kFieldsWithCall = 9;  // number, six arguments, sp, pc
constexpr size_t kFieldsWithoutCall = 3;

ScopedFd OpenTaskFile(int tid, const char* name) {
  char path[64];
  std::snprintf(path, sizeof(path), "%s/task/%d/%s", RecordedProcess::folder(), tid, name);
  return ScopedFd(open(path, O_RDONLY | O_CLOEXEC));
}

// The whole text of a small /proc file, kept open: a read at 0 makes it again.
template <size_t kSize>
class ProcText {
 public:
  explicit ProcText(const ScopedFd& file) {
    const ssize_t got = file.valid() ? pread(file.get(), bytes_, kSize, 0) : -1;
    size_ = got > 0 ? static_cast<size_t>(got) : 0;
  }
  std::string_view view() const { return {bytes_, size_}; }

 private:
  char bytes_[kSize];
  size_t size_ = 0;
};

using ShortText = ProcText<256>;
using StatText = ProcText<512>;

std::string_view TakeField(std::string_view* text) {
  const size_t start = std::min(text->find_first_not_of(" \n"), text->size());
  text->remove_prefix(start);
  const size_t end = std::min(text->find_first_of(" \n"), text->size());
  std::string_view field = text->substr(0, end);
  text->remove_prefix(end);
  return field;
}

template <typename T>
bool ParseNumber(std::string_view field, T* value) {
  int base = 10;
  if (field.starts_with("0x")) {
    field.remove_prefix(2);
    base = 16;
  }
  const char* end = field.data() + field.size();
  auto [stop, error] = std::from_chars(field.data(), end, *value, base);
  return error == std::errc() && stop == end;
}

}  // namespace

bool ParseSystemCallLine(std::string_view line, SystemCallLine* parsed) {
  *parsed = SystemCallLine();
  std::string_view first = TakeField(&line);
  if (first == "running") {
    parsed->running = true;
    return TakeField(&line).empty();
  }
  if (!ParseNumber(first, &parsed->number) || parsed->number < -1) return false;
  uint64_t values[kFieldsWithCall - 1] = {};
  const size_t count = (parsed->number < 0 ? kFieldsWithoutCall : kFieldsWithCall) - 1;
  for (size_t i = 0; i < count; ++i) {
    if (!ParseNumber(TakeField(&line), &values[i])) return false;
  }
  if (parsed->number >= 0) {
    parsed->first_argument = values[0];
    parsed->second_argument = values[1];
    parsed->third_argument = values[2];
  }
  parsed->sp = values[count - 2];
  parsed->pc = values[count - 1];
  return TakeField(&line).empty();
}

char ParseThreadState(std::string_view stat) {
  const size_t name_end = stat.rfind(')');  // the name may contain any character
  if (name_end == std::string_view::npos || stat.size() - name_end < 3) return '?';
  return stat[name_end + 2];
}

ProcSource::ProcSource(int tid)
    : syscall_(OpenTaskFile(tid, "syscall")),
      stat_(OpenTaskFile(tid, "stat")),
      schedstat_(OpenTaskFile(tid, "schedstat")) {
  // The file can be opened even if the kernel then refuses to read it.
  if (ShortText(syscall_).view().empty()) syscall_.Reset();
}

ProcSource::Look ProcSource::LookAt(std::span<std::byte> buffer, View* view) {
  const Look look = LookOnce(buffer, view);
  return look == Look::kMoved ? LookOnce(buffer, view) : look;
}

ProcSource::Look ProcSource::LookOnce(std::span<std::byte> buffer, View* view) {
  *view = View();
  // Run time and times run: equal before and after means that it did not run in between, even if
  // it is back in the same call.
  const ShortText ran_before(schedstat_);
  const ShortText call_before(syscall_);
  view->state = ParseThreadState(StatText(stat_).view());
  if (view->state == '?') return Look::kGone;
  if (!ParseSystemCallLine(call_before.view(), &view->call)) {
    return view->state == 'R' ? Look::kRunning : Look::kBlocked;
  }
  if (view->call.running) return Look::kRunning;
  view->registers.Set(machine::kProgramCounter, view->call.pc);
  view->registers.Set(machine::kStackPointer, view->call.sp);
  const uint64_t end = bounds_.EndOf(view->call.sp);
  if (end != 0) {
    const size_t wanted = std::min<uint64_t>(buffer.size(), end - view->call.sp);
    const size_t got = ReadRecordedMemory(view->call.sp, buffer.data(), wanted);
    if (got < wanted) bounds_.Forget();
    view->stack = {view->call.sp, buffer.first(got)};
  }
  const bool same = ShortText(syscall_).view() == call_before.view() &&
                    ShortText(schedstat_).view() == ran_before.view();
  if (!same) return Look::kMoved;
  const size_t size = ran_before.view().copy(blocked_schedstat_.data(), blocked_schedstat_.size());
  blocked_schedstat_[size < blocked_schedstat_.size() ? size : 0] = '\0';
  blocked_state_ = view->state;
  return Look::kBlocked;
}

bool ProcSource::IsAsBefore() const {
  constexpr std::string_view kNotCounted = "0 0 0";
  const std::string_view then = blocked_schedstat_.data();
  return !then.empty() && !then.starts_with(kNotCounted) && ShortText(schedstat_).view() == then &&
         ParseThreadState(StatText(stat_).view()) == blocked_state_;
}

}  // namespace jankbox
