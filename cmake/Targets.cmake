# SPDX-License-Identifier: Apache-2.0
# Added after all rooms, when all suites and tests are known: the whole verdict as a test, the targets for users, the
# tests of cmake/ itself.

# holdfast_add_verdict(): tests that prepare, complete and record what the suites' own tests run and check.
function(holdfast_add_verdict)
  get_property(parts GLOBAL PROPERTY HOLDFAST_PARTS)
  get_property(checks GLOBAL PROPERTY HOLDFAST_CHECKS)
  set(results ${PROJECT_BINARY_DIR}/results)
  set(baselines ${PROJECT_SOURCE_DIR}/baselines)

  # Without a GPU its part is not expected, unless HOLDFAST_REQUIRE names it.
  set(expected "")
  foreach(part IN LISTS parts)
    if(NOT part MATCHES ":cuda(:[0-9]+)?$" OR "cuda" IN_LIST HOLDFAST_REQUIRE)
      list(APPEND expected --expect=${part})
    endif()
  endforeach()
  add_test(NAME perf.complete
           COMMAND holdfast check ${results} ${expected} --undecided=warn --baselines=${baselines}
                   --policy=${baselines}/policy)
  set_tests_properties(perf.complete PROPERTIES FIXTURES_REQUIRED perf LABELS perf DEPENDS "${checks}" TIMEOUT 60)

  # perf.clean is the fixture's set-up: a verdict never mixes this run with an older one. Case durations are kept: they
  # set the time limits of the next run.
  add_test(NAME perf.clean
           COMMAND sh -c "mkdir -p '${results}' && find '${results}' -mindepth 1 -maxdepth 1 ! -name .history -exec rm -rf {} +")
  set_tests_properties(perf.clean PROPERTIES FIXTURES_SETUP perf LABELS perf TIMEOUT 60)

  # Each judged run, also a failed one, becomes a point of the local trend.
  add_test(NAME perf.history COMMAND holdfast history append ${results} --store=${HOLDFAST_STORE})
  set_tests_properties(perf.history PROPERTIES FIXTURES_REQUIRED perf LABELS perf DEPENDS perf.complete TIMEOUT 60)
endfunction()

# holdfast_add_targets(): the targets named in README.md and cmake/README.md.
function(holdfast_add_targets)
  get_property(suites GLOBAL PROPERTY HOLDFAST_SUITES)
  set(results ${PROJECT_BINARY_DIR}/results)
  set(baselines ${PROJECT_SOURCE_DIR}/baselines)

  add_custom_target(
    update-baselines
    COMMAND holdfast baseline accept ${results} --baselines=${baselines} --policy=${baselines}/policy
    COMMENT "Accepting ${results} as the baseline of its device classes"
    USES_TERMINAL)

  # Only what `perf` runs: cmake --build --preset perf.
  add_custom_target(perf DEPENDS holdfast ${suites})

  # Compares with the commit that this tree started from, on this machine and in this hour.
  add_custom_target(
    compare
    COMMAND ${PROJECT_SOURCE_DIR}/cmake/ci/compare.sh ${PROJECT_BINARY_DIR}
    DEPENDS perf
    USES_TERMINAL
    VERBATIM)

  # Needs no object, only generated files that sources include.
  get_property(embedded GLOBAL PROPERTY HOLDFAST_EMBEDDED)
  add_custom_target(
    lint
    COMMAND ${CMAKE_COMMAND} -E env BUILD=${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/cmake/ci/lint.sh format
            shell workflows python tidy
    DEPENDS ${embedded}
    USES_TERMINAL
    VERBATIM)

  # Tests with threads, for preset tsan.
  get_property(threads GLOBAL PROPERTY HOLDFAST_THREADS_TESTS)
  add_custom_target(threads DEPENDS ${threads})

  # Shows where the time of a build and of its tests went.
  add_custom_target(
    slowest
    COMMAND ${HOLDFAST_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/slowest.py ${PROJECT_BINARY_DIR}
    USES_TERMINAL
    VERBATIM)

  # Writes the gate's verdicts on unchanged code into baselines/measured.md: hours, on an otherwise quiet machine.
  add_custom_target(
    unchanged-runs
    COMMAND ${HOLDFAST_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/unchanged_runs.py ${PROJECT_BINARY_DIR} $$HOLDFAST_UNCHANGED
    DEPENDS holdfast ${suites}
    USES_TERMINAL)

  # Writes into the same page which slowdowns of real code a comparison with the base finds: an hour.
  add_custom_target(slowdowns COMMAND ${HOLDFAST_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/slowdowns.py ${PROJECT_BINARY_DIR} USES_TERMINAL)
endfunction()

# holdfast_add_cmake_tests(): the layers of the tree, the tools of this folder, and tests that build scratch trees.
function(holdfast_add_cmake_tests)
  foreach(name layers includes)
    add_test(NAME ${name} COMMAND ${HOLDFAST_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/${name}.py ${PROJECT_SOURCE_DIR})
  endforeach()
  add_test(NAME cmake_test COMMAND ${HOLDFAST_PYTEST} -q -p no:cacheprovider ${PROJECT_SOURCE_DIR}/cmake)
  set_tests_properties(layers includes cmake_test PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT "HOLDFAST_BUILD=${PROJECT_BINARY_DIR}")
  # In a build of its own: five minutes on two cores.
  add_test(NAME example.heat COMMAND ${HOLDFAST_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/example.py ${PROJECT_SOURCE_DIR}
                                     ${PROJECT_BINARY_DIR})
  # Plants slowdowns in real code; each is built and must be found.
  add_test(NAME planted.code_nightly COMMAND ${HOLDFAST_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/planted_code.py
                                             ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties(example.heat planted.code_nightly PROPERTIES LABELS nightly TIMEOUT 5400 RUN_SERIAL TRUE)
endfunction()
