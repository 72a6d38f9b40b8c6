# SPDX-License-Identifier: Apache-2.0
# One interface target carries every flag our own code is compiled with; nothing here reaches users.
include(CheckCCompilerFlag)

add_library(aclshmem_flags INTERFACE)
target_compile_features(aclshmem_flags INTERFACE c_std_11)
target_compile_definitions(aclshmem_flags INTERFACE _GNU_SOURCE)
target_compile_options(aclshmem_flags INTERFACE
  -Wall -Wextra -Wshadow -Wvla -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -Wcast-qual
  $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation> # messages are cut to their buffer on purpose
  -fno-strict-aliasing -fno-common -fvisibility=hidden -fstack-protector-strong
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition>)
if(ACLSHMEM_WERROR)
  target_compile_options(aclshmem_flags INTERFACE -Werror)
endif()
if(NOT ACLSHMEM_SANITIZE)
  # glibc's own bounds checks, and its marks on results that must be looked at; needs optimization.
  target_compile_options(aclshmem_flags INTERFACE
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
endif()
if(ACLSHMEM_SANITIZE)
  target_compile_options(aclshmem_flags INTERFACE -fsanitize=${ACLSHMEM_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  # gcc's thread sanitizer does not model fences; ours order memory that other processes see, which it knows nothing of.
  target_compile_options(aclshmem_flags INTERFACE $<$<C_COMPILER_ID:GNU>:-Wno-tsan>)
  target_link_options(aclshmem_flags INTERFACE -fsanitize=${ACLSHMEM_SANITIZE})
endif()
target_include_directories(aclshmem_flags INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>")
find_package(Threads REQUIRED)
target_link_libraries(aclshmem_flags INTERFACE Threads::Threads)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(ACLSHMEM_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
