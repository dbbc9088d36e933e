#include "collector/symbols/symbol_worker.h"

#include <sys/resource.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "collector/symbols/symbol_job.pb.h"
#include "report/report_file.h"
#include "symbolize/debug_files.h"
#include "symbolize/java_names.h"
#include "symbolize/symbol_lookup.h"
#include "symbolize/trace_names.h"

namespace jankbox::collector {
namespace {

using symbolproto::SymbolAnswer;
using symbolproto::SymbolJob;

constexpr int kMaxCalls = 10'000;  // of an answer
constexpr int kLowestPriority = 19;
constexpr char kFirstToEnd[] = "1000";  // when memory is short, before the collector

bool ReadFully(int fd, char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = read(fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool ReadJob(SymbolJob* job) {
  uint32_t size = 0;
  if (!ReadFully(STDIN_FILENO, reinterpret_cast<char*>(&size), sizeof(size))) return false;
  if (size > kMaxSymbolMessageBytes) return false;
  std::string bytes(size, '\0');
  return ReadFully(STDIN_FILENO, bytes.data(), size) && job->ParseFromString(bytes);
}

// Ends the process if the collector is gone.
void Answer(const SymbolAnswer& answer) {
  const std::string bytes = answer.SerializeAsString();
  const uint32_t size = static_cast<uint32_t>(bytes.size());
  std::string message(reinterpret_cast<const char*>(&size), sizeof(size));
  message += bytes;
  if (!WriteFully(STDOUT_FILENO, message).ok()) _exit(1);
}

void AnswerProblem(const std::string& problem) {
  SymbolAnswer answer;
  answer.set_problem(problem);
  Answer(answer);
}

void Identify(const symbolproto::IdentifyJob& job) {
  if (job.mapping() && job.paths_size() == 1) {
    const Result<JavaNames> names = LookUpJavaNames(job.paths(0), {});
    if (!names.ok()) AnswerProblem(names.status().message());
    return;
  }
  std::vector<std::string> problems;
  for (const ElfIdentity& elf :
       IdentifyElfFiles({job.paths().begin(), job.paths().end()}, &problems)) {
    SymbolAnswer answer;
    answer.mutable_elf()->set_path(elf.path);
    answer.mutable_elf()->set_build_id(elf.build_id);
    answer.mutable_elf()->set_contents(static_cast<uint32_t>(elf.contents));
    Answer(answer);
  }
  for (const std::string& problem : problems) AnswerProblem(problem);
}

void AnswerModule(const std::string& build_id, const ModuleSymbols& module) {
  SymbolAnswer answer;
  symbolproto::ModuleNames* names = answer.mutable_module();
  const auto begin = [&] {
    names->Clear();
    names->set_build_id(build_id);
    names->set_problem(module.problem);
  };
  begin();
  for (const auto& [address, calls] : module.calls) {
    *names->add_calls() = calls;
    if (names->calls_size() < kMaxCalls) continue;
    Answer(answer);
    begin();
  }
  Answer(answer);
}

void AnswerJava(const symbolproto::MappedCalls& asked) {
  SymbolAnswer answer;
  answer.mutable_java()->set_key(asked.key());
  const Result<JavaNames> names =
      LookUpJavaNames(asked.path(), {asked.calls().begin(), asked.calls().end()});
  if (!names.ok()) {
    answer.mutable_java()->set_problem(names.status().message());
    return Answer(answer);
  }
  for (const auto& [call, originals] : names.value()) {
    symbolproto::JavaCalls* calls = answer.mutable_java()->add_calls();
    calls->set_call(call);
    for (const std::string& original : originals) calls->add_originals(original);
  }
  Answer(answer);
}

void LookUp(const symbolproto::LookUpJob& job) {
  for (const symbolproto::ModuleAddresses& asked : job.modules()) {
    const std::string& build_id = asked.build_id();
    const Symbols symbols =
        LookUpSymbolsIn({{build_id, {asked.path(), ElfContents::kDebugInfo}}},
                        {{build_id, {asked.addresses().begin(), asked.addresses().end()}}});
    AnswerModule(build_id, symbols.modules.at(build_id));
  }
  for (const symbolproto::MappedCalls& asked : job.java()) AnswerJava(asked);
}

Result<TraceStacks> ReadTrace(const std::string& path) {
  const Result<std::string> file = ReadFile(path, kMaxReportFileBytes);
  if (!file.ok()) return file.status();
  const Result<ReportFileParts> parts = SplitReportFile(file.value());
  if (!parts.ok()) return parts.status();
  return ReadTraceStacks(parts.value());
}

void AnswerTrace(int index, const Result<TraceStacks>& stacks) {
  SymbolAnswer answer;
  symbolproto::TraceFrames* trace = answer.mutable_trace();
  trace->set_index(static_cast<uint32_t>(index));
  if (!stacks.ok()) {
    trace->set_problem(stacks.status().message());
  } else {
    trace->set_free_sequence(stacks->free_sequence);
    for (const auto& [mapping, addresses] : stacks->addresses) {
      symbolproto::TraceModule* module = trace->add_modules();
      module->set_path(mapping.first);
      module->set_build_id(mapping.second);
      module->mutable_addresses()->Add(addresses.begin(), addresses.end());
    }
  }
  Answer(answer);
}

void AskServers(const symbolproto::AskServersJob& job) {
  SymbolAnswer answer;
  answer.set_path(AskDebuginfod(job.build_id()));
  Answer(answer);
}

void Work(const SymbolJob& job) {
  if (job.has_identify()) Identify(job.identify());
  if (job.has_look_up()) LookUp(job.look_up());
  if (job.has_ask_servers()) AskServers(job.ask_servers());
  for (int i = 0; i < job.read_traces().paths_size(); ++i) {
    AnswerTrace(i, ReadTrace(job.read_traces().paths(i)));
  }
}

}  // namespace

int RunSymbolWorker() {
  close_range(STDERR_FILENO + 1, UINT_MAX, 0);
  signal(SIGPIPE, SIG_IGN);
  setpriority(PRIO_PROCESS, 0, kLowestPriority);
  if (FILE* const file = fopen("/proc/self/oom_score_adj", "we")) {
    fputs(kFirstToEnd, file);
    fclose(file);
  }
  SymbolJob job;
  if (!ReadJob(&job)) return EXIT_FAILURE;
  Work(job);
  return EXIT_SUCCESS;
}

}  // namespace jankbox::collector
