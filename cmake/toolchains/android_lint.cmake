# Debian's clang for Android's arm64 at API 21, over headers that Debian has. What it makes shows which functions Jankbox calls;
# it runs nowhere. For tools/check_android, which lays out build/cross/android and build/cross/android_stubs first.
set(CMAKE_SYSTEM_NAME Android)
set(CMAKE_SYSTEM_VERSION 1)  # CMake looks for no NDK
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-android21)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-android21)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

get_filename_component(jankbox_source_dir ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(jankbox_cross_dir ${jankbox_source_dir}/build/cross)
set(jankbox_android_include ${jankbox_source_dir}/tests/android/include)
string(JOIN " " jankbox_libc_flags
  -D__BIONIC__ -D_GNU_SOURCE -nostdlibinc
  -isystem ${jankbox_cross_dir}/android_stubs/include
  -isystem ${jankbox_cross_dir}/android/usr/include/aarch64-linux-musl)
set(CMAKE_C_FLAGS_INIT "-isystem ${jankbox_android_include} ${jankbox_libc_flags}")
set(CMAKE_CXX_FLAGS_INIT "-nostdinc++ -isystem ${jankbox_android_include} -isystem ${jankbox_cross_dir}/android/usr/lib/llvm-14/include/c++/v1 ${jankbox_libc_flags}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-fuse-ld=lld -nostdlib -L${jankbox_cross_dir}/android_stubs/lib")

set(CMAKE_FIND_ROOT_PATH ${jankbox_cross_dir}/android_stubs)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
