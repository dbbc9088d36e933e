#include "tools/jankbox/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "base/text/nearest_word.h"
#include "tools/adb/adb_command_line.h"
#include "tools/attach/attach_command.h"
#include "tools/doctor/doctor_command.h"
#include "tools/jankbox/completion.h"
#include "tools/merge/merge_command.h"
#include "tools/open/open_command.h"
#include "tools/reports/export_command.h"
#include "tools/reports/list_command.h"
#include "tools/reports/report_folder.h"
#include "tools/reports/show_command_line.h"
#include "tools/ring/clean_command.h"
#include "tools/ring/ring_command.h"
#include "tools/run/run_command_line.h"
#include "tools/run/watch_command_line.h"
#include "tools/session/session_command_line.h"
#include "tools/symbolize/symbolize_command_line.h"
#include "tools/symbolize/upload_symbols_command.h"
#include "tools/terminal/command_app.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

struct Options {
  RunOptions run;
  SessionOptions session;
  AttachOptions attach;
  ListOptions list;
  ShowOptions show;
  ExportOptions trace_export;
  MergeOptions merge;
  SymbolizeOptions symbolize;
  UploadSymbolsOptions upload_symbols;
  RecordOptions record;
  PullOptions pull;
  DoctorOptions doctor;
  RingDumpOptions ring_dump;
  CleanOptions clean;
};

void AddAttach(CLI::App* app, AttachOptions* options) {
  CLI::App* attach =
      app->add_subcommand("attach", "Watch a program that runs already, from outside");
  attach->add_option("pid", options->pid, "the process")
      ->type_name("PID")
      ->required()
      ->check(CLI::Range(1, 1 << 30).description(""));
  AddWatching(attach, options);
  attach
      ->add_option("--for", options->seconds,
                   "watch it for so many seconds [until it ends, or Ctrl-C]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 1e6).description(""))
      ->check(CLI::Validator(
          [](const std::string& text) {
            return std::isnan(strtod(text.c_str(), nullptr)) ? text + " is not a number" : "";
          },
          ""));
  attach
      ->add_option("--thread", options->threads,
                   "watch this thread's loop too, besides the main thread's; may be repeated")
      ->type_name("NAME|TID")
      ->expected(1)
      ->take_all();
  attach->add_flag("-q,--quiet", options->quiet, "print errors only");
  attach->footer(
      "The program is not stopped, and nothing is loaded into it. Breakpoints of the processor on\n"
      "its wait functions, for the watched threads only, show its messages. Reports have a cause, "
      "a\n"
      "blamed function and stacks, but no recorded methods. When it ends, nothing of it remains.\n"
      "Root sees all of it; the program's user needs kernel.perf_event_paranoid of 2 or less and\n"
      "kernel.yama.ptrace_scope of 0, and does not see who woke the thread.\n\n"
      "Exit status: 0, or 1 if the process cannot be watched. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox attach $(pgrep -n gedit)\n"
      "  sudo jankbox attach --for 60 --slow-ms 50 --dir /tmp/reports 4242\n"
      "  jankbox attach 4242 --thread render");
}

void AddList(CLI::App* app, ListOptions* options) {
  CLI::App* list = app->add_subcommand("list", "List reports, newest first");
  list->add_option("place", options->place, "folder, or a collector's URL [as for run --dir]")
      ->type_name("DIR|URL");
  list->add_flag("--json", options->json,
                 "print a JSON array, the same for a folder and a collector");
  list->footer(
      "Damaged files are skipped and named on stderr.\n\n"
      "Exit status: 0, or 1 if no report could be read. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox list\n"
      "  jankbox list http://127.0.0.1:8750\n"
      "  jankbox list --json | jq '.[] | [.kind, .duration_ms, .top_frames[0].function]'");
}

void AddExport(CLI::App* app, ExportOptions* options) {
  CLI::App* trace =
      app->add_subcommand("export", "Write a report's trace, for Perfetto or systrace");
  trace
      ->add_option("report", options->file_or_id,
                   "a report's file, or the first characters of its id")
      ->type_name("FILE|ID")
      ->required();
  trace->add_option("-o,--output", options->output, "file to write; - for stdout")
      ->type_name("OUT");
  AddPlace(trace, &options->place);
  trace->add_flag("--systrace", options->systrace,
                  "write systrace text, with times in whole microseconds [-o -]");
  trace->add_flag("-f,--force", options->force, "replace OUT if it exists");
  trace->footer(
      "OUT is written completely or not at all. https://ui.perfetto.dev opens it.\n\n"
      "Exit status: 0, or 1 if a file cannot be read or written. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox export 0195a3c2-7f01 -o jank.pftrace\n"
      "  jankbox export 0195a3c2-7f01 -o - | trace_processor_shell -\n"
      "  jankbox export --systrace 0195a3c2-7f01 -o jank.systrace");
}

void AddMerge(CLI::App* app, MergeOptions* options) {
  CLI::App* merge = app->add_subcommand("merge", "Merge a report with a trace of the whole system");
  merge->add_option("--app", options->app, "a report's file, or the first characters of its id")
      ->type_name("FILE|ID")
      ->required();
  merge
      ->add_option("--system", options->system,
                   "a Perfetto trace, trace-cmd's trace.dat, or text from tracefs")
      ->type_name("CAPTURE")
      ->required();
  merge
      ->add_option("-o,--output", options->output,
                   "file to write, compressed if it ends in .zst; - for stdout")
      ->type_name("OUT")
      ->required();
  AddPlace(merge, &options->place);
  merge
      ->add_option("--clock", options->clock,
                   "trace_clock of the capture, if the file names none or a wrong one")
      ->type_name("NAME")
      ->check(
          CLI::IsMember({"mono", "boot", "local", "global", "mono_raw", "perf", "tai", "uptime"})
              .description(""));
  merge->add_flag("--json", options->json, "print the result as one JSON object");
  merge->add_flag("-f,--force", options->force, "replace OUT if it exists");
  merge->add_flag("--join-anyway", options->join_anyway,
                  "merge even if the two do not overlap or come from different boots");
  merge->footer(
      "The output has one clock and one track for each thread. The clocks mono and boot are\n"
      "converted directly. Other clocks are aligned by the program's markers in the capture, by "
      "the\n"
      "schedule of its threads, or to the nearest clock. The possible error is printed and "
      "written\n"
      "to the trace.\n\n"
      "Exit status: 0, or 1 if a file cannot be read, merged or written. 2: wrong usage.\n\n"
      "Examples:\n"
      "  trace-cmd record -C mono -e sched_switch -e sched_waking sleep 10\n"
      "  jankbox merge --app 0195a3c2-7f01 --system trace.dat -o both.pftrace");
}

void AddDoctor(CLI::App* app, DoctorOptions* options) {
  CLI::App* doctor =
      app->add_subcommand("doctor", "Check what this machine supports and how to fix problems");
  doctor->add_option("--dir", options->directory, kFolderDefault)->type_name("DIR");
  doctor->add_flag("--json", options->json,
                   "print {ok, dir, checks[{name, state, essential, found, why, fix}]}");
  doctor->add_flag("-v,--verbose", options->verbose, "explain why each check matters");
  doctor->footer(
      "Exit status: 0 if everything essential works, else 1. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox doctor\n"
      "  jankbox doctor --json | jq '.checks[] | select(.state != \"ok\")'");
}

void AddRing(CLI::App* app, RingDumpOptions* options) {
  CLI::App* ring = app->add_subcommand(
      "ring", "Print the contents of a ring file, which a process records into");
  ring->require_subcommand(1);
  ring->footer(
      "A program's ring is in $XDG_RUNTIME_DIR/jankbox, or in /dev/shm/jankbox-UID.\n\n"
      "Exit status: 0, or 1 if the file cannot be read. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox ring dump /dev/shm/jankbox-1000/*/ring-4242-*.jbxring");
  CLI::App* dump =
      ring->add_subcommand("dump", "Show the header, threads, chunks, losses and events");
  dump->add_option("file", options->file, "the ring file of a live or dead process")
      ->type_name("FILE")
      ->required();
  dump->add_flag("--json", options->json,
                 "print everything as one JSON object; times are in ticks");
  dump->add_option("--events", options->events, "also show the last N events of each thread [20]")
      ->type_name("N")
      ->expected(0, 1)
      ->default_str("20")
      ->check(CLI::PositiveNumber.description(""));
  dump->footer(
      "A live process keeps running. Events that it overwrites meanwhile are counted as torn.\n\n"
      "Exit status: 0, or 1 if the file cannot be read. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox ring dump ring-4242-1234567.jbxring --events 50\n"
      "  jankbox ring dump ring-4242-1234567.jbxring --json | jq .losses");
}

void AddClean(CLI::App* app, CleanOptions* options) {
  CLI::App* clean =
      app->add_subcommand("clean", "Remove what programs left that died while they were recorded");
  clean->add_flag("--json", options->json,
                  "print {reports[], removed, dropped, bytes, kept, in_use}");
  clean->footer(
      "A recorded program that is killed leaves its ring file in memory, in the folder\n"
      "$XDG_RUNTIME_DIR/jankbox or /dev/shm/jankbox-UID. This writes the reports of those that\n"
      "died, each into the folder of its program, and removes the files. Rings of running\n"
      "programs stay. A recorder that has run for 10 s does the same.\n\n"
      "Exit status: 0. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox clean");
}

void AddCompletion(CLI::App* app) {
  CLI::App* completion =
      app->add_subcommand("completion", "Print a script with which bash completes jankbox's words");
  completion->footer(
      "A Debian package of jankbox installs it. Exit status: 0. 2: wrong usage.\n\n"
      "Examples:\n"
      "  jankbox completion > ~/.local/share/bash-completion/completions/jankbox\n"
      "  eval \"$(jankbox completion)\"");
}

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

int Attach(const AttachOptions& options) {
  if (options.anr_ms && options.slow_ms && *options.anr_ms < *options.slow_ms) {
    return UsageError("attach: --anr-ms is less than --slow-ms", "attach");
  }
  return RunAttach(options);
}

int Dispatch(const CLI::App& app, Options* options) {
  if (app.got_subcommand("session")) return RunSession(options->session);
  if (app.got_subcommand("attach")) return Attach(options->attach);
  if (app.got_subcommand("list")) return RunList(options->list);
  if (app.got_subcommand("show")) {
    return options->show.open ? RunOpen(options->show) : RunShow(options->show);
  }
  if (app.got_subcommand("export")) {
    ExportOptions* trace = &options->trace_export;
    if (trace->output.empty() && !trace->systrace) {
      return UsageError("export: --output is required", "export");
    }
    if (trace->output.empty()) trace->output = "-";
    return RunExport(*trace);
  }
  if (app.got_subcommand("merge")) return RunMerge(options->merge);
  if (app.got_subcommand("symbolize")) {
    const std::string wrong = SymbolizeUsageError(options->symbolize);
    if (!wrong.empty()) return UsageError("symbolize: " + wrong, "symbolize");
    return RunSymbolize(options->symbolize);
  }
  if (app.got_subcommand("upload-symbols")) {
    const std::string wrong = UploadSymbolsUsageError(options->upload_symbols);
    if (!wrong.empty()) return UsageError("upload-symbols: " + wrong, "upload-symbols");
    return RunUploadSymbols(options->upload_symbols);
  }
  if (app.got_subcommand("record")) return RunRecord(options->record);
  if (app.got_subcommand("pull")) return RunPull(options->pull);
  if (app.got_subcommand("doctor")) return RunDoctor(options->doctor);
  if (app.got_subcommand("clean")) return RunClean(options->clean);
  if (app.got_subcommand("ring")) return RunRingDump(options->ring_dump);
  return WriteText(STDOUT_FILENO, BashCompletion(app)) ? kExitOk : kExitFailed;  // completion
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments) {
  const std::unique_ptr<CLI::App> app = MakeCommandApp();
  Options options;
  AddRun(app.get(), &options.run);
  AddSession(app.get(), &options.session);
  AddAttach(app.get(), &options.attach);
  AddList(app.get(), &options.list);
  AddShow(app.get(), &options.show);
  AddExport(app.get(), &options.trace_export);
  AddMerge(app.get(), &options.merge);
  AddSymbolize(app.get(), &options.symbolize);
  AddUploadSymbols(app.get(), &options.upload_symbols);
  AddRecord(app.get(), &options.record);
  AddPull(app.get(), &options.pull);
  AddDoctor(app.get(), &options.doctor);
  AddRing(app.get(), &options.ring_dump);
  AddClean(app.get(), &options.clean);
  AddCompletion(app.get());

  if (arguments.empty()) {
    (void)WriteText(STDERR_FILENO, app->help());
    return kExitUsage;
  }
  const std::vector<std::string> names = SubcommandNames(*app);
  if (arguments[0][0] != '-' &&
      std::find(names.begin(), names.end(), arguments[0]) == names.end()) {
    const std::string nearest = NearestWord(arguments[0], names);
    return UsageError("unknown command '" + arguments[0] + "'" +
                          (nearest.empty() ? "" : ". Did you mean '" + nearest + "'?"),
                      "");
  }
  if (arguments[0] == "run") return RunFromCommandLine(arguments);
  std::vector<std::string> parsed(arguments.rbegin(), arguments.rend());  // as CLI11 takes them
  try {
    app->parse(parsed);
  } catch (const CLI::ParseError& error) {
    return ParseFailed(*app, error);
  }
  return Dispatch(*app, &options);
}

}  // namespace jankbox::tools
