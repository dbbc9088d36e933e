// The mapped ring file of this process: creation, growth, clean removal. Space is allocated before
// it is mapped, so a full disk is an error here and never a SIGBUS later. Create() maps all but
// allocates 480 KiB, which is quick enough for the thread that starts Jankbox and enough for an
// idle app; a thread of Jankbox's allocates more, in steps, as the app uses it. The mapping stays
// until destruction.
#ifndef JANKBOX_TRACER_RING_RING_FILE_H_
#define JANKBOX_TRACER_RING_RING_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/dcheck.h"
#include "base/kept_fd.h"
#include "base/mutex.h"
#include "base/status.h"
#include "tracer/ring/incident_note.h"
#include "tracer/ring/process_identity.h"
#include "tracer/ring/ring_format.h"
#include "tracer/ring/watched_slot.h"

namespace jankbox {

struct RingOptions {
  std::string folder;          // RingFolder(); empty: in memory only
  std::string reports_folder;  // for whoever finds the ring of a dead process
  uint32_t bytes = 8u << 20;   // of the whole file
  TickSource tick_source = TickSource::kClockGettime;
  uint64_t window_ns = 10 * kNsPerSecond;
  uint64_t slow_threshold_ns = 700 * kNsPerMs;
  std::string app_name;
  std::string app_version;
  int parent_pid = 0;  // of the command that learns how this process ends; 0: there is none
};

class RingFile {
 public:
  // A new ring for this process. If the folder has no room or may not be written, the ring is
  // made in anonymous memory instead and `in_memory_reason()` says why: it records, but nothing
  // survives a crash.
  static Result<std::unique_ptr<RingFile>> Create(const RingOptions& options);

  // The same with few system calls, for the thread that starts: the ring records, and is in memory
  // until Name() is called on another one. Where that is not possible, as Create() with the folder
  // that `folder` returns.
  static Result<std::unique_ptr<RingFile>> CreateToName(
      RingOptions options, Result<std::string> (*folder)(const std::string& reports_folder));
  bool is_named() const { return named_.load(std::memory_order_acquire); }
  // Puts it into `folder` under its name, locked, with what names its process. kNotFound: the
  // folder is gone. REQUIRES !is_named().
  Status Name(const std::string& folder);
  // There is no folder for it: it stays in memory only.
  void StayInMemory(const std::string& reason);

  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;
  ~RingFile();  // unmaps; no thread may write any more

  static constexpr uint32_t kChunksPerStep = 64;  // 1 MiB
  static constexpr uint32_t kFewestChunks = 24;   // of a ring; they are ready soon after its start

  // Allocates what CreateToName() left, on another thread than the app's: the app may record at
  // once.
  void AllocateFirst();
  // REQUIRES AllocateFirst(). Takes the page faults of that. The app's thread should have left
  // jankbox_start(): it waits for the kernel's lock of the address space.
  void Touch();

  // Allocates and touches at most `chunks` more, as long as the file may have. If one step does not
  // fit, the ring stays as it is: chunks are reused earlier. One thread at a time.
  Status Grow(uint32_t chunks = UINT32_MAX);

  // Allocates the section of names up to `bytes`; false if there is no space. Only for
  // MethodRegistry, under its mutex.
  bool HasSpaceForNames(uint64_t bytes);

  // Marks the ring as cleanly closed and removes its file, which stays for recovery only if there
  // are notes of finished or uncounted incidents (false then). The mapping stays.
  bool RemoveFile();

  // The calling thread gets a descriptor table of its own (FdTable::Leave), and the ring's file
  // with it: from here on that thread and those that it makes name, grow and end the ring.
  void LeaveAppsTable();

  // Gives the memory of a ring whose file is removed back. The mapping stays: a thread of the app
  // that is on its way out of it gets a page for what it writes.
  void GiveMemoryBack();

  // Closes the file in the app's descriptor table, on a thread that has it, once no other writes,
  // names, grows or ends the ring any more: after GiveMemoryBack(). The mapping stays.
  void CloseFile() { fd_.Reset(); }

  // Replaces the text of the modules section (cut at its size). One writer: the watcher thread.
  void WriteModules(std::string_view text);

  // The name in reports for the loop of threads that do not name their own; does not replace an
  // earlier guess. At most 31 bytes are kept. Any thread; not HOT.
  void GuessLoopName(std::string_view name) EXCLUDES(header_mutex_);

  // Of the watcher thread: a later reading of both clocks, a sign of life, the time from which a
  // dispatch is slow, events that were dropped before they reached a chunk.
  void NoteCalibration(const ClockReading& reading);
  void NoteAlive(uint64_t now_ticks);
  void SetSlowThreshold(uint64_t ns);
  void AddDroppedEvents(uint64_t count);

  // Of the watcher thread, for the report of an unclean end: whether the app is in front, and the
  // low-memory kills that `file` counts. A `file` of 288 bytes and more is not noted.
  void NoteForeground(bool in_front);
  void NoteOomKills(std::string_view file, uint64_t kills);

  // Of the watcher thread: hooks are being changed until HooksChanged(), `now_ticks` 0: none was.
  void NoteHooksChanging();
  void NoteHooksChanged(uint64_t now_ticks);

  // How much the program is used is to be counted under that UUID, until all of it is. What is not
  // counted yet belongs to `day`. Frames and messages are in the slots of the watched threads; the
  // watcher thread adds the rest.
  void BeginUsage(std::string_view id, uint64_t day);
  void SetUsageDay(uint64_t day);
  void SetUsage(uint64_t foreground_ns, uint64_t sessions);
  void EndUsage();

  // REQUIRES index < kMaxWatchedThreads.
  WatchedSlot watched(size_t index) {
    DCHECK(index < kMaxWatchedThreads);
    return WatchedSlot(mutable_header(), index);
  }
  IncidentNote incident_note(size_t index) {
    DCHECK(index < kMaxWatchedThreads);
    return IncidentNote(&mutable_header()->incidents[index], &header_mutex_);
  }

  UncountedIncidents uncounted() { return {mutable_header(), &header_mutex_}; }

  const RingHeader* header() const { return reinterpret_cast<const RingHeader*>(base_); }
  // For tracer/ring only: tools/checks/check_layers rejects other callers.
  RingHeader* mutable_header() const { return reinterpret_cast<RingHeader*>(base_); }
  uint8_t* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  RingChunk* chunk(uint32_t index) const {
    return reinterpret_cast<RingChunk*>(base_ + header()->chunks_offset +
                                        size_t{index} * kChunkBytes);
  }
  // Where other threads look next for a chunk of the watched threads. For tracer/ring only.
  std::atomic<uint64_t>* borrowed() { return &borrowed_; }
  const std::string& path() const { return path_; }
  // REQUIRES is_named().
  const std::string& in_memory_reason() const { return in_memory_reason_; }

 private:
  RingFile(uint32_t bytes, uint32_t first_chunks);
  Status MapFile(const std::string& folder, const ProcessIdentity& identity);
  const KeptFd& FdOfThisThread() const {
    return FdTable::OfThisThread() == FdTable::kOfTheApp ? fd_ : own_fd_;
  }
  Status MapFirst(const ScopedFd& fd, const std::string& path);
  Status MapMemory();
  Status AllocateMore(uint64_t offset, uint64_t bytes);  // of the file
  void FillHeader(const RingOptions& options);
  void FillIdentity(const ProcessIdentity& identity);

  std::atomic<uint64_t> borrowed_{0};
  KeptFd fd_;      // holds the file's lock while open
  KeptFd own_fd_;  // the same open file in the table of Jankbox's threads, since LeaveAppsTable()
  // Once it is named.
  std::atomic<bool> named_{false};
  std::string path_;
  std::string in_memory_reason_;
  const uint32_t first_chunks_;  // allocated from the beginning on
  uint8_t* base_ = nullptr;
  size_t bytes_ = 0;
  uint64_t names_allocated_ = 0;
  bool modules_allocated_ = false;
  Mutex header_mutex_;  // of what two threads write in the header
  bool loop_named_ GUARDED_BY(header_mutex_) = false;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RING_FILE_H_
