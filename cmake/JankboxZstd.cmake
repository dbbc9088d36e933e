# zstd for Android, where apps bring their own: linked statically, its symbols hidden. JANKBOX_ZSTD_SOURCE is the folder of a
# release's source (the one with lib/zstd.h); without it, a libzstd.a for the target is looked for.
set(JANKBOX_ZSTD_SOURCE "" CACHE PATH "Folder of zstd's source, built into libjankbox.so (Android)")

if(JANKBOX_ZSTD_SOURCE)
  # The list of files is zstd's, not ours.
  file(GLOB jankbox_zstd_sources ${JANKBOX_ZSTD_SOURCE}/lib/common/*.c ${JANKBOX_ZSTD_SOURCE}/lib/compress/*.c)
  add_library(jankbox_zstd STATIC ${jankbox_zstd_sources})
  target_include_directories(jankbox_zstd SYSTEM PUBLIC ${JANKBOX_ZSTD_SOURCE}/lib)
  target_compile_definitions(jankbox_zstd PRIVATE ZSTDLIB_VISIBLE= ZSTDERRORLIB_VISIBLE= ZSTD_LEGACY_SUPPORT=0)
  target_compile_options(jankbox_zstd PRIVATE -O2 -fvisibility=hidden -ffunction-sections -fdata-sections)
else()
  find_path(JANKBOX_ZSTD_INCLUDE zstd.h REQUIRED)
  find_library(JANKBOX_ZSTD_ARCHIVE libzstd.a REQUIRED)
  add_library(jankbox_zstd STATIC IMPORTED)
  set_target_properties(jankbox_zstd PROPERTIES IMPORTED_LOCATION ${JANKBOX_ZSTD_ARCHIVE}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${JANKBOX_ZSTD_INCLUDE})
endif()
set(JANKBOX_ZSTD_LIBRARY jankbox_zstd)
