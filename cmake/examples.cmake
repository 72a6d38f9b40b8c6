# SPDX-License-Identifier: Apache-2.0
# Builds the examples against an installed library:
#   cmake -S . -B build -DCMAKE_PREFIX_PATH=<where it is installed> && cmake --build build && ctest --test-dir build
cmake_minimum_required(VERSION 3.19)
project(aclshmem_examples LANGUAGES C)
find_package(aclshmem 1.0 REQUIRED COMPONENTS host cpurt tools)
find_package(ZLIB REQUIRED)
enable_testing()

file(GLOB folders RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/*")
foreach(example IN LISTS folders)
  file(GLOB sources "${CMAKE_CURRENT_SOURCE_DIR}/${example}/*.c")
  if(sources)
    add_executable(${example} ${sources})
    target_compile_definitions(${example} PRIVATE _GNU_SOURCE DIGITS_DATA="${CMAKE_CURRENT_SOURCE_DIR}/data/digits.csv.gz")
    target_link_libraries(${example} PRIVATE aclshmem::shmem aclshmem::cpurt ZLIB::ZLIB m)
    aclshmem_add_test(${example} NPES 2 COMMAND ${example})
  endif()
endforeach()
