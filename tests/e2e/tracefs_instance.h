// A tracing instance of the kernel's own for one test: buffers and settings that no other thread
// sees.
#ifndef JANKBOX_TESTS_E2E_TRACEFS_INSTANCE_H_
#define JANKBOX_TESTS_E2E_TRACEFS_INSTANCE_H_

#include <string>

namespace jankbox {

class TracefsInstance {
 public:
  TracefsInstance();
  ~TracefsInstance();  // removes it
  TracefsInstance(const TracefsInstance&) = delete;
  TracefsInstance& operator=(const TracefsInstance&) = delete;

  // Empty if there is one; else why not, naming the folder: tests are then skipped.
  const std::string& missing() const { return missing_; }

  std::string Path(const std::string& file) const { return folder_ + "/" + file; }
  bool Write(const std::string& file, const std::string& text) const;

  // The buffer as text, without its comments, or why it cannot be read.
  std::string Trace() const;

 private:
  std::string folder_;
  std::string missing_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_E2E_TRACEFS_INSTANCE_H_
