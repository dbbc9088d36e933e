#include "tests/collector/named_program.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/clock.h"
#include "base/file.h"
#include "base/process_runner.h"
#include "base/short_key.h"
#include "symbolize/debug_files.h"
#include "symbolize/symbol_lookup.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

std::string OutputOf(const std::vector<std::string>& argv) {
  std::string output;
  const CapturedEnd end =
      RunCaptured(argv, 60 * kNsPerSecond, {}, [&output](std::string_view piece) {
        output += piece;
        return true;
      });
  EXPECT_TRUE(end.how == CapturedEnd::How::kExited && end.status == 0) << argv[0] << end.err;
  return output;
}

}  // namespace

NamedProgram::NamedProgram(int release)
    : path_(std::string(JANKBOX_NAMED_PROGRAMS) + "/named_program" + std::to_string(release)),
      stripped_path_(path_ + ".stripped") {
  std::vector<std::string> problems;
  const std::vector<ElfIdentity> elf = IdentifyElfFiles({path_}, &problems);
  EXPECT_EQ(elf.size(), 1u) << path_;
  if (!elf.empty()) build_id_ = elf[0].build_id;
  std::map<std::string, uint64_t> sizes;
  std::istringstream lines(OutputOf({"nm", "-S", "--defined-only", path_}));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    uint64_t start = 0, size = 0;
    std::string type, name;
    if (words >> std::hex >> start >> size >> type >> name) {
      starts_[name] = start;
      sizes[name] = size;
    }
  }
  for (const std::string& function : Functions()) {
    std::set<uint64_t> addresses;
    for (uint64_t i = 0; i < sizes[function]; ++i) addresses.insert(starts_[function] + i);
    const Symbols symbols =
        LookUpSymbolsIn({{build_id_, {path_, ElfContents::kDebugInfo}}}, {{build_id_, addresses}});
    for (const auto& [address, calls] : symbols.modules.at(build_id_).calls) {
      if (calls.calls_size() == 2) inlined_[function] = address;
    }
    EXPECT_TRUE(inlined_.contains(function)) << function;
  }
}

std::string NamedProgram::Bytes() const { return ReadFile(path_, 64 << 20).value(); }

const std::vector<std::string>& NamedProgram::Functions() {
  static const std::vector<std::string> functions = {"decode_image", "lay_out_page",
                                                     "check_spelling"};
  return functions;
}

void NamedProgram::AddFrame(const std::string& function, uint64_t address,
                            proto::Frame* frame) const {
  frame->set_module("named_program");
  frame->set_build_id(build_id_);
  frame->set_rel_pc(address);
  frame->set_function_start(starts_.at(function));
}

proto::Report NamedProgram::Report(const std::string& function, const std::string& message) const {
  proto::Report report = SampleReport();
  report.set_kind(proto::SLOW_MESSAGE);
  report.set_what(message);
  report.set_process("named_program");
  report.set_fingerprint(ShortKey(build_id_ + function + message));
  report.clear_top_frames();
  proto::Identity* identity = report.mutable_identity();
  identity->set_exact_version(1);
  identity->set_app("named_program");
  identity->set_cause("running");
  identity->set_message(message);
  identity->set_basis("stack");
  char where[64];
  snprintf(where, sizeof(where), "named_program+0x%llx",
           static_cast<unsigned long long>(starts_.at(function)));
  identity->set_blamed_function(where);
  report.mutable_verdict()->set_summary(std::string("98 % running, in ") + where);
  for (const auto& [name, address] :
       {std::pair(function, inlined_.at(function)),
        std::pair(std::string("handle_click"), starts_.at("handle_click") + 4)}) {
    AddFrame(name, address, report.add_top_frames());
    AddFrame(name, address, identity->add_own_frames());
  }
  return report;
}

}  // namespace jankbox::collector
