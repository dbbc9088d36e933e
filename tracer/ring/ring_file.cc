#include "tracer/ring/ring_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/app_text.h"
#include "base/file.h"
#include "base/files/fd_table.h"
#include "tracer/ring/ring_place.h"
#include "tracer/ring/word_text.h"

namespace jankbox {
namespace {

constexpr uint64_t kNamesOffset = kRingSectionAlignment;
constexpr uint64_t kModulesOffset = kNamesOffset + kNamesBytes;
constexpr uint64_t kChunksOffset = kModulesOffset + kModulesBytes;
constexpr uint32_t kChunksToName = 4;  // that the app's thread waits for
constexpr uint64_t kNamesPerStep = 16 << 10;
static_assert(kNamesBytes % kNamesPerStep == 0);
constexpr char kUnnamedLoop[] = "api";  // dispatches come from explicit calls, if any

bool IsFinished(const RingIncident& incident) {
  return incident.state.load() == static_cast<uint32_t>(RingIncidentState::kFinished);
}

void CopyText(char* out, size_t size, std::string_view text) {
  const size_t n = std::min(text.size(), size - 1);
  memcpy(out, text.data(), n);
  out[n] = '\0';
}

// Space for [offset, offset + bytes), as disk blocks or tmpfs pages.
Status Allocate(int fd, uint64_t offset, uint64_t bytes, const std::string& path) {
  const int error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  return error == 0 ? Status::Ok() : Status::FromErrno(error, path);
}

// Takes the page faults of memory, for which a hole in its file gets space; errno untouched. False
// if there is none, or if the kernel is too old for it (before 5.14): the app's threads then take
// the faults of memory that has its space, once.
bool Populate([[maybe_unused]] uint8_t* at, [[maybe_unused]] size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
  const int saved_errno = errno;
  const bool populated = madvise(at, bytes, MADV_POPULATE_WRITE) == 0;
  errno = saved_errno;
  return populated;
#else
  return false;
#endif
}

}  // namespace

RingFile::RingFile(uint32_t bytes, uint32_t first_chunks) : first_chunks_(first_chunks) {
  const uint64_t chunks = (bytes - std::min<uint64_t>(bytes, kChunksOffset)) / kChunkBytes;
  bytes_ = kChunksOffset + std::max<uint64_t>(chunks & ~uint64_t{1}, kFewestChunks) * kChunkBytes;
}

Result<std::unique_ptr<RingFile>> RingFile::Create(const RingOptions& options) {
  std::unique_ptr<RingFile> ring(new RingFile(options.bytes, kFewestChunks));
  const ProcessIdentity identity = CurrentProcess();
  Status status = options.folder.empty() ? Status(StatusCode::kUnsupported, "no folder")
                                         : ring->MapFile(options.folder, identity);
  if (!status.ok()) {
    ring->in_memory_reason_ = status.message();
    status = ring->MapMemory();
    if (!status.ok()) return status;
  }
  ring->FillIdentity(identity);
  ring->FillHeader(options);
  ring->named_.store(true, std::memory_order_release);
  return ring;
}

Result<std::unique_ptr<RingFile>> RingFile::CreateToName(
    RingOptions options, Result<std::string> (*folder)(const std::string& reports_folder)) {
  std::unique_ptr<RingFile> ring(new RingFile(options.bytes, kChunksToName));
  ScopedFd fd = OpenNamelessRing();
  if (!fd.valid() || !ring->MapFirst(fd, "a file without a name").ok()) {
    const Result<std::string> found = folder(options.reports_folder);
    options.folder = found.ok() ? found.value() : "";
    return Create(options);
  }
  ring->fd_ = std::move(fd);
  ring->FillHeader(options);
  return ring;
}

void RingFile::LeaveAppsTable() {
  if (!FdTable::Leave(fd_.get())) return;
  own_fd_ = fd_.InThisTable();
  if (own_fd_.valid() && !own_fd_.IsStillOurs()) close(own_fd_.Release());  // the app's meanwhile
}

Status RingFile::Name(const std::string& folder) {
  const KeptFd& fd = FdOfThisThread();
  if (!fd.IsStillOurs()) return Status(StatusCode::kUnavailable, "the app closed its file");
  FillIdentity(CurrentProcess());
  const RingHeader* h = header();
  const std::string path = JoinPath(folder, RingFileName(h->pid, h->process_start_ticks));
  // No process may open it to write any more, so none can truncate it under the mapping: a store
  // after its end would kill the app (docs/decisions/0005).
  if (flock(fd.get(), LOCK_EX) != 0 || fchmod(fd.get(), 0400) != 0) {
    return Status::FromErrno(errno, path);
  }
  unlink(path.c_str());  // as below
  const std::string nameless = "/proc/thread-self/fd/" + std::to_string(fd.get());
  if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return Status::FromErrno(errno, path);
  }
  path_ = path;
  named_.store(true, std::memory_order_release);
  return Status::Ok();
}

void RingFile::StayInMemory(const std::string& reason) {
  in_memory_reason_ = reason;
  named_.store(true, std::memory_order_release);
}

Status RingFile::MapFile(const std::string& folder, const ProcessIdentity& identity) {
  std::string path = JoinPath(folder, RingFileName(identity.pid, identity.start_ticks));
  unlink(
      path.c_str());  // an earlier ring of this very process, stopped or left by its fork's parent
  ScopedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return Status::FromErrno(errno, path);
  Status status = Status::Ok();
  // Waits only for a recovery that checks the new file just now and finds nothing in it.
  if (flock(fd.get(), LOCK_EX) != 0) status = Status::FromErrno(errno, path);
  if (status.ok()) status = MapFirst(fd, path);
  // As in Name().
  if (status.ok() && fchmod(fd.get(), 0400) != 0) status = Status::FromErrno(errno, path);
  if (!status.ok()) {
    unlink(path.c_str());
    return status;
  }
  fd_ = std::move(fd);
  path_ = std::move(path);
  return status;
}

// Allocates what is used first, and maps the whole file beyond its present end: Grow() allocates
// before any chunk there is handed out.
Status RingFile::MapFirst(const ScopedFd& fd, const std::string& path) {
  rlimit limit{};
  const uint64_t first_bytes = uint64_t{first_chunks_} * kChunkBytes;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < kChunksOffset + first_bytes) {
    return Status(StatusCode::kUnsupported, "the limit of a file's size (ulimit -f) is too low");
  }
  Status status = Allocate(fd.get(), 0, kNamesOffset, path);
  if (status.ok()) status = Allocate(fd.get(), kChunksOffset, first_bytes, path);
  if (!status.ok()) return status;
  void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return Status::FromErrno(errno, path);
  base_ = static_cast<uint8_t*>(base);
  return Status::Ok();
}

Status RingFile::MapMemory() {
  void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return Status::FromErrno(errno, "ring in memory");
  base_ = static_cast<uint8_t*>(base);
  return Status::Ok();
}

void RingFile::FillIdentity(const ProcessIdentity& identity) {
  RingHeader* h = mutable_header();
  h->process_start_ticks = identity.start_ticks;
  CopyText(h->boot_id, sizeof(h->boot_id), identity.boot_id);
  CopyText(h->process_name, sizeof(h->process_name), CurrentProcessName());
}

void RingFile::FillHeader(const RingOptions& options) {
  RingHeader* h = mutable_header();
  memcpy(h->magic, kRingMagic, sizeof(kRingMagic));
  h->version = kRingVersion;
  h->abi = kRingAbi;
  h->file_bytes = bytes_;
  h->names_offset = kNamesOffset;
  h->modules_offset = kModulesOffset;
  h->chunks_offset = kChunksOffset;
  h->chunk_bytes = kChunkBytes;
  h->chunk_count = static_cast<uint32_t>((bytes_ - kChunksOffset) / kChunkBytes);
  h->tick_source = static_cast<uint32_t>(options.tick_source);
  h->pid = getpid();
  CopyText(h->app_name, sizeof(h->app_name), AppText(options.app_name));
  CopyText(h->app_version, sizeof(h->app_version), AppText(options.app_version));
  static_assert(sizeof(h->app_name) > kMaxAppTextBytes &&
                sizeof(h->app_version) > kMaxAppTextBytes);
  if (options.reports_folder.size() < sizeof(h->reports_folder)) {
    CopyText(h->reports_folder, sizeof(h->reports_folder), options.reports_folder);
  }
  h->clock_at_start = ReadClocks(options.tick_source);
  StoreWordText(&h->loop_name, kUnnamedLoop);
  h->slow_threshold_ns.store(options.slow_threshold_ns, std::memory_order_relaxed);
  h->window_ns = options.window_ns;
  h->keeps_seen = 1;
  h->parent_start_ticks = options.parent_pid != 0 ? ProcessStartTicks(options.parent_pid) : 0;
  h->parent_pid = h->parent_start_ticks != 0 ? options.parent_pid : 0;
  h->next_sequence.store(1, std::memory_order_relaxed);
  h->next_thread_serial.store(1, std::memory_order_relaxed);
  h->chunks_ready.store(first_chunks_, std::memory_order_relaxed);
  h->ready.store(1, std::memory_order_release);
}

void RingFile::Touch() {
  Populate(base_, kNamesOffset);
  Populate(base_ + kChunksOffset, size_t{kFewestChunks} * kChunkBytes);
}

void RingFile::AllocateFirst() {
  RingHeader* h = mutable_header();
  const uint32_t ready = h->chunks_ready.load(std::memory_order_relaxed);
  if (ready >= kFewestChunks) return;
  const uint64_t bytes = uint64_t{kFewestChunks - ready} * kChunkBytes;
  if (!AllocateMore(kChunksOffset + uint64_t{ready} * kChunkBytes, bytes).ok()) return;
  h->chunks_ready.store(kFewestChunks, std::memory_order_release);
}

Status RingFile::AllocateMore(uint64_t offset, uint64_t bytes) {
  if (!fd_.valid()) return Status::Ok();  // in memory
  const KeptFd& fd = FdOfThisThread();
  if (!fd.IsStillOurs()) return Status(StatusCode::kUnavailable, "the app closed its file");
  return Allocate(fd.get(), offset, bytes, path_);
}

Status RingFile::Grow(uint32_t chunks) {
  RingHeader* h = mutable_header();
  uint32_t ready = h->chunks_ready.load(std::memory_order_relaxed);
  const uint32_t wanted = ready + std::min(chunks, h->chunk_count - ready);
  while (ready < wanted) {
    const uint32_t more = std::min(kChunksPerStep, wanted - ready);
    uint8_t* at = base_ + kChunksOffset + size_t{ready} * kChunkBytes;
    const Status status = AllocateMore(static_cast<uint64_t>(at - base_), more * kChunkBytes);
    if (!status.ok()) return status;
    Populate(at, more * kChunkBytes);
    ready += more;
    h->chunks_ready.store(ready, std::memory_order_release);
  }
  return Status::Ok();
}

bool RingFile::HasSpaceForNames(uint64_t bytes) {
  if (bytes > kNamesBytes) return false;
  const uint64_t needed = (bytes + kNamesPerStep - 1) / kNamesPerStep * kNamesPerStep;
  if (needed <= names_allocated_) return true;
  const uint64_t offset = kNamesOffset + names_allocated_;
  const uint64_t more = needed - names_allocated_;
  // Any thread: without the descriptor, where that is possible.
  const bool allocated =
      (fd_.valid() && Populate(base_ + offset, more)) || AllocateMore(offset, more).ok();
  if (allocated) names_allocated_ = needed;
  return allocated;
}

void RingFile::WriteModules(std::string_view text) {
  RingHeader* h = mutable_header();
  if (!modules_allocated_) modules_allocated_ = AllocateMore(kModulesOffset, kModulesBytes).ok();
  const size_t n = modules_allocated_ ? std::min(text.size(), kModulesBytes) : 0;
  h->modules_bytes.store(0, std::memory_order_release);
  memcpy(base_ + h->modules_offset, text.data(), n);
  h->modules_bytes.store(static_cast<uint32_t>(n), std::memory_order_release);
}

void RingFile::GuessLoopName(std::string_view name) {
  MutexLock lock(&header_mutex_);
  if (loop_named_) return;
  loop_named_ = true;
  StoreWordText(&mutable_header()->loop_name, name);
}

void RingFile::NoteCalibration(const ClockReading& reading) {
  RingHeader* h = mutable_header();
  h->calibrated_ticks.store(reading.ticks, std::memory_order_relaxed);
  h->calibrated_monotonic_ns.store(reading.monotonic_ns, std::memory_order_relaxed);
}

void RingFile::NoteAlive(uint64_t now_ticks) {
  mutable_header()->heartbeat_ticks.store(now_ticks, std::memory_order_relaxed);
}

void RingFile::SetSlowThreshold(uint64_t ns) {
  mutable_header()->slow_threshold_ns.store(ns, std::memory_order_relaxed);
}

void RingFile::AddDroppedEvents(uint64_t count) {
  mutable_header()->dropped_events.fetch_add(count, std::memory_order_relaxed);
}

void RingFile::NoteHooksChanging() {
  mutable_header()->hooks_changing.store(1, std::memory_order_relaxed);
}

void RingFile::NoteHooksChanged(uint64_t now_ticks) {
  RingHeader* h = mutable_header();
  if (now_ticks != 0) h->hooks_changed_ticks.store(now_ticks, std::memory_order_relaxed);
  h->hooks_changing.store(0, std::memory_order_release);
}

void RingFile::NoteForeground(bool in_front) {
  const RingForeground now = in_front ? RingForeground::kFront : RingForeground::kBackground;
  mutable_header()->foreground.store(static_cast<uint32_t>(now), std::memory_order_relaxed);
}

void RingFile::NoteOomKills(std::string_view file, uint64_t kills) {
  RingHeader* h = mutable_header();
  if (file.size() >= sizeof(h->oom_file)) return;
  if (h->oom_file[0] == '\0') CopyText(h->oom_file, sizeof(h->oom_file), file);
  h->oom_kills.store(kills + 1, std::memory_order_release);
}

void RingFile::BeginUsage(std::string_view id, uint64_t day) {
  SetUsageDay(day);
  StoreWordText(&mutable_header()->usage_id, id);
}

void RingFile::SetUsageDay(uint64_t day) {
  mutable_header()->usage_day.store(day, std::memory_order_relaxed);
}

void RingFile::SetUsage(uint64_t foreground_ns, uint64_t sessions) {
  mutable_header()->foreground_ns.store(foreground_ns, std::memory_order_relaxed);
  mutable_header()->sessions.store(sessions, std::memory_order_relaxed);
}

void RingFile::EndUsage() { StoreWordText(&mutable_header()->usage_id, ""); }

bool RingFile::RemoveFile() {
  RingHeader* h = mutable_header();
  const bool unsealed =
      !path_.empty() && (!uncounted().empty() ||
                         std::any_of(std::begin(h->incidents), std::end(h->incidents), IsFinished));
  const RingEnd end = unsealed ? RingEnd::kUnsealed : RingEnd::kClosed;
  h->closed.store(static_cast<uint32_t>(end), std::memory_order_release);
  if (path_.empty()) return true;
  if (unsealed) {
    // A name that a later ring of this process does not take, and no lock: it may be recovered now.
    const std::string stem = path_.substr(0, path_.size() - strlen(kRingFileSuffix));
    const std::string kept = stem + "-" + std::to_string(MonotonicNs()) + kRingFileSuffix;
    rename(path_.c_str(), kept.c_str());
    path_.clear();
    const KeptFd& fd = FdOfThisThread();
    if (fd.IsStillOurs()) flock(fd.get(), LOCK_UN);  // the mapping keeps the file open
    return false;
  }
  unlink(path_.c_str());
  rmdir(std::string(DirName(path_)).c_str());  // succeeds only for the folder's last ring
  path_.clear();
  return true;
}

void RingFile::GiveMemoryBack() {
  madvise(base_, bytes_, fd_.valid() ? MADV_REMOVE : MADV_DONTNEED);
}

RingFile::~RingFile() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

}  // namespace jankbox
