// Tests that run under an emulator, in which an instruction costs ten: tests/arm64/run_suites.py
// says so. What counts or waits for less there asks here.
#ifndef JANKBOX_TESTS_EMULATOR_H_
#define JANKBOX_TESTS_EMULATOR_H_

#include <cstdlib>

namespace jankbox {

inline bool UnderEmulator() { return getenv("JANKBOX_TEST_EMULATED") != nullptr; }

// `native` on a machine, `emulated` under an emulator.
template <typename T>
T ByMachine(T native, T emulated) {
  return UnderEmulator() ? emulated : native;
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_EMULATOR_H_
