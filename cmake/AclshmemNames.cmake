# SPDX-License-Identifier: Apache-2.0
# The names under which others find our parts. They are the same whether they come from an installed package, from
# add_subdirectory() or from FetchContent: aclshmem::shmem, aclshmem::cpurt, aclshmem::aclshmemrun, aclshmem_VERSION,
# aclshmem_BACKENDS, aclshmem_RUN, aclshmem_add_test().
if(TARGET ascendcl AND NOT TARGET aclshmem::cpurt)
  add_library(aclshmem::cpurt ALIAS ascendcl)
endif()
foreach(tool aclshmemrun aclshmem_info)
  if(TARGET ${tool} AND NOT TARGET aclshmem::${tool})
    add_executable(aclshmem::${tool} ALIAS ${tool})
  endif()
endforeach()

if(NOT ACLSHMEM_TOP_LEVEL)
  set(aclshmem_VERSION "${PROJECT_VERSION}" PARENT_SCOPE)
  set(aclshmem_BACKENDS cpu ascendcl PARENT_SCOPE)
  set(aclshmem_RUN "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/aclshmemrun" PARENT_SCOPE)
endif()
