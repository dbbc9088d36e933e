#include "tools/merge/trace_cmd_records.h"

#include <event-parse.h>

#include "base/utf8.h"
#define _TRACE_FS_H  // trace-cmd.h includes tracefs.h without need, and 1.6 of that is no C++
#include <trace-cmd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

// Exported by libtracecmd.so.1, but left out of its header: the content of the trace_clock file, or
// the one clock's name.
extern "C" const char* tracecmd_get_trace_clock(struct tracecmd_input* handle);

namespace jankbox::tools {
namespace {

using traceproto::CapturedEvent;
using traceproto::FtraceEvent;

// Fields of one record by name; what a kernel does not have reads as 0 or empty.
class Record {
 public:
  Record(tep_event* event, const tep_record* record) : event_(event), record_(record) {}

  uint64_t Number(const char* name) const {
    tep_format_field* field = tep_find_field(event_, name);
    unsigned long long value = 0;
    if (!Fits(field)) return 0;
    tep_read_number_field(field, record_->data, &value);
    const bool is_signed = (field->flags & TEP_FIELD_IS_SIGNED) != 0;
    if (is_signed && field->size == 4) return static_cast<uint64_t>(static_cast<int32_t>(value));
    return value;
  }
  int32_t Int(const char* name) const { return static_cast<int32_t>(Number(name)); }

  std::string Text(const char* name) const {
    tep_format_field* field = tep_find_field(event_, name);
    if (!Fits(field)) return {};
    const char* bytes = static_cast<const char*>(record_->data) + field->offset;
    size_t size = static_cast<size_t>(field->size);
    if (size == 0) size = static_cast<size_t>(record_->size - field->offset);  // to the end
    return ToValidUtf8(std::string_view(bytes, strnlen(bytes, size)));
  }

 private:
  bool Fits(const tep_format_field* field) const {
    return field != nullptr && field->offset >= 0 && field->size >= 0 &&
           field->offset + field->size <= record_->size;
  }

  tep_event* event_;
  const tep_record* record_;
};

void FillSwitch(const Record& record, FtraceEvent* event) {
  auto* fields = event->mutable_sched_switch();
  fields->set_prev_comm(record.Text("prev_comm"));
  fields->set_prev_pid(record.Int("prev_pid"));
  fields->set_prev_prio(record.Int("prev_prio"));
  fields->set_prev_state(static_cast<int64_t>(record.Number("prev_state")));
  fields->set_next_comm(record.Text("next_comm"));
  fields->set_next_pid(record.Int("next_pid"));
  fields->set_next_prio(record.Int("next_prio"));
}

void FillWakeup(const Record& record, traceproto::SchedWakeupFtraceEvent* fields) {
  fields->set_comm(record.Text("comm"));
  fields->set_pid(record.Int("pid"));
  fields->set_prio(record.Int("prio"));
  fields->set_target_cpu(record.Int("target_cpu"));
}

void FillExit(const Record& record, traceproto::SchedProcessExitFtraceEvent* fields) {
  fields->set_comm(record.Text("comm"));
  fields->set_pid(record.Int("pid"));
  fields->set_prio(record.Int("prio"));
}

void FillBlockIssue(const Record& record, FtraceEvent* event) {
  auto* fields = event->mutable_block_rq_issue();
  fields->set_dev(record.Number("dev"));
  fields->set_sector(record.Number("sector"));
  fields->set_nr_sector(static_cast<uint32_t>(record.Number("nr_sector")));
  fields->set_bytes(static_cast<uint32_t>(record.Number("bytes")));
  fields->set_rwbs(record.Text("rwbs"));
  fields->set_comm(record.Text("comm"));
}

void FillBlockComplete(const Record& record, FtraceEvent* event) {
  auto* fields = event->mutable_block_rq_complete();
  fields->set_dev(record.Number("dev"));
  fields->set_sector(record.Number("sector"));
  fields->set_nr_sector(static_cast<uint32_t>(record.Number("nr_sector")));
  fields->set_error(record.Int("error"));
  fields->set_rwbs(record.Text("rwbs"));
}

void FillPrint(const Record& record, FtraceEvent* event) {
  std::string text = record.Text("buf");
  if (text.empty() || text.back() != '\n') text += '\n';
  event->mutable_print()->set_buf(text);
}

void FillRename(const Record& record, FtraceEvent* event) {
  auto* fields = event->mutable_task_rename();
  fields->set_pid(record.Int("pid"));
  fields->set_oldcomm(record.Text("oldcomm"));
  fields->set_newcomm(record.Text("newcomm"));
  fields->set_oom_score_adj(static_cast<int16_t>(record.Number("oom_score_adj")));
}

void FillNewTask(const Record& record, FtraceEvent* event) {
  auto* fields = event->mutable_task_newtask();
  fields->set_pid(record.Int("pid"));
  fields->set_comm(record.Text("comm"));
  fields->set_clone_flags(record.Number("clone_flags"));
  fields->set_oom_score_adj(static_cast<int16_t>(record.Number("oom_score_adj")));
}

// False if the event has no form here.
bool Fill(const std::string& name, const Record& record, FtraceEvent* event) {
  if (name == "print") {
    FillPrint(record, event);
  } else if (name == "sched_switch") {
    FillSwitch(record, event);
  } else if (name == "sched_waking") {
    FillWakeup(record, event->mutable_sched_waking());
  } else if (name == "sched_wakeup") {
    FillWakeup(record, event->mutable_sched_wakeup());
  } else if (name == "sched_wakeup_new") {
    FillWakeup(record, event->mutable_sched_wakeup_new());
  } else if (name == "sched_process_exit") {
    FillExit(record, event->mutable_sched_process_exit());
  } else if (name == "block_rq_issue") {
    FillBlockIssue(record, event);
  } else if (name == "block_rq_complete") {
    FillBlockComplete(record, event);
  } else if (name == "task_rename") {
    FillRename(record, event);
  } else if (name == "task_newtask") {
    FillNewTask(record, event);
  } else {
    return false;
  }
  return true;
}

// "mono", or the one in brackets of "local [mono] boot".
std::string ClockName(const char* text) {
  const std::string clocks = text != nullptr ? text : "";
  const size_t open = clocks.find('[');
  const size_t close = clocks.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return clocks.find(' ') == std::string::npos ? clocks : "";
  }
  return clocks.substr(open + 1, close - open - 1);
}

class Reader {
 public:
  explicit Reader(const std::function<bool(const CapturedEvent&)>& hand_out)
      : hand_out_(hand_out) {}

  bool TakeRecord(tracecmd_input* handle, tep_record* record, int cpu) {
    const std::string clock = ClockName(tracecmd_get_trace_clock(handle));
    if (!clock_sent_) {
      clock_sent_ = true;
      clock_ = clock;
      event_.Clear();
      event_.set_clock(clock);
      if (!hand_out_(event_)) return false;
    } else if (clock != clock_) {
      problem_ = "its buffers have two clocks (" + clock_ + ", " + clock + "): record them apart";
      return false;
    }
    return HandOut(tracecmd_get_tep(handle), record, cpu);
  }

  void End(const std::string& problem) {
    event_.Clear();
    event_.set_problem(problem.empty() ? problem_ : problem);
    hand_out_(event_);
  }

 private:
  bool HandOut(tep_handle* tep, tep_record* record, int cpu) {
    tep_event* format = tep_find_event_by_record(tep, record);
    const int tid = tep_data_pid(tep, record);
    event_.Clear();
    event_.set_cpu(static_cast<uint32_t>(std::max(cpu, 0)));
    if (record->missed_events != 0) {
      event_.set_lost(static_cast<uint64_t>(std::max<long long>(record->missed_events, 1)));
    }
    const char* comm = tep_data_comm_from_pid(tep, tid);
    if (comm != nullptr && strcmp(comm, "<...>") != 0) event_.set_comm(ToValidUtf8(comm));
    event_.mutable_event()->set_timestamp(record->ts);
    event_.mutable_event()->set_pid(static_cast<uint32_t>(tid));
    const std::string name = format != nullptr && format->name != nullptr ? format->name : "?";
    if (format == nullptr || !Fill(name, Record(format, record), event_.mutable_event())) {
      event_.set_left_out(name);
    }
    return hand_out_(event_);
  }

  const std::function<bool(const CapturedEvent&)>& hand_out_;
  CapturedEvent event_;
  bool clock_sent_ = false;
  std::string clock_;
  std::string problem_;
};

int OnRecord(tracecmd_input* handle, tep_record* record, int cpu, void* reader) {
  return static_cast<Reader*>(reader)->TakeRecord(handle, record, cpu) ? 0 : -1;
}

}  // namespace

void ReadTraceCmdRecords(const std::string& path,
                         const std::function<bool(const CapturedEvent&)>& hand_out) {
  Reader reader(hand_out);
  tracecmd_set_loglevel(TEP_LOG_NONE);
  tep_set_loglevel(TEP_LOG_NONE);
  tracecmd_input* handle = tracecmd_open(path.c_str(), TRACECMD_FL_LOAD_NO_PLUGINS);
  if (handle == nullptr) {
    reader.End("libtracecmd cannot read it: damaged or cut off");
    return;
  }
  std::vector<tracecmd_input*> handles = {handle};
  for (int i = 0; i < tracecmd_buffer_instances(handle); ++i) {
    tracecmd_input* buffer = tracecmd_buffer_instance_handle(handle, i);
    if (buffer != nullptr) handles.push_back(buffer);
  }
  tracecmd_iterate_events_multi(handles.data(), static_cast<int>(handles.size()), OnRecord,
                                &reader);
  reader.End("");
}

}  // namespace jankbox::tools
