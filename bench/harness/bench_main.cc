#include "bench/harness/bench_main.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "bench/harness/result_tables.h"

namespace jankbox::bench {
namespace {

bool ColourOn() {
  const char* no_colour = getenv("NO_COLOR");
  const char* terminal = getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string(terminal) != "dumb");
}

}  // namespace

double Rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

int BenchMain(const Bench& bench, int argc, char** argv) {
  CLI::App app(bench.question, "bench_" + bench.name);
  bool json = false;
  app.add_flag("--json", json, "Print one JSON object instead of tables");
  if (bench.add_options) bench.add_options(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    Json output;
    output["bench"] = bench.name;
    output["machine"] = DescribeMachine();
    output["results"] = bench.run();
    const std::string text = json ? output.dump(2) + "\n" : ResultTables(output, ColourOn());
    if (fputs(text.c_str(), stdout) < 0 || fflush(stdout) != 0) return 1;
    return 0;
  } catch (const std::exception& error) {
    fprintf(stderr, "bench_%s: %s\n", bench.name.c_str(), error.what());
    return 1;
  }
}

}  // namespace jankbox::bench
