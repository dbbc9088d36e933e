# Debian's clang for Android at API 21, over headers that Debian has. What it makes shows which functions Jankbox calls;
# it runs nowhere. For tools/checks/check_android, which lays out build/cross/android and build/cross/android_stubs first.
set(CMAKE_SYSTEM_NAME Android)
set(CMAKE_SYSTEM_VERSION 1)  # CMake looks for no NDK
if(NOT DEFINED JANKBOX_LINT_TARGET)
  set(JANKBOX_LINT_TARGET aarch64-linux-android21)
  set(JANKBOX_LINT_MUSL android/usr/include/aarch64-linux-musl)
  set(JANKBOX_LINT_STUBS android_stubs)
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES JANKBOX_LINT_TARGET JANKBOX_LINT_MUSL JANKBOX_LINT_STUBS)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${JANKBOX_LINT_TARGET})
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_C_COMPILER_TARGET ${JANKBOX_LINT_TARGET})
set(CMAKE_CXX_COMPILER_TARGET ${JANKBOX_LINT_TARGET})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

get_filename_component(jankbox_source_dir ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(jankbox_cross_dir ${jankbox_source_dir}/build/cross)
set(jankbox_android_include ${jankbox_source_dir}/tests/android/include)
string(JOIN " " jankbox_libc_flags
  -D__BIONIC__ -D_GNU_SOURCE -nostdlibinc
  -isystem ${jankbox_cross_dir}/${JANKBOX_LINT_STUBS}/include
  -isystem ${jankbox_cross_dir}/${JANKBOX_LINT_MUSL})
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "armv7a")
  string(APPEND jankbox_libc_flags " -mthumb")  # as the NDK
endif()
set(CMAKE_C_FLAGS_INIT "-isystem ${jankbox_android_include} ${jankbox_libc_flags}")
set(CMAKE_CXX_FLAGS_INIT "-nostdinc++ -isystem ${jankbox_android_include} -isystem ${jankbox_cross_dir}/android/usr/lib/llvm-14/include/c++/v1 ${jankbox_libc_flags}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-fuse-ld=lld -nostdlib -L${jankbox_cross_dir}/${JANKBOX_LINT_STUBS}/lib")

set(CMAKE_FIND_ROOT_PATH ${jankbox_cross_dir}/${JANKBOX_LINT_STUBS})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
