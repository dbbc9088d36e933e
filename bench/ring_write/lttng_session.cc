#include "bench/ring_write/lttng_session.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "bench/harness/child_program.h"

namespace jankbox::bench {
namespace {

constexpr int kWaitSteps = 50;
constexpr timespec kWaitStep = {0, 100'000'000};

// `lttng ARGUMENTS...`, which must work.
void Lttng(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"lttng", "--no-sessiond", "--quiet"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const ChildResult result = RunProgram(argv);
  if (result.exit_status == 0) return;
  throw std::runtime_error("lttng " + arguments[0] +
                           " failed: " + result.errors.substr(0, result.errors.find('\n')));
}

bool DaemonAnswers() {
  return RunProgram({"lttng", "--no-sessiond", "--quiet", "list"}).exit_status == 0;
}

}  // namespace

LttngSession::LttngSession(const std::string& folder)
    : name_("jankbox-bench-" + std::to_string(getpid())) {
  if (access(BenchPart("lttng_provider.so").c_str(), R_OK) != 0) {
    throw std::runtime_error("built without liblttng-ust-dev");
  }
  if (RunProgram({"lttng", "--version"}).exit_status != 0) {
    throw std::runtime_error("no lttng command: lttng-tools is not installed");
  }
  setenv("LTTNG_HOME", folder.c_str(), 1);
  setenv("LTTNG_UST_REGISTER_TIMEOUT", "3000", 1);
  if (!DaemonAnswers()) StartDaemon();
  CreateSession(folder);
  try {
    LoadProvider();
  } catch (...) {
    RunProgram({"lttng", "--no-sessiond", "destroy", name_});
    throw;
  }
}

LttngSession::~LttngSession() { RunProgram({"lttng", "--no-sessiond", "destroy", name_}); }

void LttngSession::StartDaemon() {
  daemon_ = std::make_unique<BackgroundProgram>(
      std::vector<std::string>{"lttng-sessiond", "--no-kernel"});
  for (int i = 0; i < kWaitSteps && daemon_->Running(); ++i) {
    if (DaemonAnswers()) return;
    nanosleep(&kWaitStep, nullptr);
  }
  throw std::runtime_error("lttng-sessiond does not start");
}

void LttngSession::CreateSession(const std::string& folder) {
  Lttng({"create", name_, "--snapshot", "--output=" + folder + "/trace"});
  const std::string session = "--session=" + name_;
  Lttng({"enable-channel", "--userspace", session, "--subbuf-size=1M", "--num-subbuf=8", "bench"});
  Lttng({"enable-event", "--userspace", session, "--channel=bench", "jankbox_bench:*"});
  Lttng({"start", name_});
}

void LttngSession::LoadProvider() {
  void* provider = dlopen(BenchPart("lttng_provider.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (provider == nullptr) throw std::runtime_error(dlerror());
  pairs_ = reinterpret_cast<void (*)(uint32_t)>(dlsym(provider, "jankbox_bench_lttng_pairs"));
  auto* enabled = reinterpret_cast<int (*)()>(dlsym(provider, "jankbox_bench_lttng_enabled"));
  for (int i = 0; i < kWaitSteps; ++i) {
    if (enabled() == 1) return;
    nanosleep(&kWaitStep, nullptr);
  }
  throw std::runtime_error("the LTTng session does not record this process");
}

}  // namespace jankbox::bench
