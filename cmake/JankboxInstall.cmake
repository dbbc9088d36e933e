# What `cmake --install` lays down, in two components: jankbox_sdk (libraries, public headers, find_package and pkg-config)
# and jankbox_programs (the commands and the collector). Nothing in it names the folder that it is installed to.
include(CMakePackageConfigHelpers)

set(jankbox_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/jankbox)

if(TARGET jankbox)
  install(TARGETS jankbox EXPORT jankboxTargets COMPONENT jankbox_sdk
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT jankbox_sdk NAMELINK_COMPONENT jankbox_sdk
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/include/jankbox DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT jankbox_sdk FILES_MATCHING PATTERN *.h)
  install(EXPORT jankboxTargets NAMESPACE jankbox:: DESTINATION ${jankbox_package_dir} COMPONENT jankbox_sdk)

  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/jankboxConfig.cmake.in
    ${PROJECT_BINARY_DIR}/jankboxConfig.cmake INSTALL_DESTINATION ${jankbox_package_dir}
    NO_SET_AND_CHECK_MACRO)
  # Before 1.0 every minor version may change the surface.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/jankboxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/jankboxConfig.cmake ${PROJECT_BINARY_DIR}/jankboxConfigVersion.cmake
    DESTINATION ${jankbox_package_dir} COMPONENT jankbox_sdk)

  file(RELATIVE_PATH jankbox_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/jankbox.pc.in ${PROJECT_BINARY_DIR}/jankbox.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/jankbox.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT jankbox_sdk)
endif()

# It links libjankbox.so, which is beside it in the build as well. (With a path of the build that is changed later, CMake leaves
# room for the longer one: an empty entry, which is the working folder.)
if(TARGET jankbox_jvmti)
  set_target_properties(jankbox_jvmti PROPERTIES INSTALL_RPATH $ORIGIN BUILD_WITH_INSTALL_RPATH ON)
endif()
# Loaded at run time, never linked: no part of the exported targets.
foreach(agent jankbox_agent jankbox_jvmti)
  if(TARGET ${agent})
    install(TARGETS ${agent} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT jankbox_sdk)
  endif()
endforeach()

foreach(program jankbox_command jankbox-collector)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT jankbox_programs)
  endif()
endforeach()
# The place that `jankbox` knows (tools/terminal/install_prefix.h); no user calls it.
if(TARGET jankbox_commands)
  install(TARGETS jankbox_commands RUNTIME DESTINATION libexec/jankbox COMPONENT jankbox_programs)
endif()
# Manual pages and bash's completion come from the programs' own --help.
find_program(JANKBOX_HELP2MAN help2man)
find_package(Python3 COMPONENTS Interpreter)
if(JANKBOX_HELP2MAN AND Python3_FOUND AND NOT CMAKE_CROSSCOMPILING AND NOT JANKBOX_SANITIZE AND TARGET jankbox_command AND TARGET jankbox-collector)
  set(jankbox_manual ${PROJECT_BINARY_DIR}/manual)
  add_custom_command(OUTPUT ${jankbox_manual}/jankbox
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/jankbox/write_manual.py
      $<TARGET_FILE:jankbox_command> $<TARGET_FILE:jankbox-collector> ${jankbox_manual}
    DEPENDS jankbox_command jankbox-collector ${PROJECT_SOURCE_DIR}/tools/jankbox/write_manual.py VERBATIM)
  add_custom_target(jankbox_manual ALL DEPENDS ${jankbox_manual}/jankbox)
  install(DIRECTORY ${jankbox_manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT jankbox_programs
    FILES_MATCHING PATTERN *.1)
  install(FILES ${jankbox_manual}/jankbox DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    COMPONENT jankbox_programs)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT jankbox_sdk)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()  # the package is the top project's
endif()
# `cpack` in the build folder makes jankbox_VERSION_ARCHITECTURE.deb of the programs and the SDK.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME jankbox)
set(CPACK_PACKAGE_CONTACT "Jankbox <jankbox@example.com>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Libraries of the package that its other files need.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
