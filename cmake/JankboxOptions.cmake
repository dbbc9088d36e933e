# Twins: <name>_linux.cc and <name>_android.cc.
if(CMAKE_SYSTEM_NAME STREQUAL "Android")
  set(JANKBOX_PLATFORM android)
else()
  set(JANKBOX_PLATFORM linux)
endif()

# Build options. Everything but the SDK itself is built by default only when Jankbox is the top project, and never for Android.
set(JANKBOX_BUILD_DEFAULT ${PROJECT_IS_TOP_LEVEL})
if(JANKBOX_PLATFORM STREQUAL "android")
  set(JANKBOX_BUILD_DEFAULT OFF)
endif()
option(JANKBOX_BUILD_PROGRAMS "Build jankbox and jankbox-collector" ${JANKBOX_BUILD_DEFAULT})
option(JANKBOX_BUILD_SAMPLES "Build sample/" ${JANKBOX_BUILD_DEFAULT})
option(JANKBOX_BUILD_TESTS "Build tests/ (without the programs: the unit tests of what runs inside an app)" ${JANKBOX_BUILD_DEFAULT})
option(JANKBOX_BUILD_BENCHES "Build bench/" ${JANKBOX_BUILD_DEFAULT})
option(JANKBOX_BUILD_FUZZERS "Build the libFuzzer targets of tests/fuzz (clang only)" OFF)
option(JANKBOX_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(JANKBOX_UNITY "Compile sources of programs and tests together, and precompile headers: a full build takes half the time" OFF)
set(JANKBOX_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")

# libjankbox.so by link-time optimisation: a sixth smaller. GCC's objects hold ordinary code too, which everything else is linked from;
# Clang's do not, so it has to be Android, where there is nothing else.
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR JANKBOX_PLATFORM STREQUAL "android") AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" AND NOT JANKBOX_SANITIZE)
  set(JANKBOX_LTO_DEFAULT ON)
endif()
option(JANKBOX_LTO "Optimise libjankbox.so at link time" ${JANKBOX_LTO_DEFAULT})

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/static)
include(GNUInstallDirs)
