// While it lives, the process gets `more` descriptors, and EMFILE after that.
#ifndef JANKBOX_TESTS_UPLOADER_FEW_DESCRIPTORS_H_
#define JANKBOX_TESTS_UPLOADER_FEW_DESCRIPTORS_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace jankbox {

class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    const int next = fcntl(0, F_DUPFD_CLOEXEC, 0);
    EXPECT_GE(next, 0);
    close(next);
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &old_), 0);
    const rlimit few = {static_cast<rlim_t>(next) + more, old_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &old_), 0); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit old_ = {};
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_UPLOADER_FEW_DESCRIPTORS_H_
