# SPDX-License-Identifier: Apache-2.0
# aclshmem_unit_test(<name> SOURCES a.c ... [LIBS l ...] [LABELS l ...] [TIMEOUT s])
#   one cmocka program, one process, no peers; sees the library's internals
# aclshmem_pe_test(<name> SOURCES a.c ... NPES 1 2 4 [LABELS ...] [TIMEOUT s] [ENV K=V ...] [ARGS ...])
#   one program under aclshmemrun, registered once per PE count as <name>.n<count>; sees only include/
# Exit codes of every test program: 0 passed, 1 failed, 77 skipped with the reason printed.

function(aclshmem_test_properties name labels timeout env)
  # Sanitizers make programs several times slower, and a slow machine is no failure.
  if(ACLSHMEM_SANITIZE)
    math(EXPR timeout "${timeout} * 4")
  endif()
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${timeout} LABELS "${labels}")
  if(env)
    set_property(TEST ${name} PROPERTY ENVIRONMENT "${env}")
  endif()
endfunction()

function(aclshmem_unit_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;LIBS;LABELS;ENV;ARGS" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 60)
  endif()
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE aclshmem_static aclshmem_flags aclshmem_test_support cmocka ${A_LIBS})
  add_test(NAME unit.${name} COMMAND ${name} ${A_ARGS})
  aclshmem_test_properties(unit.${name} "unit;${A_LABELS}" ${A_TIMEOUT} "${A_ENV}")
endfunction()

function(aclshmem_pe_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;NPES;LIBS;LABELS;ENV;ARGS" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE shmem aclshmem_flags aclshmem_test_support ${A_LIBS})
  foreach(n IN LISTS A_NPES)
    add_test(NAME pe.${name}.n${n} COMMAND aclshmemrun -n ${n} $<TARGET_FILE:${name}> ${A_ARGS})
    aclshmem_test_properties(pe.${name}.n${n} "pe;${A_LABELS}" ${A_TIMEOUT} "${A_ENV}")
  endforeach()
endfunction()
