// Two releases of a program with debug information, and reports of their stripped builds, written
// by hand with addresses of the real files.
#ifndef JANKBOX_TESTS_COLLECTOR_NAMED_PROGRAM_H_
#define JANKBOX_TESTS_COLLECTOR_NAMED_PROGRAM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/report.pb.h"

namespace jankbox::collector {

class NamedProgram {
 public:
  // 1 or 2.
  explicit NamedProgram(int release);

  const std::string& path() const { return path_; }
  const std::string& stripped_path() const { return stripped_path_; }
  const std::string& build_id() const { return build_id_; }
  std::string Bytes() const;

  static const std::vector<std::string>& Functions();  // that are blamed

  // A slow message in `function`, whose frames have no names: a provisional group for all functions
  // of a message.
  proto::Report Report(const std::string& function, const std::string& message = "click") const;

 private:
  // The address where a call is inlined into `function`.
  uint64_t InlinedAt(const std::string& function) const;
  void AddFrame(const std::string& function, uint64_t address, proto::Frame* frame) const;

  std::string path_;
  std::string stripped_path_;
  std::string build_id_;
  std::map<std::string, uint64_t> starts_;
  std::map<std::string, uint64_t> inlined_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_TESTS_COLLECTOR_NAMED_PROGRAM_H_
