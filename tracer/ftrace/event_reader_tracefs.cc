#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/file.h"
#include "base/memory/memory_room.h"
#include "tracer/ftrace/event_reader.h"
#include "tracer/ftrace/tracefs_library.h"

namespace jankbox {
namespace {

// The library uses what its own allocations return, null or not. The formats are some 1,600 small
// blocks, and where the C library cannot make an arena for the thread, each is a page.
constexpr size_t kBindBytes = 8 << 20;
constexpr size_t kReadBytes = 1 << 20;

// The member of a KernelEvent for a field of the kernel's event.
struct Field {
  const char* name;
  size_t offset;
  size_t size;
  bool text;
};

#define JANKBOX_FIELD(kernel_name, member, is_text)                 \
  {                                                                 \
    kernel_name, offsetof(KernelEvent, member),                     \
        sizeof(static_cast<KernelEvent*>(nullptr)->member), is_text \
  }
constexpr Field kSwitch[] = {
    JANKBOX_FIELD("prev_comm", sched.prev_comm, true),
    JANKBOX_FIELD("prev_pid", sched.prev_pid, false),
    JANKBOX_FIELD("prev_prio", sched.prev_prio, false),
    JANKBOX_FIELD("prev_state", sched.prev_state, false),
    JANKBOX_FIELD("next_comm", sched.next_comm, true),
    JANKBOX_FIELD("next_pid", sched.next_pid, false),
    JANKBOX_FIELD("next_prio", sched.next_prio, false),
};
constexpr Field kWake[] = {
    JANKBOX_FIELD("comm", wake.comm, true),
    JANKBOX_FIELD("pid", wake.pid, false),
    JANKBOX_FIELD("prio", wake.prio, false),
    JANKBOX_FIELD("target_cpu", wake.target_cpu, false),
};
constexpr Field kBlock[] = {
    JANKBOX_FIELD("dev", block.dev, false),
    JANKBOX_FIELD("sector", block.sector, false),
    JANKBOX_FIELD("nr_sector", block.nr_sector, false),
    JANKBOX_FIELD("bytes", block.bytes, false),
    JANKBOX_FIELD("error", block.error, false),
    JANKBOX_FIELD("rwbs", block.rwbs, true),
    JANKBOX_FIELD("comm", block.comm, true),
};
constexpr Field kNewTask[] = {
    JANKBOX_FIELD("pid", task.pid, false),
    JANKBOX_FIELD("comm", task.comm, true),
    JANKBOX_FIELD("clone_flags", task.clone_flags, false),
    JANKBOX_FIELD("oom_score_adj", task.oom_score_adj, false),
};
constexpr Field kRename[] = {
    JANKBOX_FIELD("pid", task.pid, false),
    JANKBOX_FIELD("oldcomm", task.comm, true),
    JANKBOX_FIELD("newcomm", task.new_comm, true),
    JANKBOX_FIELD("oom_score_adj", task.oom_score_adj, false),
};
#undef JANKBOX_FIELD

struct EventType {
  const char* system;
  const char* name;
  KernelEventKind kind;
  std::span<const Field> fields;
};

constexpr EventType kEventTypes[] = {
    {"sched", "sched_switch", KernelEventKind::kSwitch, kSwitch},
    {"sched", "sched_waking", KernelEventKind::kWaking, kWake},
    {"sched", "sched_wakeup_new", KernelEventKind::kWakeupNew, kWake},
    {"sched", "sched_process_exit", KernelEventKind::kExit, kWake},
    {"block", "block_rq_issue", KernelEventKind::kBlockIssue, kBlock},
    {"block", "block_rq_complete", KernelEventKind::kBlockComplete, kBlock},
    {"task", "task_newtask", KernelEventKind::kNewTask, kNewTask},
    {"task", "task_rename", KernelEventKind::kRename, kRename},
    {"exceptions", "page_fault_user", KernelEventKind::kPageFault, {}},
};
// TRACE_FLAG_HARDIRQ, TRACE_FLAG_SOFTIRQ and TRACE_FLAG_NMI of linux/trace_events.h.
constexpr int64_t kInterruptFlags = 0x08 | 0x10 | 0x40;
constexpr const char* kMarkerSystem = "ftrace";
constexpr const char* kMarkerEvent = "print";

// A field of this kernel's format; its width and place differ between versions.
struct BoundField {
  const tep_format_field* source = nullptr;  // null: this kernel has none
  Field target = {};
};

struct BoundEvent {
  int id = 0;
  KernelEventKind kind = KernelEventKind::kSwitch;
  const tep_format_field* tid = nullptr;    // common_pid
  const tep_format_field* flags = nullptr;  // common_flags
  std::vector<BoundField> fields;
};

bool Inside(const tep_format_field& field, const tep_record& record) {
  return field.offset >= 0 && field.size >= 0 && field.offset + field.size <= record.size;
}

int64_t ReadNumber(const tep_format_field& field, const tep_record& record) {
  if (!Inside(field, record)) return 0;
  const char* at = static_cast<const char*>(record.data) + field.offset;
  const bool is_signed = (field.flags & TEP_FIELD_IS_SIGNED) != 0;
  uint64_t value = 0;  // little endian, as every supported machine
  memcpy(&value, at, std::min<size_t>(static_cast<size_t>(field.size), sizeof(value)));
  const int unused = 64 - 8 * std::min(field.size, 8);
  if (!is_signed || unused == 0 || unused == 64) return static_cast<int64_t>(value);
  return static_cast<int64_t>(value << unused) >> unused;
}

void CopyField(const BoundField& field, const tep_record& record, KernelEvent* event) {
  char* into = reinterpret_cast<char*>(event) + field.target.offset;
  if (field.target.text) {
    if (!Inside(*field.source, record)) return;
    const char* from = static_cast<const char*>(record.data) + field.source->offset;
    const size_t most = std::min(field.target.size - 1, static_cast<size_t>(field.source->size));
    memcpy(into, from, strnlen(from, most));
  } else {
    const int64_t value = ReadNumber(*field.source, record);
    memcpy(into, &value, field.target.size);
  }
}

class TracefsReader final : public EventReader {
 public:
  TracefsReader(const TracefsLibrary& library, std::string tracefs)
      : library_(library), tracefs_(std::move(tracefs)) {}
  ~TracefsReader() override {
    if (formats_ != nullptr) library_.free_formats(formats_);
  }

  Status Take(const std::string& name, const Sink& sink) override;

 private:
  // Reads the formats, a few ms: at the first Take().
  Status Bind();
  tep_event* Parse(const char* system, const char* event) const;

  struct Pass {
    const TracefsReader* reader;
    const Sink* sink;
  };
  static int OnRecord(tep_event* event, tep_record* record, int cpu, void* pass);
  void Decode(const tep_event& event, const tep_record& record, int cpu, const Sink& sink) const;

  const TracefsLibrary library_;
  const std::string tracefs_;
  tep_handle* formats_ = nullptr;
  Status bound_;
  std::vector<BoundEvent> events_;
  int marker_id_ = -1;
  const tep_format_field* marker_text_ = nullptr;
};

Status TracefsReader::Bind() {
  library_.set_loglevel(TEP_LOG_NONE);  // the host's stderr belongs to the host
  if (!HasMemory(kBindBytes)) return Status(StatusCode::kNoSpace, "no memory for event formats");
  formats_ = library_.alloc_formats();
  if (formats_ == nullptr) return Status(StatusCode::kNoSpace, "no memory for event formats");
  std::string page = ReadProcFile(tracefs_ + "/events/header_page", 1 << 16);
  library_.parse_header_page(formats_, page.data(), page.size(), sizeof(long));
  for (const EventType& type : kEventTypes) {
    tep_event* event = Parse(type.system, type.name);
    if (event == nullptr) continue;
    BoundEvent bound{event->id,
                     type.kind,
                     library_.find_any_field(event, "common_pid"),
                     library_.find_any_field(event, "common_flags"),
                     {}};
    for (const Field& field : type.fields) {
      const tep_format_field* source = library_.find_any_field(event, field.name);
      if (source != nullptr) bound.fields.push_back({source, field});
    }
    events_.push_back(std::move(bound));
  }
  tep_event* marker = Parse(kMarkerSystem, kMarkerEvent);
  if (marker == nullptr)
    return Status(StatusCode::kUnsupported, "the kernel describes no trace marker format");
  marker_id_ = marker->id;
  marker_text_ = library_.find_any_field(marker, "buf");
  if (marker_text_ != nullptr) return Status::Ok();
  return Status(StatusCode::kUnsupported, "the trace marker format has no text");
}

// Null if this kernel has no such event.
tep_event* TracefsReader::Parse(const char* system, const char* event) const {
  const std::string path = tracefs_ + "/events/" + system + "/" + event + "/format";
  const std::string format = ReadProcFile(path, 1 << 16);
  if (format.empty()) return nullptr;
  // It does not understand the format of the text, which is not needed.
  (void)library_.parse_event(formats_, format.data(), format.size(), system);
  return library_.find_event_by_name(formats_, system, event);
}

int TracefsReader::OnRecord(tep_event* event, tep_record* record, int cpu, void* pass) {
  const Pass& to = *static_cast<const Pass*>(pass);
  to.reader->Decode(*event, *record, cpu, *to.sink);
  return 0;
}

void TracefsReader::Decode(const tep_event& event, const tep_record& record, int cpu,
                           const Sink& sink) const {
  if (event.id == marker_id_) {
    if (marker_text_->offset >= record.size) return;
    const char* text = static_cast<const char*>(record.data) + marker_text_->offset;
    const size_t most = static_cast<size_t>(record.size - marker_text_->offset);
    sink.marker(record.ts, std::string_view(text, strnlen(text, most)));
    return;
  }
  for (const BoundEvent& bound : events_) {
    if (bound.id != event.id) continue;
    KernelEvent decoded;
    decoded.time = record.ts;
    decoded.cpu = static_cast<uint16_t>(cpu);
    decoded.kind = bound.kind;
    if (bound.tid != nullptr) decoded.tid = static_cast<int32_t>(ReadNumber(*bound.tid, record));
    if (bound.flags != nullptr) {
      decoded.in_interrupt = (ReadNumber(*bound.flags, record) & kInterruptFlags) != 0;
    }
    for (const BoundField& field : bound.fields) CopyField(field, record, &decoded);
    sink.event(decoded);
    return;
  }
}

Status TracefsReader::Take(const std::string& name, const Sink& sink) {
  if (!HasMemory(kReadBytes)) return Status(StatusCode::kNoSpace, "no memory for kernel events");
  if (formats_ == nullptr) bound_ = Bind();
  if (!bound_.ok()) return bound_;
  tracefs_instance* instance = library_.instance_alloc(tracefs_.c_str(), name.c_str());
  if (instance == nullptr) return Status(StatusCode::kNotFound, "no instance " + name);
  Pass pass{this, &sink};
  const int result =
      library_.iterate_raw_events(formats_, instance, nullptr, 0, &TracefsReader::OnRecord, &pass);
  library_.instance_free(instance);
  return result == 0 ? Status::Ok() : Status(StatusCode::kIo, "cannot read instance " + name);
}

}  // namespace

Result<std::unique_ptr<EventReader>> EventReader::Open(const std::string& tracefs) {
  TracefsLibrary library = {};
  const std::string missing = LoadTracefsLibrary(&library);
  if (!missing.empty()) return Status(StatusCode::kUnsupported, missing);
  return std::unique_ptr<EventReader>(std::make_unique<TracefsReader>(library, tracefs));
}

}  // namespace jankbox
