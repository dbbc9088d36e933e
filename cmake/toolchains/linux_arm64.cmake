# Debian's cross compiler for arm64 Linux. Other libraries come from build/cross/arm64 (tools/cross_packages arm64), and what is
# built runs under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(jankbox_source_dir ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(jankbox_packages ${jankbox_source_dir}/build/cross/arm64)
set(CMAKE_C_FLAGS_INIT "-mbranch-protection=standard -mno-outline-atomics")
set(CMAKE_CXX_FLAGS_INIT "-mbranch-protection=standard -mno-outline-atomics")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-Wl,-rpath-link,${jankbox_packages}/usr/lib/aarch64-linux-gnu:${jankbox_packages}/lib/aarch64-linux-gnu")
endforeach()

set(CMAKE_FIND_ROOT_PATH ${jankbox_packages} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${jankbox_packages}/usr/lib/aarch64-linux-gnu/pkgconfig:${jankbox_packages}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${jankbox_packages})

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max -L ${jankbox_packages})
