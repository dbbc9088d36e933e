// Rings of a test in a folder of their own, where no other program collects those of dead
// processes. Made before anything looks for rings.
#ifndef JANKBOX_TESTS_TRACER_RING_PRIVATE_RING_PLACE_H_
#define JANKBOX_TESTS_TRACER_RING_PRIVATE_RING_PLACE_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace jankbox {

class PrivateRingPlace {
 public:
  PrivateRingPlace() {
    char name[] = "/dev/shm/jankbox-test-XXXXXX";
    if (mkdtemp(name) == nullptr) abort();
    path_ = name;
    setenv("XDG_RUNTIME_DIR", name, 1);
  }
  ~PrivateRingPlace() {
    unsetenv("XDG_RUNTIME_DIR");
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateRingPlace(const PrivateRingPlace&) = delete;
  PrivateRingPlace& operator=(const PrivateRingPlace&) = delete;

 private:
  std::string path_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_RING_PRIVATE_RING_PLACE_H_
