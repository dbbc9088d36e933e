#include "tools/attach/wait_call.h"

#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "diagnosis/symbols/symbolizer.h"

namespace jankbox::tools {
namespace {

struct KnownFunction {
  const char* name;
  WaitForm form;
};

// GLib, Qt, libuv and most programs wait in the first three; GTK's Emacs in the fourth.
constexpr KnownFunction kKnown[] = {
    {"poll", WaitForm::kPoll},
    {"epoll_wait", WaitForm::kEpoll},
    {"ppoll", WaitForm::kPpoll},
    {"pselect", WaitForm::kPselect},
    {"epoll_pwait", WaitForm::kEpoll},
    {"select", WaitForm::kSelect},
    {"epoll_pwait2", WaitForm::kEpollPwait2},
    {"exit", WaitForm::kNone},
};

bool IsCLibrary(const std::string& path) {
  const std::string name(BaseName(path));
  return name.starts_with("libc.so") || name.starts_with("libc-") || name.starts_with("ld-musl-");
}

std::vector<WaitFunction> FindIn(const Module& module) {
  std::vector<WaitFunction> found;
  const std::unique_ptr<ElfSymbols> symbols = OpenModuleFile(module.path);
  if (symbols == nullptr || symbols->BuildId() != module.build_id) return found;
  // The functions are exported.
  constexpr ElfSymbols::Table kTable = ElfSymbols::Table::kDynamic;
  symbols->ForEachFunction(kTable, [&](const FunctionSymbol& symbol) {
    const std::string name = symbols->NameAt(kTable, symbol.name_offset);
    for (const KnownFunction& known : kKnown) {
      if (name != known.name) continue;
      found.push_back({name, known.form, symbol.start + module.load_bias, symbol.size});
    }
  });
  const auto rank = [](const WaitFunction& function) {
    return std::find_if(std::begin(kKnown), std::end(kKnown),
                        [&](const KnownFunction& known) { return function.name == known.name; });
  };
  std::sort(found.begin(), found.end(),
            [&](const WaitFunction& a, const WaitFunction& b) { return rank(a) < rank(b); });
  const auto same = [](const WaitFunction& a, const WaitFunction& b) { return a.name == b.name; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

// Whether the timeout at `address`, two words of which both are 0, is none.
bool IsZeroAt(uint64_t address, const TargetMemory& memory) {
  int64_t words[2];
  return address != 0 && memory.Read(address, words, sizeof(words)) && words[0] == 0 &&
         words[1] == 0;
}

bool ReturnsAtOnce(WaitForm form, std::span<const uint64_t, 6> arguments,
                   const TargetMemory& memory) {
  switch (form) {
    case WaitForm::kPoll:
      return static_cast<int32_t>(arguments[2]) == 0;
    case WaitForm::kEpoll:
      return static_cast<int32_t>(arguments[3]) == 0;
    case WaitForm::kPpoll:
      return IsZeroAt(arguments[2], memory);
    case WaitForm::kEpollPwait2:
      return IsZeroAt(arguments[3], memory);
    case WaitForm::kSelect:
    case WaitForm::kPselect:
      return IsZeroAt(arguments[4], memory);
    case WaitForm::kNone:
      break;
  }
  return false;
}

}  // namespace

std::vector<WaitFunction> FindWaitFunctions(const ModuleMap& modules) {
  for (const Module& module : modules.modules()) {
    if (!IsCLibrary(module.path)) continue;
    std::vector<WaitFunction> found = FindIn(module);
    if (!found.empty()) return found;
  }
  // Linked statically.
  return modules.modules().empty() ? std::vector<WaitFunction>() : FindIn(modules.modules()[0]);
}

std::optional<WaitForm> WaitFormOf(int64_t system_call) {
  switch (system_call) {
#if defined(SYS_poll)
    case SYS_poll:
      return WaitForm::kPoll;
    case SYS_select:
      return WaitForm::kSelect;
    case SYS_epoll_wait:
      return WaitForm::kEpoll;
#endif
    case SYS_ppoll:
      return WaitForm::kPpoll;
    case SYS_pselect6:
      return WaitForm::kPselect;
    case SYS_epoll_pwait:
      return WaitForm::kEpoll;
#if defined(SYS_epoll_pwait2)
    case SYS_epoll_pwait2:
      return WaitForm::kEpollPwait2;
#endif
    default:
      return std::nullopt;
  }
}

void TargetWait::ReadPollList(uint64_t address, uint64_t count, const TargetMemory& memory) {
  const size_t readable = WaitCall::Readable(count);
  std::vector<pollfd> list(readable);
  if (address == 0 || count == 0 || !memory.Read(address, list.data(), readable * sizeof(pollfd))) {
    return;
  }
  for (const pollfd& entry : list) fds_.push_back(entry.fd);
  call_.fd = fds_[0];
  call_.fds = fds_.data();
  call_.fd_count = fds_.size();
  call_.fd_stride = sizeof(int);
}

void TargetWait::ReadSets(std::span<const uint64_t, 6> arguments, const TargetMemory& memory) {
  call_.set_bits = std::clamp(static_cast<int>(arguments[0]), 0, int{FD_SETSIZE});
  const size_t bytes = (static_cast<size_t>(call_.set_bits) + 63) / 64 * 8;
  for (size_t i = 0; i < sets_.size(); ++i) {
    FD_ZERO(&sets_[i]);
    const uint64_t address = arguments[1 + i];
    if (address != 0 && memory.Read(address, &sets_[i], bytes)) call_.sets[i] = &sets_[i];
  }
}

void TargetWait::Read(WaitForm form, std::span<const uint64_t, 6> arguments, uint64_t call_site,
                      uint64_t stack, const TargetMemory& memory) {
  fds_.clear();
  call_ = WaitCall();
  call_.call_site = reinterpret_cast<const void*>(call_site);
  call_.stack = reinterpret_cast<const void*>(stack);
  call_.returns_at_once = ReturnsAtOnce(form, arguments, memory);
  switch (form) {
    case WaitForm::kPoll:
    case WaitForm::kPpoll:
      call_.family = WaitFamily::kPoll;
      ReadPollList(arguments[0], static_cast<uint32_t>(arguments[1]), memory);
      return;
    case WaitForm::kEpoll:
    case WaitForm::kEpollPwait2:
      call_.family = WaitFamily::kEpoll;
      call_.fd = static_cast<int>(arguments[0]);
      return;
    case WaitForm::kSelect:
    case WaitForm::kPselect:
      call_.family = WaitFamily::kSelect;
      ReadSets(arguments, memory);
      return;
    case WaitForm::kNone:
      return;
  }
}

}  // namespace jankbox::tools
