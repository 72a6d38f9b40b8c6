# SPDX-License-Identifier: Apache-2.0
# ninja lint: clang-tidy, cppcheck, shellcheck. ninja format: lays the sources out.
if(ACLSHMEM_TOP_LEVEL)
  add_custom_target(lint COMMAND sh "${PROJECT_SOURCE_DIR}/scripts/lint.sh" "${PROJECT_BINARY_DIR}" USES_TERMINAL VERBATIM)
  add_custom_target(format COMMAND sh "${PROJECT_SOURCE_DIR}/scripts/format.sh" USES_TERMINAL VERBATIM)
endif()
