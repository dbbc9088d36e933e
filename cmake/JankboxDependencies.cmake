# Every outside package, found once. docs/dependencies.md says why each is here.
include(GoogleTest)
find_package(Threads REQUIRED)
find_path(JANKBOX_XXHASH_INCLUDE xxhash.h REQUIRED)
if(JANKBOX_PLATFORM STREQUAL "android")
  set(JANKBOX_LOG_LIBRARY log)
  include(JankboxZstd)
else()
  find_package(PkgConfig REQUIRED)
  find_package(spdlog REQUIRED)
  find_package(fmt REQUIRED)
  # Its headers only: each shared library is time at the start of every program.
  set(JANKBOX_LOG_LIBRARY jankbox_log_headers)
  add_library(jankbox_log_headers INTERFACE)
  target_compile_definitions(jankbox_log_headers INTERFACE SPDLOG_HEADER_ONLY SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY
    FMT_STATIC_THOUSANDS_SEPARATOR=',')  # without the C++ library's locales, which are 300 KiB
  find_package(zstd CONFIG REQUIRED)
  set(JANKBOX_ZSTD_LIBRARY zstd::libzstd_shared)
  pkg_check_modules(LIBELF REQUIRED IMPORTED_TARGET libelf)
  find_package(CURL REQUIRED)  # headers only inside the SDK: libcurl is loaded at run time
endif()
if(JANKBOX_BUILD_PROGRAMS OR JANKBOX_BUILD_TESTS OR JANKBOX_BUILD_BENCHES)
  set(Protobuf_USE_STATIC_LIBS ON)  # `jankbox run` starts every program that it records
  find_package(Protobuf REQUIRED)
  find_package(ZLIB REQUIRED)  # of the static libprotobuf
  target_link_libraries(protobuf::libprotobuf INTERFACE ZLIB::ZLIB)
endif()
if(JANKBOX_BUILD_PROGRAMS OR JANKBOX_BUILD_BENCHES)
  find_package(SQLite3 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(CLI11 REQUIRED)
  pkg_check_modules(TRACECMD REQUIRED IMPORTED_TARGET libtracecmd)
  pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
  pkg_check_modules(DEBUGINFOD REQUIRED IMPORTED_TARGET libdebuginfod)
  find_path(JANKBOX_IBERTY_INCLUDE libiberty/demangle.h REQUIRED)
  find_library(JANKBOX_IBERTY_LIBRARY iberty REQUIRED)
  pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
endif()
if(JANKBOX_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()

# xxHash, compiled into its users.
add_library(jankbox_xxhash INTERFACE)
target_include_directories(jankbox_xxhash SYSTEM INTERFACE $<BUILD_INTERFACE:${JANKBOX_XXHASH_INCLUDE}>)
target_compile_definitions(jankbox_xxhash INTERFACE XXH_INLINE_ALL)
