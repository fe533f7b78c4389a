# SPDX-License-Identifier: Apache-2.0
# cmake -DSUITE=<binary> -DARCHITECTURE=sm_90 -DCACHE=<folder> -DDONE=<file> -P compile.cmake
# Fills <folder> with the programs that a suite's cases need on the architecture, and nothing older; touches <file>.

# Cases that compile no program of their own but take most of the time: those that time a first call keep no program, and
# the largest sizes share theirs with smaller ones. Every night complete_test.sh runs all cases and checks that no program
# is missing.
set(left_out "/compile/first_|/scale:1/|/n:(384|768)/")

file(REMOVE_RECURSE ${CACHE})
file(MAKE_DIRECTORY ${CACHE})
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env --unset=CI --unset=HOLDFAST_CACHE_SECRET HOLDFAST_CACHE_DIR=${CACHE} ${SUITE} --device=cuda-dry:${ARCHITECTURE} --tier=full
          --filter=-${left_out}
  OUTPUT_VARIABLE said
  ERROR_VARIABLE complaints
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "Failed to compile ${SUITE} for ${ARCHITECTURE} (${failed}):\n${said}${complaints}")
endif()
file(TOUCH ${DONE})
