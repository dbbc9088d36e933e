// jankbox-collector: receives sealed reports, keeps them, and shows them.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "collector/collector.h"
#include "collector/symbols/symbol_worker.h"
#include "report/report_file.h"

namespace {

using jankbox::Result;
using jankbox::collector::Collector;
using jankbox::collector::CollectorOptions;
using jankbox::collector::ListenAddress;

constexpr int kExitError = 1;
constexpr int kExitUsage = 2;
constexpr unsigned kStopGraceSeconds = 4;
constexpr uint64_t kMaxSymbolsMib = 1u << 20;
constexpr size_t kMaxReportMib = jankbox::kMaxReportFileBytes >> 20;

int Fail(const std::string& message, int exit_code) {
  fprintf(stderr, "jankbox-collector: %s\n", message.c_str());
  return exit_code;
}

// Serves until SIGTERM or SIGINT.
int Serve(const CollectorOptions& options) {
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  // Before the first thread, so that all of them leave these to sigwait.
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a client or a reader of files that is gone
  umask(077);

  Result<std::unique_ptr<Collector>> collector = Collector::Start(options);
  if (!collector.ok()) return Fail(collector.status().message(), kExitError);
  printf("jankbox-collector: listening on %s, data in %s\n", collector.value()->url().c_str(),
         options.directory.c_str());
  fflush(stdout);
  int stop_signal = 0;
  sigwait(&stop_signals, &stop_signal);
  // A client that sends its request very slowly could delay the stop indefinitely. Acknowledged
  // reports are durable, so unfinished requests may be abandoned.
  signal(SIGALRM, [](int) { _exit(0); });
  alarm(kStopGraceSeconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using jankbox::collector::kSymbolWorker;
  if (argc == 2 && strcmp(argv[1], kSymbolWorker) == 0)
    return jankbox::collector::RunSymbolWorker();
  CLI::App app(
      "Receives Jankbox reports over HTTP, stores them in a folder and shows them on a web page.",
      "jankbox-collector");
  app.set_version_flag("--version", "jankbox-collector " JANKBOX_VERSION);
  std::string listen = "127.0.0.1:8750";
  size_t max_report_mib = 16;
  uint64_t max_symbols_mib = 2048;
  CollectorOptions options;
  options.directory = "./jankbox-data";
  app.add_option("--listen", listen, "HOST:PORT to listen on; port 0 means any free port")
      ->capture_default_str();
  app.add_option("--data", options.directory,
                 "Folder for the reports; created if it does not exist")
      ->capture_default_str();
  app.add_option("--max-report-mib", max_report_mib, "Largest report to accept, in MiB")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, kMaxReportMib));
  app.add_option("--symbols", options.symbol_folders,
                 "Folder of debug files, with any names, for the names of functions; can be "
                 "repeated. It is searched again every few seconds")
      ->type_name("DIR");
  app.add_option("--max-symbols-mib", max_symbols_mib,
                 "Largest debug file or mapping to accept, in MiB")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, kMaxSymbolsMib));
  app.add_flag("--allow-remote", options.allow_remote,
               "Allow a --listen address that other machines can reach; there is no password");
  app.add_option(
      "--host-name", options.host_names,
      "Host name that browsers and apps use for this collector, other than localhost and "
      "the host of --listen; can be repeated");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  Result<ListenAddress> address = jankbox::collector::ParseListenAddress(listen);
  if (!address.ok()) return Fail("--listen: " + address.status().message(), kExitUsage);
  options.listen = address.value();
  options.max_report_bytes = max_report_mib << 20;
  options.max_symbol_bytes = max_symbols_mib << 20;
  return Serve(options);
}
