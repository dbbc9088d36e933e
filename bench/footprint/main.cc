// The cost of Jankbox when nothing happens: bytes on disk, memory beyond the ring, and the
// time of the thread that starts it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "bench/footprint/memory_use.h"
#include "bench/harness/bench_main.h"
#include "bench/harness/child_program.h"
#include "bench/harness/progress.h"
#include "bench/harness/rounds.h"
#include "bench/harness/temporary_folder.h"

namespace jankbox::bench {
namespace {

constexpr int kHosts = 5;
constexpr int kStarts = 50;

class Footprint {
 public:
  Json Run() {
    Json results;
    results["so_stripped_bytes"] = StrippedBytes(BuiltLibrary("libjankbox.so"));
    MeasureMemory(&results);
    results["start_main_thread_us"] = StartMedianUs();
    Json& sizes = results["stripped_bytes"];
    sizes["libjankbox.so"] = results["so_stripped_bytes"];
    sizes["libjankbox_agent.so"] = StrippedBytes(BuiltLibrary("libjankbox_agent.so"));
    sizes["jankbox"] = StrippedBytes(BuiltProgram("jankbox"));
    sizes["jankbox-collector"] = StrippedBytes(BuiltProgram("jankbox-collector"));
    return results;
  }

 private:
  uint64_t StrippedBytes(const std::string& path) {
    const std::string stripped = folder_.path() + "/stripped";
    const ChildResult child = RunProgram({"strip", "--strip-all", "-o", stripped, path});
    if (child.exit_status != 0) throw std::runtime_error("strip: " + child.errors);
    return std::filesystem::file_size(stripped);
  }

  MemoryUse HostMemory(const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {BenchPart("footprint_host")};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const ChildResult child = RunProgram(argv);
    if (child.exit_status != 0) throw std::runtime_error("footprint_host: " + child.errors);
    return SumSmaps(child.output);
  }

  void MeasureMemory(Json* results) {
    std::vector<double> extra, extra_dirty, plain, carrying, ring_rss, ring_mapped;
    Progress progress("footprint");
    for (int i = 0; i < kHosts; ++i) {
      const MemoryUse without = HostMemory({});
      const MemoryUse with = HostMemory({BuiltLibrary("libjankbox.so"), folder_.path()});
      plain.push_back(static_cast<double>(without.rss_bytes));
      carrying.push_back(static_cast<double>(with.rss_bytes));
      extra.push_back(carrying.back() - plain.back());
      extra_dirty.push_back(static_cast<double>(with.private_dirty_bytes) -
                            static_cast<double>(without.private_dirty_bytes));
      ring_rss.push_back(static_cast<double>(with.ring_rss_bytes));
      ring_mapped.push_back(static_cast<double>(with.ring_mapped_bytes));
      progress.Step(static_cast<uint64_t>(i) + 1, kHosts);
    }
    (*results)["rss_extra_bytes"] = Median(extra);  // beyond the ring
    Json& memory = (*results)["memory"];
    memory["rss_without_bytes"] = Median(plain);
    memory["rss_with_beyond_ring_bytes"] = Median(carrying);
    memory["private_dirty_extra_bytes"] = Median(extra_dirty);
    memory["ring_file_bytes"] = Median(ring_mapped);
    memory["ring_rss_bytes"] = Median(ring_rss);
  }

  double StartMedianUs() {
    std::vector<double> us;
    for (int i = 0; i < kStarts; ++i) {
      const ChildResult child = RunProgram({BenchPart("start_once"), folder_.path()});
      unsigned long long ns = 0;
      if (child.exit_status != 0 || sscanf(child.output.c_str(), "%llu", &ns) != 1) {
        throw std::runtime_error("start_once: " + child.errors);
      }
      us.push_back(static_cast<double>(ns) / 1e3);
    }
    return Rounded(Median(us));
  }

  TemporaryFolder folder_;
};

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  return jankbox::bench::BenchMain(
      {.name = "footprint",
       .question =
           "What carrying Jankbox costs: bytes on disk, memory beyond the ring, time of the "
           "starting thread",
       .run = [] { return jankbox::bench::Footprint().Run(); }},
      argc, argv);
}
