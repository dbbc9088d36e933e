#include "tracer/ftrace/private_instance.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/recorded_process.h"
#include "tracer/ftrace/tracefs_file.h"
#include "tracer/ring/process_identity.h"

namespace jankbox {
namespace {

constexpr std::string_view kPrefix = "jankbox-";
constexpr int kMaxThreadLists = 5;

std::atomic<PrivateInstance::Remover> g_remover{nullptr};
std::atomic<uint32_t> g_left{0};  // that another process removes: their names may still be in use

// Those whose rate we know: ns, or the counter that user space reads too. boot and mono follow the
// clocks of the trace; local is the kernel's fastest, in step between CPUs if the TSC is.
constexpr std::string_view kClocks[] = {"boot", "mono", "local", "global", "mono_raw", "x86-tsc"};
constexpr size_t kDefaultClocks = 3;

std::string InstancesDir(const std::string& tracefs) { return tracefs + "/instances/"; }

// The number at the front of `*text`, taken from it; 0 if there is none.
uint64_t TakeNumber(std::string_view* text) {
  uint64_t number = 0;
  const auto end = std::from_chars(text->data(), text->data() + text->size(), number).ptr;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

// "jankbox-<pid>-<start time>", with "-<number>", "-io", both in this order, or nothing after it.
bool ParseName(std::string_view name, int* pid, uint64_t* start_ticks) {
  if (name.substr(0, kPrefix.size()) != kPrefix) return false;
  name.remove_prefix(kPrefix.size());
  *pid = static_cast<int>(TakeNumber(&name));
  if (*pid <= 0 || name.empty() || name[0] != '-') return false;
  name.remove_prefix(1);
  *start_ticks = TakeNumber(&name);
  if (name.size() > 1 && name[0] == '-' && name[1] >= '1' && name[1] <= '9') {
    name.remove_prefix(1);
    TakeNumber(&name);
  }
  return *start_ticks != 0 && (name.empty() || name == "-io");
}

std::string TimeNamespaceOf(const std::string& process) {
  char target[64];
  const ssize_t n = readlink(("/proc/" + process + "/ns/time").c_str(), target, sizeof(target));
  return n > 0 ? std::string(target, static_cast<size_t>(n)) : std::string();
}

// A start time reads differently from another time namespace: then any process of that pid counts.
bool OwnerLives(int pid, uint64_t start_ticks) {
  const uint64_t now_there = ProcessStartTicks(pid);
  if (now_there == 0) return false;
  return now_there == start_ticks ||
         TimeNamespaceOf(std::to_string(pid)) != TimeNamespaceOf("self");
}

// Recording ends first, then the filters, each quickly: rmdir with all of it in place takes twice
// as long.
bool RemoveInstance(const std::string& path) {
  (void)WriteTracefs(path + "/tracing_on", "0").ok();
  (void)WriteTracefs(path + "/events/enable", "0").ok();
  (void)EmptyTracefs(path + "/set_event_pid").ok();
  return rmdir(path.c_str()) == 0 || errno == ENOENT;
}

std::string ThreadIds() {
  std::string ids;
  Result<std::vector<std::string>> tasks =
      ListDirectory(std::string(RecordedProcess::folder()) + "/task");
  if (!tasks.ok()) return ids;
  for (const std::string& tid : tasks.value()) ids += tid + ' ';
  return ids;
}

uint64_t NumberAfter(const std::string& text, const char* label) {
  const size_t at = text.find(label);
  return at == std::string::npos ? 0 : strtoull(text.c_str() + at + strlen(label), nullptr, 10);
}

}  // namespace

PrivateInstance::PrivateInstance(std::string tracefs, std::string name)
    : owner_pid_(getpid()), name_(std::move(name)), path_(InstancesDir(tracefs) + name_) {}

PrivateInstance::~PrivateInstance() {
  if (getpid() != owner_pid_) return;
  (void)Write("tracing_on", "0").ok();
  const Remover remover = g_remover.load();
  if (remover == nullptr || !remover(name_)) {
    RemoveInstance(path_);
  } else {
    g_left.fetch_add(1);
  }
}

void PrivateInstance::SetRemover(Remover remover) { g_remover = remover; }

Result<std::unique_ptr<PrivateInstance>> PrivateInstance::Create(const std::string& tracefs,
                                                                 std::string_view suffix,
                                                                 const Settings& settings) {
  const ProcessIdentity self = CurrentProcess();
  std::string name(kPrefix);
  name += std::to_string(self.pid) + '-' + std::to_string(self.start_ticks);
  if (const uint32_t left = g_left; left != 0) name += '-' + std::to_string(left);
  name += suffix;
  const std::string path = InstancesDir(tracefs) + name;
  if (mkdir(path.c_str(), 0700) != 0) return Status::FromErrno(errno, path);
  std::unique_ptr<PrivateInstance> instance(new PrivateInstance(tracefs, std::move(name)));
  Status status = instance->SetUp(settings);
  if (!status.ok()) return status;
  return instance;
}

Status PrivateInstance::Write(std::string_view relative_path, std::string_view text) const {
  return WriteTracefs(path_ + '/' + std::string(relative_path), text);
}

Status PrivateInstance::SetUp(const Settings& settings) {
  const auto given_up = [&] { return settings.given_up != nullptr && settings.given_up->load(); };
  const Status stopped(StatusCode::kUnavailable, "stopped meanwhile");
  Status status = Write("tracing_on", "0");
  if (given_up()) return stopped;
  if (status.ok()) status = ChooseClock(settings.trace_clock);
  if (given_up()) return stopped;
  if (status.ok()) status = Write("buffer_size_kb", std::to_string(settings.buffer_kib));
  if (given_up()) return stopped;
  if (status.ok()) status = Write("options/overwrite", "1");
  // A new instance starts with the global options: stacks of each event are not wanted.
  for (const char* option : {"options/stacktrace", "options/userstacktrace"}) {
    (void)Write(option, "0").ok();  // not in every kernel
  }
  if (status.ok() && settings.own_threads_only) status = FollowOwnThreads();
  for (const std::string& event : settings.events) {
    if (status.ok()) status = Write("events/" + event + "/enable", "1");
  }
  for (const std::string& event : settings.maybe_events) {
    (void)Write("events/" + event + "/enable", "1").ok();
  }
  return status.ok() ? Write("tracing_on", "1") : status;
}

Status PrivateInstance::ChooseClock(const std::string& wanted) {
  Status status(StatusCode::kUnsupported, "trace_clock " + wanted + " is not supported");
  for (size_t i = 0; i < std::size(kClocks) && !status.ok(); ++i) {
    if (wanted.empty() ? i >= kDefaultClocks : kClocks[i] != wanted) continue;
    status = Write("trace_clock", kClocks[i]);
    if (status.ok()) trace_clock_ = kClocks[i];
  }
  return status;
}

// event-fork first, so that a thread that is created while we list them is followed too; listed
// again until there is no new one.
Status PrivateInstance::FollowOwnThreads() {
  Status status = Write("options/event-fork", "1");
  std::string listed;
  for (int i = 0; i < kMaxThreadLists && status.ok(); ++i) {
    std::string ids = ThreadIds();
    if (ids == listed) break;
    status = Write("set_event_pid", ids);
    listed = std::move(ids);
  }
  return status;
}

uint64_t PrivateInstance::Overruns(uint32_t cpu) const {
  const std::string stats =
      ReadProcFile(path_ + "/per_cpu/cpu" + std::to_string(cpu) + "/stats", 4096);
  return NumberAfter(stats, "\noverrun: ") + NumberAfter(stats, "\ndropped events: ");
}

void RemoveLeftInstance(const std::string& tracefs, std::string_view name) {
  int pid = 0;
  uint64_t start_ticks = 0;
  if (!ParseName(name, &pid, &start_ticks)) return;
  RemoveInstance(InstancesDir(tracefs) + std::string(name));
}

int RemoveDeadInstances(const std::string& tracefs) {
  int removed = 0;
  Result<std::vector<std::string>> names = ListDirectory(tracefs + "/instances");
  if (!names.ok()) return 0;
  for (const std::string& name : names.value()) {
    int pid = 0;
    uint64_t start_ticks = 0;
    if (!ParseName(name, &pid, &start_ticks) || OwnerLives(pid, start_ticks)) continue;
    if (RemoveInstance(InstancesDir(tracefs) + name)) ++removed;
  }
  return removed;
}

}  // namespace jankbox
