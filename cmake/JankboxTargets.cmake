# The two kinds of target: code that runs inside an app, and programs of our own.

# Flags shared by every target of the project.
add_library(jankbox_flags INTERFACE)
target_compile_features(jankbox_flags INTERFACE cxx_std_20)
target_include_directories(jankbox_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/sdk/include>)
target_compile_options(jankbox_flags INTERFACE -Wall -Wextra $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow> -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>  # GCC does not know who owns a lock (base/mutex.h)
  $<$<BOOL:${JANKBOX_WERROR}>:-Werror>)
if(JANKBOX_SANITIZE)
  target_compile_options(jankbox_flags INTERFACE -fsanitize=${JANKBOX_SANITIZE} -fno-sanitize-recover=all
    -fno-sanitize=vptr)  # what runs inside an app has no RTTI
  target_link_options(jankbox_flags INTERFACE -fsanitize=${JANKBOX_SANITIZE})
  # Most of the programs that are built with a sanitizer are built with these two.
  find_program(JANKBOX_LLD ld.lld)
  if(JANKBOX_LLD AND JANKBOX_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(jankbox_flags INTERFACE -fuse-ld=lld)
  endif()
  if(JANKBOX_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(jankbox_flags INTERFACE -Wno-tsan)  # fences, which it does not follow
  endif()
endif()

# What runs inside an app: no exceptions, no RTTI, hidden symbols; on Android, segments for 16 KiB pages.
add_library(jankbox_in_app_flags INTERFACE)
target_link_libraries(jankbox_in_app_flags INTERFACE jankbox_flags)
target_compile_options(jankbox_in_app_flags INTERFACE
  -fno-exceptions $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti> -fvisibility=hidden
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden> -ffunction-sections -fdata-sections)
target_compile_definitions(jankbox_in_app_flags INTERFACE SPDLOG_NO_EXCEPTIONS)
target_link_options(jankbox_in_app_flags INTERFACE -Wl,--gc-sections)
if(JANKBOX_PLATFORM STREQUAL "android")
  target_link_options(jankbox_in_app_flags INTERFACE -Wl,-z,max-page-size=16384)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")  # return addresses are signed, and branches land where they are meant to
  target_compile_options(jankbox_in_app_flags INTERFACE -mbranch-protection=standard)
  if(JANKBOX_PLATFORM STREQUAL "linux")  # libgcc's atomics are not marked as such
    target_compile_options(jankbox_in_app_flags INTERFACE -mno-outline-atomics)
  endif()
endif()
if(JANKBOX_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(JANKBOX_LTO_OPTIONS -flto)
  target_link_options(jankbox_in_app_flags INTERFACE -flto -Wl,--icf=safe)
elseif(JANKBOX_LTO)  # for targets that say so; the linker would optimise all others too, as soon as an object allows it
  set(JANKBOX_LTO_OPTIONS -flto=auto -ffat-lto-objects)
  target_link_options(jankbox_flags INTERFACE
    $<IF:$<BOOL:$<TARGET_PROPERTY:JANKBOX_LTO_LINK>>,-flto=auto;-flto-partition=one;-fno-asynchronous-unwind-tables,-fno-use-linker-plugin>)
  # ar would load GCC's plugin too, and name symbols in the archive's index that only the intermediate code has.
  foreach(language C CXX)
    set(CMAKE_${language}_ARCHIVE_CREATE "<CMAKE_AR> --plugin /dev/null qc <TARGET> <LINK_FLAGS> <OBJECTS>")
    set(CMAKE_${language}_ARCHIVE_FINISH "")
  endforeach()
endif()

# Tables to unwind by are a seventh of the library. Code that only our own threads run goes without them: no stack of the app
# passes through it, nothing throws, and debug information has what a debugger or a crash reporter needs (.debug_frame).
set(JANKBOX_NO_UNWIND_TABLES $<$<NOT:$<CONFIG:Debug>>:-fno-asynchronous-unwind-tables>)

# Programs and generated classes, in presets without a release's flags: under sanitizers, optimising them takes longer than their tests.
set(JANKBOX_QUICKLY $<$<CONFIG:Debug>:-O0>)

# For size. GCC's -Os is as small as Clang's -Oz.
set(JANKBOX_FOR_SIZE $<$<NOT:$<CONFIG:Debug>>:$<IF:$<CXX_COMPILER_ID:Clang>,-Oz,-Os>>)

# jankbox_precompile_in_app_headers(TARGET): the C++ library's headers are half of what an in-app source compiles. They are compiled
# once for each set of options, which are TARGET's own.
function(jankbox_precompile_in_app_headers target)
  if(NOT JANKBOX_UNITY)
    return()
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  string(MD5 key "${options}")
  set(headers jankbox_in_app_headers_${key})
  if(NOT TARGET ${headers})
    set(generated ${CMAKE_BINARY_DIR}/generated/in_app_headers)
    file(CONFIGURE OUTPUT ${generated}.cc CONTENT "")
    file(CONFIGURE OUTPUT ${generated}.c CONTENT "")  # for targets with C sources
    add_library(${headers} OBJECT ${generated}.cc ${generated}.c)
    target_link_libraries(${headers} PRIVATE jankbox_flags jankbox_in_app_flags)
    if(options)
      target_compile_options(${headers} PRIVATE ${options})
    endif()
    target_precompile_headers(${headers} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/in_app_headers.h)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# jankbox_add_in_app_library(NAME [HOT] [APP_THREADS] SOURCES... [DEPENDS targets...]): compiled for size, as every app carries
# it; HOT, what runs over every event, for speed. APP_THREADS: functions of it stand in stacks of the app's threads.
function(jankbox_add_in_app_library name)
  cmake_parse_arguments(ARG "HOT;APP_THREADS" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS}
    jankbox_flags $<BUILD_INTERFACE:jankbox_in_app_flags>)
  if(NOT ARG_HOT)
    target_compile_options(${name} PRIVATE ${JANKBOX_FOR_SIZE})
  endif()
  if(NOT ARG_APP_THREADS)
    target_compile_options(${name} PRIVATE ${JANKBOX_NO_UNWIND_TABLES} ${JANKBOX_LTO_OPTIONS})
  endif()
  jankbox_precompile_in_app_headers(${name})
endfunction()

# jankbox_compile_for_size(SOURCES...): sources of a HOT library of this folder that run once a report.
function(jankbox_compile_for_size)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS ${JANKBOX_FOR_SIZE} SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# jankbox_compile_for_speed(SOURCES...): sources of a library of this folder that is not HOT, with a loop that costs milliseconds.
function(jankbox_compile_for_speed)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O2> SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# jankbox_compile_together(TARGETS...): with JANKBOX_UNITY, ten sources are one unit for the compiler. For programs and tests only:
# the headers of JSON, protobuf and GoogleTest cost more than the sources that include them. Sources that define the same name in an
# unnamed namespace do not fit into one unit ("redefinition"): rename one of the two, or jankbox_compile_apart(SOURCE) in that folder.
function(jankbox_compile_together)
  if(JANKBOX_UNITY)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
  endif()
endfunction()

function(jankbox_compile_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# jankbox_add_test(NAME SOURCES... DEPENDS... [LABELS ...] [FIXTURES ...] [TIMEOUT s] [LOCK NAME] [ALONE FILTER]): a GoogleTest
# program, each case a ctest test. Cases with one LOCK run one after another, beside all others. Those that FILTER names would starve
# the others: nothing runs beside them.
function(jankbox_add_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;LOCK;ALONE" "SOURCES;DEPENDS;LABELS;DEFINITIONS;FIXTURES" ${ARGN})
  # The libraries' headers are most of what a test compiles: they are compiled once for each set of options.
  string(MAKE_C_IDENTIFIER "jankbox_test_headers${JANKBOX_TEST_OPTIONS}" headers)
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/test_headers.cc CONTENT "int main() {}\n")
    add_executable(${headers} ${CMAKE_BINARY_DIR}/generated/test_headers.cc)  # a program: as position-independent as tests
    target_link_libraries(${headers} PRIVATE jankbox_flags GTest::gmock GTest::gtest)
    target_compile_options(${headers} PRIVATE ${JANKBOX_TEST_OPTIONS})
    target_precompile_headers(${headers} PRIVATE <filesystem> <fstream> <gmock/gmock.h> <gtest/gtest.h>)
    if(TARGET nlohmann_json::nlohmann_json)  # not where only what runs inside an app is built
      target_link_libraries(${headers} PRIVATE nlohmann_json::nlohmann_json)
      target_precompile_headers(${headers} PRIVATE <nlohmann/json.hpp>)
    endif()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  jankbox_compile_together(${name})
  target_link_libraries(${name} PRIVATE jankbox_flags ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINITIONS})
  target_compile_options(${name} PRIVATE ${JANKBOX_TEST_OPTIONS}
    # GCC 12 finds overflows in std::string's own +, and of precompiled headers forgets that they are the system's.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-restrict>)
  target_precompile_headers(${name} REUSE_FROM ${headers})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set(properties TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT})  # what may run longest starts first
  if(ARG_LABELS)
    list(APPEND properties LABELS ${ARG_LABELS})
  endif()
  if(ARG_FIXTURES)
    list(APPEND properties FIXTURES_REQUIRED ${ARG_FIXTURES})
  endif()
  if(ARG_LOCK)
    list(APPEND properties RESOURCE_LOCK ${ARG_LOCK})
  endif()
  set(discovery TEST_PREFIX ${name}/ DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  if(ARG_ALONE)
    gtest_discover_tests(${name} ${discovery} TEST_FILTER -${ARG_ALONE} TEST_LIST ${name}_beside_others PROPERTIES ${properties})
    gtest_discover_tests(${name} ${discovery} TEST_FILTER ${ARG_ALONE} TEST_LIST ${name}_alone PROPERTIES ${properties} RUN_SERIAL TRUE)
  else()
    gtest_discover_tests(${name} ${discovery} PROPERTIES ${properties})
  endif()
endfunction()

# The C++ library becomes a part of `target`, under names of its own: to load and relocate the shared one takes longer than all else
# at the start of a C program. Not with sanitizers, which replace functions of it, nor where Debian's objects lack the marks for
# branch target identification, which one unmarked object takes from the whole library.
function(jankbox_link_cxx_library_statically target)
  if(JANKBOX_PLATFORM STREQUAL "linux" AND NOT JANKBOX_SANITIZE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# The library `target` allocates by `new` from malloc, and where that has no memory, from a reserve (base/memory/memory_reserve.h). Only where
# the C++ library is a part of it.
function(jankbox_allocate_with_reserve target)
  if(NOT JANKBOX_SANITIZE AND (JANKBOX_PLATFORM STREQUAL "android" OR CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64"))
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/base/memory/operator_new.cc)
  endif()
endfunction()

# add_subdirectory of each folder that is there.
function(jankbox_add_folders)
  foreach(folder ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()

# jankbox_embed_files(VARIABLE NAME.cc NAMESPACE n HEADER h FILES f...): the files, which become part of the program, as a source
# file; its path is in VARIABLE.
function(jankbox_embed_files variable name)
  cmake_parse_arguments(PARSE_ARGV 2 embed "" "NAMESPACE;HEADER" "FILES")
  list(TRANSFORM embed_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${embed_FILES}" -DOUTPUT=${output} -DNAMESPACE=${embed_NAMESPACE} -DHEADER=${embed_HEADER} -P ${script}
    DEPENDS ${embed_FILES} ${script} VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()
