#include "bench/harness/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace jankbox::bench {

TemporaryFolder::TemporaryFolder(const std::string& parent) {
  const char* tmpdir = getenv("TMPDIR");
  path_ = !parent.empty() ? parent : tmpdir != nullptr && *tmpdir == '/' ? tmpdir : "/tmp";
  path_ += "/jankbox-bench-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error(path_ + ": " + strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace jankbox::bench
