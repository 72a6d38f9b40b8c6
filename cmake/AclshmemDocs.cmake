# SPDX-License-Identifier: Apache-2.0
# From the comments of the headers: a manual page for every call, with the build; the reference as HTML, by `ninja docs`
# where Doxygen is installed.
set(ACLSHMEM_MAN3_DIR "${PROJECT_BINARY_DIR}/man3")
file(GLOB_RECURSE ACLSHMEM_DOC_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/host/*.h")
list(APPEND ACLSHMEM_DOC_SOURCES "${PROJECT_SOURCE_DIR}/scripts/reference.sh" "${PROJECT_SOURCE_DIR}/scripts/reference.awk")

add_custom_command(OUTPUT "${PROJECT_BINARY_DIR}/man3.stamp"
  COMMAND sh "${PROJECT_SOURCE_DIR}/scripts/reference.sh" man "${ACLSHMEM_MAN3_DIR}" "${PROJECT_VERSION}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${PROJECT_BINARY_DIR}/man3.stamp"
  DEPENDS ${ACLSHMEM_DOC_SOURCES} "${PROJECT_SOURCE_DIR}/tests/abi/exports.txt"
  COMMENT "Writing the manual pages of the calls" VERBATIM)
add_custom_target(aclshmem_man ALL DEPENDS "${PROJECT_BINARY_DIR}/man3.stamp")

find_program(DOXYGEN_EXECUTABLE doxygen)
mark_as_advanced(DOXYGEN_EXECUTABLE)
if(DOXYGEN_EXECUTABLE AND NOT TARGET docs)
  add_custom_target(docs
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/docs"
    COMMAND "${CMAKE_COMMAND}" -E env "ACLSHMEM_VERSION=${PROJECT_VERSION}" "ACLSHMEM_DOCS_OUT=${PROJECT_BINARY_DIR}/docs"
      "${DOXYGEN_EXECUTABLE}" docs/Doxyfile
    COMMAND "${CMAKE_COMMAND}" -E env "ACLSHMEM_VERSION=${PROJECT_VERSION}" "ACLSHMEM_DOCS_OUT=${PROJECT_BINARY_DIR}/docs"
      "${DOXYGEN_EXECUTABLE}" docs/Doxyfile.device
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Writing the reference to ${PROJECT_BINARY_DIR}/docs/html/index.html, of kernels to html-kernels/index.html" VERBATIM)
endif()
