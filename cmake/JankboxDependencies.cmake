# Every outside package, found once. docs/dependencies.md says why each is here.
include(GoogleTest)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(zstd CONFIG REQUIRED)
pkg_check_modules(LIBELF REQUIRED IMPORTED_TARGET libelf)
find_path(JANKBOX_LIBUNWIND_INCLUDE libunwind-x86_64.h)  # headers only: the library is loaded at run time
find_package(CURL REQUIRED)  # headers only inside the SDK: libcurl is loaded at run time
find_path(JANKBOX_XXHASH_INCLUDE xxhash.h REQUIRED)
if(JANKBOX_BUILD_PROGRAMS OR JANKBOX_BUILD_TESTS OR JANKBOX_BUILD_BENCHES)
  find_package(Protobuf REQUIRED)
  find_package(SQLite3 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(CLI11 REQUIRED)
  pkg_check_modules(TRACECMD REQUIRED IMPORTED_TARGET libtracecmd)
  pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
endif()
if(JANKBOX_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()

# xxHash, compiled into its users.
add_library(jankbox_xxhash INTERFACE)
target_include_directories(jankbox_xxhash SYSTEM INTERFACE $<BUILD_INTERFACE:${JANKBOX_XXHASH_INCLUDE}>)
target_compile_definitions(jankbox_xxhash INTERFACE XXH_INLINE_ALL)
