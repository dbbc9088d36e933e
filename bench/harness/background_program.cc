#include "bench/harness/background_program.h"

#include <signal.h>
#include <sys/prctl.h>

#include <cstring>
#include <stdexcept>

namespace jankbox::bench {

BackgroundProgram::BackgroundProgram(const std::vector<std::string>& argv) {
  constexpr ChildStream kNowhere = ChildStream::kNowhere;
  const int error = process_.Start(
      {.argv = argv, .in = kNowhere, .out = kNowhere, .err = kNowhere, .in_child = [] {
         prctl(PR_SET_PDEATHSIG, SIGTERM);
       }});
  if (error != 0) throw std::runtime_error(argv[0] + ": " + strerror(error));
}

BackgroundProgram::~BackgroundProgram() {
  process_.Signal(SIGTERM);
  process_.Wait();
}

}  // namespace jankbox::bench
