#include <charconv>

#include "base/clock.h"
#include "base/utf8.h"
#include "tools/merge/trace_line.h"

namespace jankbox::tools {
namespace {

using traceproto::CapturedEvent;
using traceproto::FtraceEvent;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

template <typename Number>
bool ParseNumber(std::string_view text, Number* out, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string_view TrimLeft(std::string_view text) {
  const size_t at = text.find_first_not_of(' ');
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

std::string_view TrimRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \r") + 1);
}

std::string_view TakeWord(std::string_view* text) {
  *text = TrimLeft(*text);
  const size_t end = std::min(text->find(' '), text->size());
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(end);
  return word;
}

// The text after the last `key` (" next_pid="), which is cut off `text` with it.
bool TakeLast(std::string_view* text, std::string_view key, std::string_view* value) {
  const size_t at = text->rfind(key);
  if (at == std::string_view::npos) return false;
  *value = text->substr(at + key.size());
  *text = text->substr(0, at);
  return true;
}

template <typename Number>
bool TakeLastNumber(std::string_view* text, std::string_view key, Number* out) {
  std::string_view value;
  return TakeLast(text, key, &value) && ParseNumber(TrimRight(value), out);
}

bool StripPrefix(std::string_view* text, std::string_view prefix) {
  if (text->substr(0, prefix.size()) != prefix) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// "123.456789:" (ns) or "123456789:" (counts), without its colon.
bool ParseStamp(std::string_view word, uint64_t* stamp, bool* counts) {
  const size_t dot = word.find('.');
  *counts = dot == std::string_view::npos;
  if (*counts) return ParseNumber(word, stamp);
  std::string_view fraction = word.substr(dot + 1);
  uint64_t seconds, part;
  if (fraction.size() > 9 || !ParseNumber(word.substr(0, dot), &seconds) ||
      !ParseNumber(fraction, &part) || seconds > UINT64_MAX / kNsPerSecond - 1) {
    return false;
  }
  for (size_t digits = fraction.size(); digits < 9; ++digits) part *= 10;
  *stamp = seconds * kNsPerSecond + part;
  return true;
}

// After "[CPU]": flags, stamp, and what follows the stamp's colon.
bool ParseStampAndRest(std::string_view text, CapturedEvent* event, std::string_view* rest,
                       bool* counts) {
  std::string_view word = TakeWord(&text);
  if (!word.empty() && word.back() != ':') word = TakeWord(&text);  // flags came first
  if (word.size() < 2 || word.back() != ':') return false;
  uint64_t stamp;
  if (!ParseStamp(word.substr(0, word.size() - 1), &stamp, counts)) return false;
  event->mutable_event()->set_timestamp(stamp);
  *rest = TrimLeft(text);
  return true;
}

// "  task name-123   ( 45)" before "[CPU]".
bool ParseTask(std::string_view text, CapturedEvent* event) {
  text = TrimRight(text);
  if (!text.empty() && text.back() == ')') {
    const size_t open = text.rfind('(');
    if (open == std::string_view::npos) return false;
    const std::string_view inside = TrimLeft(text.substr(open + 1, text.size() - open - 2));
    int32_t tgid = 0;
    if (inside.find_first_not_of('-') != std::string_view::npos && !ParseNumber(inside, &tgid)) {
      return false;
    }
    event->set_tgid(tgid);
    text = TrimRight(text.substr(0, open));
  }
  const size_t dash = text.rfind('-');
  uint32_t tid;
  if (dash == std::string_view::npos || !ParseNumber(text.substr(dash + 1), &tid)) return false;
  const std::string_view comm = TrimLeft(text.substr(0, dash));
  event->mutable_event()->set_pid(tid);
  if (comm != "<...>") event->set_comm(ToValidUtf8(comm));
  return true;
}

// A task's name has 15 bytes at most: it cannot contain "-1 [000] .... 1:", so the first place that
// reads so is the right one.
bool ParseHead(std::string_view line, CapturedEvent* event, std::string_view* rest, bool* counts) {
  for (size_t open = line.find('['); open != std::string_view::npos;
       open = line.find('[', open + 1)) {
    size_t close = open + 1;
    while (close < line.size() && IsDigit(line[close])) ++close;
    uint32_t cpu;
    if (close - open < 4 || close >= line.size() || line[close] != ']' ||
        !ParseNumber(line.substr(open + 1, close - open - 1), &cpu)) {
      continue;
    }
    event->Clear();
    if (ParseStampAndRest(line.substr(close + 1), event, rest, counts) &&
        ParseTask(line.substr(0, open), event)) {
      event->set_cpu(cpu);
      return true;
    }
  }
  return false;
}

int64_t ParseState(std::string_view text) {
  int64_t state = 0;
  for (const char letter : text) {
    const size_t bit = kStateLetters.find(letter);
    if (bit != std::string_view::npos) state |= int64_t{1} << bit;
    if (letter == '+') state |= kStatePreempted;
  }
  return state;
}

bool ParseSwitch(std::string_view text, FtraceEvent* event) {
  traceproto::SchedSwitchFtraceEvent* fields = event->mutable_sched_switch();
  int32_t next_prio, next_pid, prev_prio, prev_pid;
  std::string_view next_comm, state;
  if (!TakeLastNumber(&text, " next_prio=", &next_prio) ||
      !TakeLastNumber(&text, " next_pid=", &next_pid) ||
      !TakeLast(&text, " ==> next_comm=", &next_comm) || !TakeLast(&text, " prev_state=", &state) ||
      !TakeLastNumber(&text, " prev_prio=", &prev_prio) ||
      !TakeLastNumber(&text, " prev_pid=", &prev_pid) || !StripPrefix(&text, "prev_comm=")) {
    return false;
  }
  fields->set_next_prio(next_prio);
  fields->set_next_pid(next_pid);
  fields->set_next_comm(ToValidUtf8(next_comm));
  fields->set_prev_state(ParseState(state));
  fields->set_prev_prio(prev_prio);
  fields->set_prev_pid(prev_pid);
  fields->set_prev_comm(ToValidUtf8(text));
  return true;
}

bool ParseWakeup(std::string_view text, traceproto::SchedWakeupFtraceEvent* fields) {
  int32_t cpu, prio, pid, success;
  if (!TakeLastNumber(&text, " target_cpu=", &cpu)) return false;
  if (TakeLastNumber(&text, " success=", &success)) fields->set_success(success);
  if (!TakeLastNumber(&text, " prio=", &prio) || !TakeLastNumber(&text, " pid=", &pid) ||
      !StripPrefix(&text, "comm=")) {
    return false;
  }
  fields->set_target_cpu(cpu);
  fields->set_prio(prio);
  fields->set_pid(pid);
  fields->set_comm(ToValidUtf8(text));
  return true;
}

// "comm=… pid=1 prio=120", newer kernels with " group_dead=true" after.
bool ParseExit(std::string_view text, traceproto::SchedProcessExitFtraceEvent* fields) {
  int32_t prio, pid;
  std::string_view group_dead;
  TakeLast(&text, " group_dead=", &group_dead);
  if (!TakeLastNumber(&text, " prio=", &prio) || !TakeLastNumber(&text, " pid=", &pid) ||
      !StripPrefix(&text, "comm=")) {
    return false;
  }
  fields->set_prio(prio);
  fields->set_pid(pid);
  fields->set_comm(ToValidUtf8(text));
  return true;
}

bool ParseDevice(std::string_view word, uint64_t* device) {
  const size_t comma = word.find(',');
  uint32_t major, minor;
  if (comma == std::string_view::npos || !ParseNumber(word.substr(0, comma), &major) ||
      !ParseNumber(word.substr(comma + 1), &minor)) {
    return false;
  }
  *device = static_cast<uint64_t>(major) << 20 | minor;
  return true;
}

// "… 123 + 8 none,0,0 [end]": sector, count of sectors, and what is in the last brackets.
bool ParseSectors(std::string_view text, uint64_t* sector, uint32_t* count, std::string_view* end) {
  std::string_view words = text;
  if (!ParseNumber(TakeWord(&words), sector) || TakeWord(&words) != "+" ||
      !ParseNumber(TakeWord(&words), count)) {
    return false;
  }
  const size_t open = words.find('[');
  const size_t close = words.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return false;
  }
  *end = words.substr(open + 1, close - open - 1);
  return true;
}

bool ParseBlockIssue(std::string_view text, traceproto::BlockRqIssueFtraceEvent* fields) {
  uint64_t device, sector;
  uint32_t bytes, count;
  std::string_view comm;
  if (!ParseDevice(TakeWord(&text), &device)) return false;
  fields->set_rwbs(ToValidUtf8(TakeWord(&text)));
  if (!ParseNumber(TakeWord(&text), &bytes)) return false;
  const size_t close = text.find(") ");
  if (close == std::string_view::npos ||
      !ParseSectors(text.substr(close + 2), &sector, &count, &comm)) {
    return false;
  }
  fields->set_dev(device);
  fields->set_bytes(bytes);
  fields->set_sector(sector);
  fields->set_nr_sector(count);
  fields->set_comm(ToValidUtf8(comm));
  return true;
}

bool ParseBlockComplete(std::string_view text, traceproto::BlockRqCompleteFtraceEvent* fields) {
  uint64_t device, sector;
  uint32_t count;
  int32_t error;
  std::string_view end;
  if (!ParseDevice(TakeWord(&text), &device)) return false;
  fields->set_rwbs(ToValidUtf8(TakeWord(&text)));
  const size_t close = text.find(") ");
  if (close == std::string_view::npos ||
      !ParseSectors(text.substr(close + 2), &sector, &count, &end) || !ParseNumber(end, &error)) {
    return false;
  }
  fields->set_dev(device);
  fields->set_sector(sector);
  fields->set_nr_sector(count);
  fields->set_error(error);
  return true;
}

bool ParseRename(std::string_view text, traceproto::TaskRenameFtraceEvent* fields) {
  int32_t score, pid;
  std::string_view new_comm;
  if (!TakeLastNumber(&text, " oom_score_adj=", &score) ||
      !TakeLast(&text, " newcomm=", &new_comm) || !StripPrefix(&text, "pid=") ||
      !ParseNumber(text.substr(0, text.find(' ')), &pid)) {
    return false;
  }
  text.remove_prefix(std::min(text.find(' '), text.size()));
  if (!StripPrefix(&text, " oldcomm=")) return false;
  fields->set_pid(pid);
  fields->set_oldcomm(ToValidUtf8(text));
  fields->set_newcomm(ToValidUtf8(new_comm));
  fields->set_oom_score_adj(score);
  return true;
}

bool ParseNewTask(std::string_view text, traceproto::TaskNewtaskFtraceEvent* fields) {
  int32_t score, pid;
  uint64_t flags;
  std::string_view flags_text;
  if (!TakeLastNumber(&text, " oom_score_adj=", &score) ||
      !TakeLast(&text, " clone_flags=", &flags_text) || !ParseNumber(flags_text, &flags, 16) ||
      !StripPrefix(&text, "pid=") || !ParseNumber(text.substr(0, text.find(' ')), &pid)) {
    return false;
  }
  text.remove_prefix(std::min(text.find(' '), text.size()));
  if (!StripPrefix(&text, " comm=")) return false;
  fields->set_pid(pid);
  fields->set_comm(ToValidUtf8(text));
  fields->set_clone_flags(flags);
  fields->set_oom_score_adj(score);
  return true;
}

bool ParseFields(std::string_view name, std::string_view text, FtraceEvent* event) {
  if (name == "tracing_mark_write") {
    event->mutable_print()->set_buf(ToValidUtf8(text) + "\n");
    return true;
  }
  if (name == "sched_switch") return ParseSwitch(text, event);
  if (name == "sched_waking") return ParseWakeup(text, event->mutable_sched_waking());
  if (name == "sched_wakeup") return ParseWakeup(text, event->mutable_sched_wakeup());
  if (name == "sched_wakeup_new") return ParseWakeup(text, event->mutable_sched_wakeup_new());
  if (name == "sched_process_exit") return ParseExit(text, event->mutable_sched_process_exit());
  if (name == "block_rq_issue") return ParseBlockIssue(text, event->mutable_block_rq_issue());
  if (name == "block_rq_complete") {
    return ParseBlockComplete(text, event->mutable_block_rq_complete());
  }
  if (name == "task_rename") return ParseRename(text, event->mutable_task_rename());
  if (name == "task_newtask") return ParseNewTask(text, event->mutable_task_newtask());
  return false;
}

}  // namespace

uint64_t LostEvents(std::string_view line) {
  const size_t at = line.find("[LOST ");
  uint64_t lost = 0;
  if (line.substr(0, 4) != "CPU:" || at == std::string_view::npos) return 0;
  std::string_view rest = line.substr(at + 6);
  return ParseNumber(TakeWord(&rest), &lost) ? lost : 1;
}

LineKind ParseTraceLine(std::string_view line, CapturedEvent* event, bool* counts) {
  line = line.substr(0, line.find_last_not_of("\r") + 1);
  if (line.empty() || line[0] == '#') return LineKind::kComment;
  if (LostEvents(line) > 0) return LineKind::kLostEvents;
  std::string_view rest;
  if (!ParseHead(line, event, &rest, counts)) return LineKind::kContinuation;
  const size_t colon = std::min(rest.find(':'), rest.size());
  const std::string_view name = rest.substr(0, colon);
  // One blank belongs to the format; more would be the marker's own.
  std::string_view fields = rest.substr(std::min(colon + 2, rest.size()));
  const uint64_t stamp = event->event().timestamp();
  const uint32_t tid = event->event().pid();
  if (ParseFields(name, fields, event->mutable_event())) return LineKind::kEvent;
  event->mutable_event()->Clear();
  event->mutable_event()->set_timestamp(stamp);
  event->mutable_event()->set_pid(tid);
  event->set_left_out(ToValidUtf8(name));
  return LineKind::kEvent;
}

}  // namespace jankbox::tools
