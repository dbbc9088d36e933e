#include "bench/harness/child_program.h"

#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/process_runner.h"

namespace jankbox::bench {
namespace {

std::filesystem::path BuildFolder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

}  // namespace

ChildResult RunProgram(const std::vector<std::string>& argv) {
  ChildResult result;
  CapturedEnd end = RunCaptured(argv, UINT64_MAX, {}, [&result](std::string_view piece) {
    result.output.append(piece);
    return true;
  });
  result.errors = std::move(end.err);
  switch (end.how) {
    case CapturedEnd::How::kExited:
      result.exit_status = end.status;
      break;
    case CapturedEnd::How::kKilled:
      result.exit_status = 128 + end.status;
      break;
    default:
      result.exit_status = 127;
  }
  return result;
}

std::string BenchPart(const std::string& name) { return BuildFolder() / "bench_parts" / name; }
std::string BuiltLibrary(const std::string& name) { return BuildFolder() / "lib" / name; }
std::string BuiltProgram(const std::string& name) { return BuildFolder() / "bin" / name; }

}  // namespace jankbox::bench
