// A private folder that is gone again with everything in it when the object goes. One thread.
#ifndef JANKBOX_BENCH_HARNESS_TEMPORARY_FOLDER_H_
#define JANKBOX_BENCH_HARNESS_TEMPORARY_FOLDER_H_

#include <string>

namespace jankbox::bench {

class TemporaryFolder {
 public:
  // Below `parent`; empty: $TMPDIR, else /tmp. Throws std::runtime_error if none can be made.
  explicit TemporaryFolder(const std::string& parent = "");
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_TEMPORARY_FOLDER_H_
