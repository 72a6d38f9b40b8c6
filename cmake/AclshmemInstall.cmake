# SPDX-License-Identifier: Apache-2.0
# What is installed, where, and as part of which component: runtime, devel, doc.
# Every path that ends up in an installed file is relative to that file, so the tree can be moved as a whole.
include(CMakePackageConfigHelpers)

# All libraries lie in one folder: libshmem.so looks for its companions beside itself.
set(ACLSHMEM_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/aclshmem")
file(RELATIVE_PATH ACLSHMEM_BIN_TO_LIB "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")

function(aclshmem_install_library target set)
  if(NOT TARGET ${target})
    return()
  endif()
  # The build tree has the layout of an install, so both use the same run path.
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS ${target} EXPORT aclshmem-${set}-targets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT devel
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT aclshmem-${set}-targets NAMESPACE aclshmem:: DESTINATION "${ACLSHMEM_CMAKE_DIR}" COMPONENT devel)
endfunction()

if(TARGET ascendcl)
  set_target_properties(ascendcl PROPERTIES EXPORT_NAME cpurt)
endif()
aclshmem_install_library(shmem host)
aclshmem_install_library(ascendcl cpurt)

# Opened by name from the folder of libshmem.so, nobody links them: aclshmem_bootstrap_mpi.so, aclshmem_bootstrap_mpi_openmpi.so,
# aclshmem_bootstrap_mpi_mpich.so, as far as there are MPIs.
if(ACLSHMEM_MPI_PLUGINS)
  install(TARGETS ${ACLSHMEM_MPI_PLUGINS} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
endif()

set(ACLSHMEM_TOOLS "")
foreach(tool aclshmemrun aclshmem_info)
  if(TARGET ${tool})
    list(APPEND ACLSHMEM_TOOLS ${tool})
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH "$ORIGIN/${ACLSHMEM_BIN_TO_LIB}" BUILD_WITH_INSTALL_RPATH ON)
  endif()
endforeach()
if(ACLSHMEM_TOOLS)
  install(TARGETS ${ACLSHMEM_TOOLS} EXPORT aclshmem-tools-targets
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
  install(EXPORT aclshmem-tools-targets NAMESPACE aclshmem:: DESTINATION "${ACLSHMEM_CMAKE_DIR}" COMPONENT devel)
endif()

if(TARGET ascendcl)
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/cpurt/aclcpu-cc" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT devel)
endif()

# Headers: ours, and the AscendCL subset of the CPU runtime. A program for CANN puts CANN's include folder first.
foreach(folder include cpurt/include)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel
      FILES_MATCHING PATTERN "*.h" PATTERN "*.inl")
  endif()
endforeach()

# What device headers include lies beside them.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/device" "${PROJECT_SOURCE_DIR}/src/host_device"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel FILES_MATCHING PATTERN "*.h" PATTERN "*.inl")

# find_package(aclshmem)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/aclshmem-config.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/aclshmem-config.cmake" INSTALL_DESTINATION "${ACLSHMEM_CMAKE_DIR}"
  PATH_VARS CMAKE_INSTALL_BINDIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/aclshmem-config-version.cmake"
  VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMajorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/cmake/aclshmem-config.cmake"
  "${PROJECT_BINARY_DIR}/cmake/aclshmem-config-version.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/AclshmemAddTest.cmake"
  DESTINATION "${ACLSHMEM_CMAKE_DIR}" COMPONENT devel)

# pkg-config
file(RELATIVE_PATH ACLSHMEM_PC_TO_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" ACLSHMEM_PC_TO_PREFIX "${ACLSHMEM_PC_TO_PREFIX}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/aclshmem.pc.in" "${PROJECT_BINARY_DIR}/cmake/aclshmem.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/aclshmem.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT devel)

# For shells, and for module systems
configure_file("${CMAKE_CURRENT_LIST_DIR}/set_env.sh.in" "${PROJECT_BINARY_DIR}/cmake/set_env.sh" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/set_env.sh" DESTINATION . COMPONENT runtime)
configure_file("${CMAKE_CURRENT_LIST_DIR}/aclshmem.lua.in" "${PROJECT_BINARY_DIR}/cmake/aclshmem.lua" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/aclshmem.lua" DESTINATION "${CMAKE_INSTALL_DATADIR}/modulefiles"
  COMPONENT runtime)

# Reading matter
foreach(page README.md README.zh-CN.md CHANGELOG.md LICENSE)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${page}")
    install(FILES "${PROJECT_SOURCE_DIR}/${page}" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT doc)
  endif()
endforeach()
if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/docs")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT doc
    FILES_MATCHING PATTERN "*.md" PATTERN "man" EXCLUDE)
endif()
# The examples, with a build file that takes the installed library.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT doc
  PATTERN CMakeLists.txt EXCLUDE)
install(FILES "${CMAKE_CURRENT_LIST_DIR}/examples.cmake" DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT doc
  RENAME CMakeLists.txt)
if(ACLSHMEM_MAN3_DIR)
  install(DIRECTORY "${ACLSHMEM_MAN3_DIR}" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT doc)
endif()
if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/docs/man")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT doc
    FILES_MATCHING PATTERN "*.[1-8]")
endif()

if(ACLSHMEM_TOP_LEVEL)
  add_custom_target(uninstall
    COMMAND "${CMAKE_COMMAND}" "-DBINARY_DIR=${PROJECT_BINARY_DIR}" -P "${CMAKE_CURRENT_LIST_DIR}/AclshmemUninstall.cmake"
    COMMENT "Removing what this build tree installed last" VERBATIM)
  include(AclshmemPack)
endif()
