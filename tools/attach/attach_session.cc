#include "tools/attach/attach_session.h"

#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/recorded_process.h"
#include "monitors/looper/watched_loops.h"
#include "tools/attach/target_rights.h"
#include "tools/terminal/terminal.h"
#include "tracer/ftrace/tracefs_file.h"
#include "tracer/sampling/proc_source.h"

namespace jankbox::tools {
namespace {

std::string FileOfThread(int32_t tid, const char* name) {
  return ReadProcFile(
      std::string(RecordedProcess::folder()) + "/task/" + std::to_string(tid) + "/" + name, 512);
}

std::string NameOfThread(int32_t tid) {
  std::string name = FileOfThread(tid, "comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

// Also one that has ended while its process goes on: the main thread stays as a zombie then.
bool IsGone(int32_t tid) {
  const std::string stat = FileOfThread(tid, "stat");
  const char state = ParseThreadState(stat);
  return stat.empty() || state == 'Z' || state == 'X';
}

}  // namespace

AttachSession::AttachSession(const AttachOptions& options, AttachRecording* recording,
                             RunFeed* feed, Interruption* interruption, std::string process,
                             ScopedFd process_fd)
    : options_(options),
      recording_(recording),
      feed_(feed),
      interruption_(interruption),
      process_(std::move(process)),
      process_fd_(std::move(process_fd)),
      heartbeat_(&beats_) {}

Status AttachSession::Start() {
  ModuleMap::SetSource(&modules_);
  RefreshCode(/*at_once=*/true);
  for (const std::string& wanted : options_.threads) {
    const bool number = wanted.find_first_not_of("0123456789") == std::string::npos;
    if (number && NameOfThread(atoi(wanted.c_str())).empty()) {
      return Status(StatusCode::kNotFound,
                    "process " + std::to_string(options_.pid) + " has no thread " + wanted);
    }
  }
  ReadState();
  const Status status = AddThread(options_.pid, NameOfThread(options_.pid));
  if (!status.ok()) return status;
  AddWantedThreads();
  TellMissing();
  return Status::Ok();
}

void AttachSession::ReadState() {
  LoopWaits::SetTerminals(TerminalsOf(options_.pid));
  freezer_.Find();
}

void AttachSession::RefreshCode(bool at_once) {
  if (!at_once && !modules_.Stale(code_->modules)) return;
  auto code = std::make_shared<TargetCode>();
  code->modules = modules_.Load();
  code->wait_functions = FindWaitFunctions(code->modules);
  if (!code->wait_functions.empty() && code->wait_functions.back().form == WaitForm::kNone) {
    code->exit_function = code->wait_functions.back().address;
    code->wait_functions.pop_back();
  }
  code_ = std::move(code);
  recording_->SetCode(code_);
  for (const auto& thread : threads_) {
    if (thread != nullptr) thread->SetCode(code_);
  }
}

// The loader of another program takes its time: the C library may not be mapped yet.
void AttachSession::TakeProgram(uint64_t now_ns) {
  load_until_ns_ = now_ns + kNsPerSecond;
  process_ = NameOfProcess(options_.pid);
  recording_->SetProcess(process_);
  RefreshCode(/*at_once=*/true);
  next_second_ns_ = 0;
}

// A thread that is not what was followed any more is followed afresh, if it still lives.
Status AttachSession::RenewThreads(uint64_t now_ns) {
  if (now_ns < load_until_ns_ && code_->wait_functions.empty()) RefreshCode(/*at_once=*/true);
  for (auto& thread : threads_) {
    if (thread == nullptr || !thread->IsOver(now_ns)) continue;
    const int32_t tid = thread->tid();
    thread->Forget(now_ns, recording_->clock());
    Drop(&thread);
    if (IsGone(tid)) {
      if (tid == options_.pid && !options_.quiet) Say("the main thread has ended");
      continue;
    }
    TakeProgram(now_ns);
    const Status status = AddThread(tid, NameOfThread(tid));
    if (status.code() == StatusCode::kPermissionDenied) {
      return Status(StatusCode::kPermissionDenied,
                    "process " + std::to_string(options_.pid) + " runs " + process_ +
                        " now, which this user may not watch: run jankbox as root");
    }
  }
  return Status::Ok();
}

void AttachSession::Drop(std::unique_ptr<AttachedThread>* thread) {
  TellWatched(**thread, /*ended=*/true);
  NoteUnseen((*thread)->waits());
  losses_ += (*thread)->waits().losses();
  unsure_ += (*thread)->waits().unsure();
  thread->reset();
}

Status AttachSession::AddThread(int32_t tid, const std::string& name) {
  const auto free = std::find(threads_.begin(), threads_.end(), nullptr);
  if (free == threads_.end()) return Status(StatusCode::kBusy, "too many threads");
  Result<std::unique_ptr<AttachedThread>> thread = AttachedThread::Open(
      {.options = &recording_->options(),
       .ring = recording_->ring(),
       .index = static_cast<size_t>(free - threads_.begin()),
       .refusals = recording_->refusals(),
       .seal = [this](SealRequest request) { recording_->Seal(std::move(request)); }},
      tid, name, code_);
  if (!thread.ok()) return thread.status();
  *free = std::move(thread.value());
  recording_->kernel()->WatchThread(tid);
  TellWatched(**free, /*ended=*/false);
  return Status::Ok();
}

bool AttachSession::IsWanted(int32_t tid, const std::string& name) const {
  return std::any_of(options_.threads.begin(), options_.threads.end(),
                     [&](const std::string& wanted) {
                       return wanted == std::to_string(tid) || NameIsListed(wanted, name);
                     });
}

void AttachSession::AddWantedThreads() {
  if (options_.threads.empty()) return;
  const Result<std::vector<std::string>> tids =
      ListDirectory(std::string(RecordedProcess::folder()) + "/task");
  if (!tids.ok()) return;
  for (const std::string& text : tids.value()) {
    const int32_t tid = atoi(text.c_str());
    const bool known = std::any_of(threads_.begin(), threads_.end(), [&](const auto& thread) {
      return thread != nullptr && thread->tid() == tid;
    });
    const std::string name = NameOfThread(tid);
    if (known || !IsWanted(tid, name)) continue;
    if (AddThread(tid, name).code() != StatusCode::kBusy || std::exchange(told_full_, true))
      continue;
    Say("only " + std::to_string(threads_.size()) + " threads are watched: not " + Printable(name) +
        " (" + text + ")");
  }
}

void AttachSession::TellMissing() const {
  for (const std::string& wanted : options_.threads) {
    const bool found = std::any_of(threads_.begin(), threads_.end(), [&](const auto& thread) {
      return thread != nullptr && (NameIsListed(wanted, thread->thread_name()) ||
                                   wanted == std::to_string(thread->tid()));
    });
    if (found || told_full_ || options_.quiet) continue;
    Say("no thread is called " + Printable(wanted) + " yet; one that comes is watched");
  }
}

void AttachSession::TellWatched(const AttachedThread& thread, bool ended) {
  // What was watched of the program before stays.
  if (load_until_ns_ != 0 && thread.NameOfLoop().empty()) return;
  feed_->AddWatched(thread.WatchedText(process_, ended));
}

// A stop of this process is none of the other; a stop of that one is seen in its state.
std::vector<Hold> AttachSession::TakeHolds(uint64_t now_ns) {
  std::vector<Hold> holds;
  for (Hold hold : heartbeat_.TakeHolds()) {
    if (hold.reason == RefusalReason::kStopped) hold.reason = RefusalReason::kWatcherLate;
    holds.push_back(hold);
  }
  const bool stopped =
      ParseThreadState(FileOfThread(options_.pid, "stat")) == 'T' || freezer_.IsFrozen();
  if (stopped_since_ns_ != 0) holds.push_back({RefusalReason::kStopped, looked_ns_, now_ns, 0});
  stopped_since_ns_ = stopped ? now_ns : 0;
  looked_ns_ = now_ns;
  return holds;
}

uint64_t AttachSession::LookAtAll(uint64_t now_ns) {
  const std::vector<Hold> holds = TakeHolds(now_ns);
  const TickConverter clock = recording_->clock();
  uint64_t next_ns = kNsPerSecond;
  for (const auto& thread : threads_) {
    if (thread == nullptr) continue;
    const bool knew_loop = !thread->NameOfLoop().empty();
    thread->Look(now_ns, clock, holds);
    if (!knew_loop && !thread->NameOfLoop().empty() && !options_.quiet) {
      Say("watching " + Printable(thread->NameOfLoop()));
    }
    next_ns = std::min(next_ns, thread->NextNs(now_ns));
  }
  return next_ns;
}

void AttachSession::EverySecond(uint64_t now_ns) {
  if (now_ns < next_second_ns_) return;
  next_second_ns_ = now_ns + kNsPerSecond;
  recording_->EverySecond();
  RefreshCode(/*at_once=*/false);
  ReadState();
  AddWantedThreads();
  recording_->SetNote("Watched from outside by jankbox attach. Not seen: " + Unseen() + ".");
  for (auto& thread : threads_) {
    if (thread == nullptr) continue;
    thread->CheckThread();
    NoteUnseen(thread->waits());
    TellWatched(*thread, /*ended=*/false);
    if (!thread->IsGone()) continue;
    thread->Finish(now_ns, recording_->clock(), HasEnded());
    Drop(&thread);
  }
}

bool AttachSession::HasEnded() const {
  pollfd process{process_fd_.get(), POLLIN, 0};
  return poll(&process, 1, 0) == 1;
}

void AttachSession::Wait(uint64_t next_ns) {
  std::vector<pollfd> sources = {{process_fd_.get(), POLLIN, 0},
                                 {interruption_->source().fd, POLLIN, 0}};
  const size_t first = sources.size();
  std::vector<AttachedThread*> threads;  // in the order of their sources
  for (const auto& thread : threads_) {
    if (thread == nullptr || thread->hung_up()) continue;
    sources.push_back({thread->fd(), POLLIN, 0});
    threads.push_back(thread.get());
  }
  feed_->AddSources(&sources);
  const timespec timeout = {static_cast<time_t>(next_ns / kNsPerSecond),
                            static_cast<long>(next_ns % kNsPerSecond)};
  if (ppoll(sources.data(), sources.size(), &timeout, nullptr) <= 0) return;
  for (size_t i = 0; i < threads.size(); ++i) {
    if ((sources[first + i].revents & POLLHUP) != 0) threads[i]->NoteHangUp(MonotonicNs());
  }
}

Status AttachSession::Run() {
  const uint64_t end_ns =
      options_.seconds ? MonotonicNs() + static_cast<uint64_t>(*options_.seconds * kNsPerSecond)
                       : UINT64_MAX;
  Status status;
  while (!interruption_->asked() && !HasEnded() && MonotonicNs() < end_ns) {
    const uint64_t now_ns = heartbeat_.Wakes();
    status = RenewThreads(now_ns);
    if (!status.ok()) break;
    EverySecond(now_ns);
    const uint64_t next_ns = std::min(LookAtAll(now_ns), end_ns - std::min(end_ns, MonotonicNs()));
    feed_->Tell();
    heartbeat_.Sleeps(next_ns);
    Wait(next_ns);
  }
  FinishAll();
  return status;
}

void AttachSession::FinishAll() {
  for (auto& thread : threads_) {
    if (thread == nullptr) continue;
    thread->Finish(MonotonicNs(), recording_->clock(), HasEnded());
    Drop(&thread);
  }
}

void AttachSession::NoteUnseen(const WaitWatch& waits) {
  if (waits.unseen()[0] != '\0') unseen_waits_ = waits.unseen();
}

std::string AttachSession::Unseen() const {
  std::string unseen = "methods, markers, frames, file calls";
  if (unseen_waits_[0] != '\0') unseen += std::string(", ") + unseen_waits_;
  const Result<std::string> tracefs = FindTracefs();
  if (!tracefs.ok()) unseen += ", who woke the thread (" + tracefs.status().message() + ")";
  uint64_t losses = losses_;
  uint64_t unsure = unsure_;
  for (const auto& thread : threads_) {
    if (thread == nullptr) continue;
    losses += thread->waits().losses();
    unsure += thread->waits().unsure();
  }
  if (unsure != 0) unseen += ", " + std::to_string(unsure) + " messages while attach got no CPU";
  if (losses != 0) unseen += ", what " + std::to_string(losses) + " overflows of perf's ring lost";
  return unseen;
}

}  // namespace jankbox::tools
