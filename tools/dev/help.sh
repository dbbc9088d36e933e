# The help of each command of ./dev.
# shellcheck shell=bash

usage() {
  cat <<'TXT'
usage: ./dev COMMAND [ARGS]      (./dev COMMAND --help for more)

  setup             install the packages that the project needs (Debian 12; asks for root once)
  build [PRESET]    build a preset: dev, release (default), asan-ubsan, tsan, clang, fuzz, or for another machine
  test              run the tests and the checks; --all adds sanitizers, fuzzers and arm64
  demo              show real jank in a real GTK program, recorded and explained
  bench [NAME]      run the benches, or one of them
  zoo [PROGRAM...]  run real programs with and without Jankbox, and check that none is harmed or accused
  fuzz [SECONDS]    run every fuzzer for that long
  arm64 [SUITE...]  run the unit tests for arm64 Linux under qemu-user
  lint              check the sources: format, layers, headers, exports, sizes; --all adds the slow checks
  aar               pack the Android library

Exit status: 0 success, 1 something failed, 2 the command line is wrong.
TXT
}

usage_of() {
  "usage_of_$1"
}

usage_of_setup() {
  cat <<'TXT'
usage: ./dev setup
Installs the missing packages of tools/debian_packages.txt, as root or with one call of sudo. Does nothing if all of
them are installed. Keeps an existing Node.js and npm. Log: build/setup.log.
TXT
}

usage_of_build() {
  cat <<TXT
usage: ./dev build [PRESET]
Configures and builds one preset of CMakePresets.json in build/PRESET [release]. Log: build/PRESET.log. Presets:
  $(presets)
The presets for Android need Google's NDK (its folder in ANDROID_NDK_HOME) and the source of zstd: see
docs/guides/cross-builds.md.
TXT
}

usage_of_test() {
  cat <<'TXT'
usage: ./dev test [--all] [--soak] [CTEST ARGS...]
Sets up, builds the release preset, runs its tests, then ./dev lint. Takes at most 15 minutes on 2 cores.
  --all        also run: all of lint, a build by clang with -Wthread-safety, the unit tests of the library and the
               collector under ASan and UBSan, the tests of ring, hooks and interposed functions under TSan, some unit
               tests for arm64 under qemu-user, the Debian package in a fresh Debian with the README's commands, and
               every fuzzer for 10 s. Takes at most 75 minutes. CI runs this.
  --soak       run the tests that watch for minutes in full length; with --all also the command and whole
               programs under ASan, all unit tests for arm64, and the Android checks for all four ABIs
  CTEST ARGS   choose tests (for example -R RingReader). Then only the tests run, with --all under ASan and UBSan too.
Each stage reports its seconds, and its counts are in the summary. No test runs a second time after it has failed.
JANKBOX_SKIP_SETUP=1 leaves the installed packages unchanged.
TXT
}

usage_of_demo() {
  cat <<'TXT'
usage: ./dev demo [--keep]
Sets up, builds, and shows Jankbox at work: gtk3-widget-factory and sample/, a collector, the incidents and their causes.
  --keep       leave the collector running
JANKBOX_SKIP_SETUP=1 leaves the installed packages unchanged.
TXT
}

usage_of_bench() {
  cat <<'TXT'
usage: ./dev bench [NAME] [--json] [ARGS...]
Sets up, builds the benches of the release preset, and runs build/release/bin/bench_NAME, or all of them one after
another (20 min).
  --json       each bench prints its result as one JSON object, and nothing else is printed
  ARGS         after NAME: arguments of the bench (--workload FILE, --frames N …); see ./dev bench NAME -- --help
JANKBOX_SKIP_SETUP=1 leaves the installed packages unchanged.
TXT
}

usage_of_zoo() {
  cat <<'TXT'
usage: ./dev zoo [--rounds N] [--idle S] [--long S] [--slow-ms MS] [--jobs N] [--no-costs] [--stalls|--starts] [--json] [PROGRAM...]
Builds the release preset, and runs each program of tests/zoo/programs.toml, or the named ones, idle without and with
`jankbox run` in turn (N times [3], S seconds [8]), once more for a minute [--long 60], with the keys of a user, and with
each of its planted stalls (--stalls: with these only). A program fails if it ends in another way, is reported without a
stall, takes more CPU time or starts later (--starts: this only); more than 5 % of the stalls not reported with their
cause is a failure, too. Programs that are not installed are skipped by name: install what you want to see. 60 minutes
at most.
TXT
}

usage_of_fuzz() {
  cat <<'TXT'
usage: ./dev fuzz [SECONDS]
Builds every fuzzer (clang, libFuzzer, ASan, UBSan) and runs each for SECONDS [60]. The corpus stays in
build/fuzz/corpus/NAME. An input that makes a reader fail is kept in build/fuzz/artifacts/NAME, and the exit status is 1.
TXT
}

usage_of_arm64() {
  cat <<'TXT'
usage: ./dev arm64 [SUITE...] [--filter PATTERN]
Builds the unit tests of the in-app code with Debian's cross compiler and runs them, or the named ones (ring_test …),
under qemu-user. Tests that cannot run there are listed with their reasons. Without SUITE, it also builds libjankbox.so
for arm64 and checks its exports, 16 KiB pages, text relocations and branch protection.
Logs: build/linux-arm64.log, build/arm64-test.log.

  --filter PATTERN  only the tests of that name (for example 'RingReader.*')
TXT
}

usage_of_lint() {
  cat <<'TXT'
usage: ./dev lint [--all]
Runs the checks of tools/checks and prints the seconds of each: format, layers, headers, packages, sizes, and the
exports of the libraries if they are built.
  --all        also run the checks that take more than a minute (each header compiles; the Android sources
               compile for API 21 and need no later function; clang-tidy)
TXT
}

usage_of_aar() {
  cat <<'TXT'
usage: ./dev aar [--out FILE] [--build FOLDER] [--strip PROGRAM]
Packs sdk/android into build/jankbox.aar [--out FILE]: the Java classes, and with Prefab the native libraries in
FOLDER/android-ABI/lib [build], one folder for each preset that was built with the NDK. See docs/guides/android.md.
TXT
}
