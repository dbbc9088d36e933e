// The cost of Jankbox for a Java program on a VM: begin and end against an empty native call, and a
// message of AOSP's own Looper with our printer against two reads of the clock. The program is
// tests/android/java/dev/jankbox/CallCost.java.
#include <CLI/CLI.hpp>
#include <stdexcept>

#include "bench/harness/bench_main.h"
#include "bench/harness/child_program.h"
#include "bench/harness/temporary_folder.h"

namespace jankbox::bench {
namespace {

Json Run(uint32_t rounds) {
  const ChildResult built =
      RunProgram({"python3", JANKBOX_BENCH_BUILD_CLASSES, "--cache", JANKBOX_BENCH_SOURCE_CACHE,
                  "--javac", JANKBOX_BENCH_JAVAC, "--out", JANKBOX_BENCH_OUT});
  if (built.exit_status != 0) throw std::runtime_error(built.output + built.errors);
  TemporaryFolder folder;
  const ChildResult java = RunProgram(
      {JANKBOX_BENCH_JAVA, "-Xmx256m", "-XX:+UseSerialGC", "-cp", JANKBOX_BENCH_OUT "/classes",
       "-Djava.library.path=" JANKBOX_BENCH_LIBRARIES, "dev.jankbox.CallCost",
       BuiltLibrary("libandroid_poll_layer.so"), folder.path(), std::to_string(rounds)});
  if (java.exit_status != 0) throw std::runtime_error(java.errors);
  Json results = Json::parse(java.output);
  const auto median = [&results](const char* kernel) {
    return results["ns"][kernel]["median_ns"].get<double>();
  };
  Json ratios;
  ratios["begin_end_vs_2_empty_natives"] = Rounded(median("begin_end") / median("2_empty_natives"));
  ratios["begin_end_vs_2_clock_reads"] = Rounded(median("begin_end") / median("2_clock_reads"));
  ratios["printer_lines_vs_2_clock_reads"] =
      Rounded(median("printer_lines") / median("2_clock_reads"));
  // Without what the Looper itself does for any printer: it puts the lines together.
  ratios["our_part_of_a_message_vs_2_clock_reads"] =
      Rounded(median("our_part_of_a_message") / median("2_clock_reads"));
  results["ratios"] = std::move(ratios);
  return results;
}

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  uint32_t rounds = 200;
  return jankbox::bench::BenchMain(
      {.name = "jni_overhead",
       .question = "What events and messages of a Java program cost, on a VM",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--rounds", rounds, "Rounds of 20,000 calls each")
                 ->check(CLI::Range(5, 100000))
                 ->capture_default_str();
           },
       .run = [&] { return jankbox::bench::Run(rounds); }},
      argc, argv);
}
