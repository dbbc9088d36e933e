#include "tools/reports/show_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/reports/report_folder.h"
#include "tools/reports/report_source.h"
#include "tools/reports/section_text.h"
#include "tools/reports/sent_texts.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/json_text.h"
#include "tools/terminal/pager.h"
#include "tools/terminal/verdict_bar.h"

namespace jankbox::tools {
namespace {

constexpr size_t kShownFrames = 15;
constexpr size_t kLabelWidth = 10;

// A summary by rule for reports that carry none.
std::string Summary(const ReportView& report) {
  if (!report.summary.empty()) return report.summary;
  const std::string cause = CauseInBrief(report.shares);
  const std::string where = BlamedFunction(report);
  return (cause.empty() ? "It is unknown where the time went" : "The time went to " + cause) +
         (where.empty() ? "" : ", in " + where) + ".";
}

std::string Headline(const TextStyle& style, const ReportView& report) {
  const char* dot = style.unicode ? " · " : " - ";
  const std::string extent = IsExit(report) ? EndText(report.end_reason)
                                            : DurationText(report.duration_ms) +
                                                  (report.ongoing ? " and still blocked" : "");
  std::string text = Paint(style, Colour::kBold, report.kind + "  " + extent);
  text += "  " + report.process + " (pid " + std::to_string(report.pid) + ")" + dot;
  text += report.tid == report.pid ? "main thread" : "thread " + report.thread;
  text += " (tid " + std::to_string(report.tid) + ")\n";
  std::string details = LocalTime(report.window_to);
  if (!report.what.empty()) details += dot + report.what;
  if (!report.loop.empty()) details += dot + ("loop " + report.loop);
  if (report.frame_dropped > 0)
    details += dot + std::to_string(report.frame_dropped) + " frames missed";
  details += dot + report.id;
  if (report.revision > 1) details += " (revision " + std::to_string(report.revision) + ")";
  return text + Paint(style, Colour::kDim, details) + "\n\n";
}

// Instrumented methods are marked: they were recorded, native frames were sampled.
std::string FrameLine(const TextStyle& style, size_t number, const ReportView::Frame& frame,
                      size_t module_width) {
  constexpr size_t kNumberWidth = 4;
  constexpr size_t kNarrowest = 20;
  const std::string count = std::to_string(number);
  const std::string mark = frame.instrumented ? (style.unicode ? "▶ " : "> ") : "  ";
  const std::string module = Clip(style, frame.module, module_width);
  const size_t taken = kNumberWidth + 1 + 2 + module_width + 2;
  std::string function = frame.function;
  std::string place = frame.place.empty() ? "" : "  " + frame.place;
  if (frame.inlined) place += "  inlined";
  if (style.columns > 0) {
    const size_t width = taken + DisplayWidth(place);
    const size_t room = style.columns - std::min(style.columns, width);
    function = Clip(style, function, std::max(room, kNarrowest));
  }
  return Paint(
             style, Colour::kDim,
             std::string(kNumberWidth - std::min(kNumberWidth, count.size()), ' ') + count + " ") +
         Paint(style, Colour::kCyan, mark) + Paint(style, Colour::kDim, module) +
         std::string(module_width - std::min(module_width, DisplayWidth(module)) + 2, ' ') +
         Paint(style, frame.instrumented ? Colour::kCyan : Colour::kNone, function) +
         Paint(style, Colour::kDim, place) + "\n";
}

std::string Stack(const TextStyle& style, const ReportView& report, bool all_frames) {
  constexpr size_t kWidestModule = 28;
  if (report.frames.empty()) return "No stack was sampled.\n\n";
  const size_t count = report.frames.size();
  const size_t shown = all_frames ? count : std::min(count, kShownFrames);
  size_t module_width = 0;
  for (size_t i = 0; i < shown; ++i) {
    module_width = std::max(module_width, DisplayWidth(report.frames[i].module));
  }
  module_width = std::min(module_width, kWidestModule);
  std::string text = Paint(style, Colour::kBold, "Blamed stack") + ", innermost first\n";
  for (size_t i = 0; i < shown; ++i) {
    text += FrameLine(style, i, report.frames[i], module_width);
  }
  if (shown < count) {
    text += std::string(7, ' ') + (style.unicode ? "… " : "... ") + std::to_string(count - shown) +
            " more (--all)\n";
  }
  return text + "\n";
}

std::string JavaStack(const TextStyle& style, const ReportView::JavaStack& java) {
  if (java.calls.empty()) return "";
  std::string text = Paint(style, Colour::kBold, "Java stack") + ", innermost first";
  if (!java.seen.empty()) text += ", " + java.seen;
  text += "\n";
  for (const std::string& call : java.calls) text += "  " + call + "\n";
  if (!java.wait.empty()) text += "  " + java.wait + "\n";
  return text + "\n";
}

std::string Line(const TextStyle& style, const char* label, const std::string& value) {
  std::string padded = label;
  padded.resize(std::max(kLabelWidth, padded.size()), ' ');
  return Paint(style, Colour::kBold, padded) + value + "\n";
}

std::string Lines(const TextStyle& style, const char* label,
                  const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += Line(style, text.empty() ? label : "", line);
  return text;
}

// A label is written once for the lines that have it.
std::string Facts(const TextStyle& style, const std::vector<ReportFact>& facts) {
  std::string text;
  std::string_view label;
  for (const ReportFact& fact : facts) {
    text += Line(style, label == fact.label ? "" : fact.label, fact.text);
    label = fact.label;
  }
  return text;
}

std::string Joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string MessageText(const ReportView::Message& message) {
  std::string text = message.what.empty() ? "a message" : message.what;
  if (message.count > 1) text += " x " + std::to_string(message.count);
  return text + " " + DurationText(message.wall_ms) + " (" + DurationText(message.before_ms) +
         " before)";
}

// Earlier messages: the whole list only with --all.
std::string History(const TextStyle& style, const ReportView& report, bool all_messages) {
  constexpr size_t kShownLongest = 3;
  const ReportView::History& history = report.history;
  if (history.count == 0) return "";
  std::string text =
      Line(style, "Before",
           std::to_string(history.count) + " messages, busy for " + DurationText(history.busy_ms));
  const size_t longest = std::min(history.longest.size(), kShownLongest);
  for (size_t i = 0; i < longest; ++i) {
    text += Line(style, "", (i == 0 ? "longest: " : "         ") + MessageText(history.longest[i]));
  }
  if (!all_messages) return text;
  if (history.left_out > 0) {
    text += Line(style, "", std::to_string(history.left_out) + " earlier messages are not listed");
  }
  for (const ReportView::Message& message : history.last) {
    text += Line(style, "", MessageText(message));
  }
  return text;
}

// "79.8 ms waiting for a lock (hooks)"; parts below a hundredth of the whole are left out.
std::vector<std::string> Parts(const ReportView& report) {
  std::vector<std::string> lines;
  for (const ReportView::Part& part : report.parts) {
    if (part.ms * 100 < report.duration_ms) continue;
    lines.push_back(DurationText(part.ms) + " " + part.detail + " (" + part.source +
                    (part.estimate ? ", an estimate)" : ")"));
  }
  return lines;
}

std::string Losses(const ReportView& report) {
  std::vector<std::string> items;
  for (const auto& [name, count] : report.losses)
    items.push_back(std::to_string(count) + " " + name);
  return items.empty() ? "nothing lost" : Joined(items);
}

std::string Sampling(const ReportView& report) {
  std::string text = report.sampler.empty() ? "no stack sampler" : report.sampler;
  text += ", " + std::to_string(report.sample_count) + " samples";
  if (report.sched_switches > 0) {
    text += ", put on a CPU " + std::to_string(report.sched_switches) + " times";
  }
  return text;
}

std::string Fixed(double value, int decimals) {
  char text[48];
  snprintf(text, sizeof(text), "%.*f", decimals, value);
  return text;
}

// "12 ms of CPU since start (0.40 % of a core: watching 5, sealing 7), 8.0 MiB ring, …"
std::string SelfCost(const ReportView& report) {
  const double cpu_ms = report.self_cpu_ms + report.recording_ms;
  std::string share;
  if (report.uptime_ms > 0) share = Fixed(100 * cpu_ms / report.uptime_ms, 2) + " % of a core";
  std::string accounts;
  for (const auto& [name, ms] : report.self_cpu_accounts_ms) {
    accounts += (accounts.empty() ? "" : ", ") + name + " " + Fixed(ms, ms < 10 ? 1 : 0);
  }
  if (!share.empty() && !accounts.empty()) share += ": ";
  std::string text = Fixed(cpu_ms, 0) + " ms of CPU since start";
  if (!(share + accounts).empty()) text += " (" + share + accounts + ")";
  text += ", " + Fixed(static_cast<double>(report.ring_bytes) / (1 << 20), 1) + " MiB ring";
  return text + ", start took " + Fixed(static_cast<double>(report.start_us) / 1000, 1) + " ms";
}

bool IsWanted(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

std::string Sections(const TextStyle& style, const ShowOptions& options,
                     const nlohmann::json& report) {
  std::string text;
  for (const ReportSection& section : ReportSections()) {
    if (!IsWanted(options.sections, section.name)) continue;
    const std::string lines = SectionText(style, section, report, options.all_frames);
    const bool asked = !options.sections.empty();
    text += lines.empty() && asked ? "\nThe report has nothing in " + section.name + ".\n" : lines;
  }
  return text;
}

// The report is one of them.
std::string Incidents(const TextStyle& style, const ReportView& report, IncidentCount count) {
  if (count.incidents < report.repeat_count) count = {report.repeat_count, 0, 0};
  if (count.incidents == 0) return "";
  return Line(style, "Incidents", CountText(count) + ", with this fingerprint");
}

std::string Identity(const ReportView& report) {
  const bool by_message = report.basis == "message";
  return report.fingerprint + (by_message ? " (the same for this message and cause; no stack)"
                                          : " (the same for every repeat)");
}

std::string Group(const ReportView& report) {
  return report.group_key + (report.provisional
                                 ? " (provisional: functions of the app have no names)"
                                 : " (the same in every build)");
}

// The counts are beside the file, or where the id was found.
const std::string& CountsPlace(const SourcedReport& sourced, const std::string& place) {
  return sourced.location.starts_with("http") ? place : sourced.location;
}

// `text` as one word of a shell.
std::string ShellWord(const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace

std::string RenderReport(const TextStyle& style, const ReportView& report, bool all_frames,
                         const std::string& export_argument, const IncidentCount& count) {
  std::string text = Headline(style, report) + "  " + Summary(report) + "\n\n";
  const std::string bar = VerdictBar(style, report.shares);
  text += bar.empty() ? "" : bar + "\n";
  text += Stack(style, report, all_frames);
  text += JavaStack(style, report.java);
  const std::string range = LocalTime(report.window_from, true) + (style.unicode ? " – " : " - ") +
                            LocalTime(report.window_to, true);
  text += Line(style, "Window", DurationText(report.window_ms) + " (" + range + ")");
  text += Incidents(style, report, count);
  text += History(style, report, all_frames);
  text += Facts(style, report.facts);
  text += Line(style, "Losses", Losses(report));
  text += Lines(style, "Notes", report.notes);
  const std::vector<std::string> parts = Parts(report);
  text += Lines(style, "Verdict", parts);
  if (parts.empty() && !report.sources.empty()) {
    text += Line(style, "Verdict", "from " + Joined(report.sources));
  }
  text += Line(style, "Samples", Sampling(report));
  if (!report.recording.empty()) {
    text += Line(style, "Recording", Joined(report.recording));
  }
  text += Line(style, "Recorder", SelfCost(report));
  text += Line(style, "Identity", Identity(report));
  if (!report.group_key.empty()) text += Line(style, "Group", Group(report));
  return text + "\n" +
         Line(style, "Trace", "jankbox export " + export_argument + " -o trace.pftrace") +
         Line(style, "", "then open trace.pftrace in https://ui.perfetto.dev");
}

namespace {

std::string TextLines(const std::set<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += "  " + Printable(text) + "\n";
  return lines;
}

int ShowAsSent(const SourcedReport& sourced, bool as_json) {
  const Result<std::string> file = ReportSource::Fetch(sourced.location);
  const Result<SentTexts> texts = file.ok() ? ReadSentTexts(file.value()) : file.status();
  if (!texts.ok()) {
    PrintError(sourced.location + ": " + texts.status().message());
    return kExitFailed;
  }
  if (as_json) {
    const nlohmann::json sent = {{"bytes", file.value().size()},
                                 {"report", sourced.report},
                                 {"texts", texts.value().report},
                                 {"trace_texts", texts.value().trace}};
    return WriteText(STDOUT_FILENO, JsonText(sent)) ? kExitOk : kExitFailed;
  }
  const bool as_written = sourced.report.value("texts_as_written", false);
  const std::string text =
      std::to_string(file.value().size()) + " bytes. Texts of the app are " +
      (as_written ? "as it wrote them (texts = as_written).\n" : "cleaned (docs/privacy.md).\n") +
      "\nTexts of the report (its numbers: jankbox show --json)\n" +
      TextLines(texts.value().report) + "\nFurther texts of the trace\n" +
      TextLines(texts.value().trace);
  return WritePaged(text) ? kExitOk : kExitFailed;
}

}  // namespace

int RunShow(const ShowOptions& options) {
  const std::string place = options.place.empty() ? DefaultReportDirectory() : options.place;
  const Result<SourcedReport> sourced = FindReport(options.file_or_id, place);
  if (!sourced.ok()) {
    PrintError(sourced.status().message());
    return kExitFailed;
  }
  if (options.as_sent) return ShowAsSent(sourced.value(), options.json);
  if (options.json) {
    return WriteText(STDOUT_FILENO, JsonText(sourced->report)) ? kExitOk : kExitFailed;
  }
  const TextStyle style = DetectTextStyle(STDOUT_FILENO);
  std::string text = Sections(style, options, sourced->report);
  if (options.sections.empty()) {
    std::string argument = ShellWord(options.file_or_id);
    if (!options.place.empty()) argument += " --dir " + ShellWord(options.place);
    const ReportView view = ViewReport(sourced->report);
    const IncidentCounts counts = ReadIncidentCounts(CountsPlace(sourced.value(), place));
    const auto count = counts.find(view.fingerprint);
    text = RenderReport(style, view, options.all_frames, Printable(argument),
                        count == counts.end() ? IncidentCount() : count->second) +
           text;
  }
  return WritePaged(text) ? kExitOk : kExitFailed;
}

}  // namespace jankbox::tools
