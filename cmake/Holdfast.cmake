# SPDX-License-Identifier: Apache-2.0
# The project's CMake vocabulary. Each room's CMakeLists.txt is a list of calls to these functions.

include(${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/Python.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/bundle.cmake)

add_library(holdfast_warnings INTERFACE)
target_compile_options(holdfast_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                   -Wno-sign-conversion)

# What the build is made of. Each suite's binary waits for it, so that a hash beside it is never an older one's.
add_custom_target(
  holdfast_content ALL
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}
          -DOUTPUT=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/content.json -P ${PROJECT_SOURCE_DIR}/cmake/content.cmake
  BYPRODUCTS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/content.json
  COMMENT "Hashing the content of kernels, suites, cmake and the CMake files beside them")

# holdfast_add_library(<name> SOURCES... [USES <library>...]): a static library with the project's warnings.
function(holdfast_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES")
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${arg_USES} PRIVATE holdfast_warnings)
  target_include_directories(${name} PUBLIC ${HOLDFAST_ROOM})
endfunction()

# holdfast_add_test(<file>_test.cpp [NAME <name>] [USES <library>...] [LABELS <label>...]): one test binary,
# registered with CTest; label `unit` unless others are given.
function(holdfast_add_test source)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "USES;LABELS")
  cmake_path(GET source STEM name)
  if(arg_NAME)
    set(name ${arg_NAME})
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${arg_USES} GTest::gmock GTest::gtest_main holdfast_warnings)
  add_test(NAME ${name} COMMAND ${name})
  # Compiled programs are cached in the build folder: a test neither profits from nor fills its user's cache.
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300
                                          ENVIRONMENT HOLDFAST_CACHE_DIR=${PROJECT_BINARY_DIR}/cache)
  if("gpu" IN_LIST arg_LABELS)
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_GPU_TESTS ${name})
  endif()
endfunction()

# holdfast_add_workload(<name> [SOURCES <file>...] [HOST_SOURCES <file>...] [CUDA_SOURCES <file>...]
# [DEVICE_HEADERS <file>...] [TESTS <file>_test.cpp...] [SLOW_TESTS <file>_test.cpp...]): kernels/<name>/, whose files
# have the names every workload uses. host_reference.cpp, host_optimized.cpp and HOST_SOURCES are compiled once per
# instruction set, each in its own namespace HOLDFAST_ISA; the workload chooses at run time. CUDA_SOURCES are compiled
# where the toolkit is; DEVICE_HEADERS are what its .cu files include.
function(holdfast_add_workload name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HOST_SOURCES;CUDA_SOURCES;DEVICE_HEADERS;TESTS;SLOW_TESTS")
  set(directory ${CMAKE_CURRENT_SOURCE_DIR}/${name})

  set(embedded "")
  foreach(file formulas.hpp ${arg_DEVICE_HEADERS} reference.cu optimized.cu)
    if(EXISTS ${directory}/${file})
      list(APPEND embedded ${file})
    endif()
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated/${name}/sources.hpp)
  list(TRANSFORM embedded PREPEND ${directory}/ OUTPUT_VARIABLE embedded_paths)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DWORKLOAD=${name} -DDIRECTORY=${directory} "-DFILES=${embedded}"
            -DOUTPUT=${generated} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${embedded_paths} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding ${name}'s device code"
    VERBATIM)

  list(TRANSFORM arg_HOST_SOURCES PREPEND ${name}/)
  # The x86-64-v3 objects come first: where both hold the same inline function, the linker keeps the first, which every
  # supported machine can run.
  set(objects "")
  foreach(level v3 v4)
    add_library(holdfast_${name}_${level} OBJECT ${name}/host_reference.cpp ${name}/host_optimized.cpp
                ${arg_HOST_SOURCES})
    target_compile_options(holdfast_${name}_${level} PRIVATE -march=x86-64-${level} -O3 -ffp-contract=fast)
    target_compile_definitions(holdfast_${name}_${level} PRIVATE HOLDFAST_ISA=isa_${level})
    target_link_libraries(holdfast_${name}_${level} PRIVATE holdfast_runtime holdfast_host holdfast_warnings)
    list(APPEND objects $<TARGET_OBJECTS:holdfast_${name}_${level}>)
  endforeach()

  set(sources ${name}/${name}.cpp)
  if(HOLDFAST_CUDA)
    list(APPEND sources ${name}/cuda_reference.cpp ${name}/cuda_optimized.cpp)
    list(TRANSFORM arg_CUDA_SOURCES PREPEND ${name}/)
    list(APPEND sources ${arg_CUDA_SOURCES})
  endif()
  list(TRANSFORM arg_SOURCES PREPEND ${name}/)
  list(TRANSFORM arg_TESTS PREPEND ${name}/)
  list(TRANSFORM arg_SLOW_TESTS PREPEND ${name}/)
  holdfast_add_library(holdfast_${name} ${objects} ${sources} ${arg_SOURCES} ${generated} USES holdfast_runtime)
  target_include_directories(holdfast_${name} PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/generated)

  foreach(test IN LISTS arg_TESTS)
    cmake_path(GET test STEM stem)
    holdfast_add_test(${test} NAME ${name}.${stem} USES holdfast_${name})
  endforeach()
  foreach(test IN LISTS arg_SLOW_TESTS)
    cmake_path(GET test STEM stem)
    holdfast_add_test(${test} NAME ${name}.${stem} USES holdfast_${name} LABELS slow)
  endforeach()
endfunction()

# holdfast_add_suite(<name> DEVICES <device>...): the binary <name> with its list of cases beside it, and per device a run
# and its verdict, of the gate tier and, at night, of the full one. A device that this build has not is left out here;
# HOLDFAST_REQUIRE turns that into an error.
function(holdfast_add_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEVICES")
  add_executable(${name} ${name}.cpp)
  add_dependencies(${name} holdfast_content)
  target_link_libraries(${name} PRIVATE holdfast_harness holdfast_${name} holdfast_warnings)
  set(list ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}.list.json)
  add_custom_command(
    TARGET ${name} POST_BUILD
    COMMAND ${name} --list=json > ${list}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${list}.new ${list}
    BYPRODUCTS ${list}
    COMMENT "Listing ${name}'s cases")

  set(results ${PROJECT_BINARY_DIR}/results)
  foreach(device IN LISTS arg_DEVICES)
    if(device MATCHES "^cuda" AND NOT HOLDFAST_CUDA)
      continue()
    endif()
    if(device STREQUAL "host")
      set(kind host)
    elseif(device MATCHES "^cuda-dry")
      set(kind dry)
    else()
      set(kind gpu)
    endif()
    set(part perf.${name}.${device})
    # No clock has a part in the counts of instructions, so they tell on the busiest machine.
    set(counting "")
    if(kind STREQUAL "host")
      set(counting --count-instructions-if-possible)
    endif()
    add_test(NAME ${part}.run
             COMMAND holdfast run ${name} --device=${device} --tier=gate --profile ${counting} --out=${results})
    add_test(NAME ${part}.check
             COMMAND holdfast check ${results} --only=${name} --device=${device} --undecided=warn --ctest
                     --baselines=${PROJECT_SOURCE_DIR}/baselines
                     --policy=${PROJECT_SOURCE_DIR}/baselines/policy.json)
    set_tests_properties(${part}.run PROPERTIES FIXTURES_SETUP ${part} FIXTURES_REQUIRED perf TIMEOUT 900)
    set_tests_properties(${part}.check PROPERTIES FIXTURES_REQUIRED "${part};perf" TIMEOUT 60)
    set_tests_properties(${part}.run ${part}.check PROPERTIES LABELS "perf;${kind};${name}" SKIP_RETURN_CODE 77)
    if(kind STREQUAL "host")
      set_tests_properties(${part}.run PROPERTIES RUN_SERIAL TRUE)
    elseif(kind STREQUAL "gpu")
      set_tests_properties(${part}.run PROPERTIES RESOURCE_LOCK gpu)
    endif()
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_PARTS ${name}:${device})
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_CHECKS ${part}.check)
    # On a GPU the bundle's tour takes it, family by family.
    if(NOT kind STREQUAL "gpu")
      holdfast_add_full_tier(${part} ${name} ${device} ${kind})
    endif()
  endforeach()
endfunction()

# holdfast_add_full_tier(<part> <suite> <device> <kind>): every night all cases, the larger ones too, which have bounds and
# no baselines. Results lie apart from those of the gate tier, which they would replace.
function(holdfast_add_full_tier part name device kind)
  set(results ${PROJECT_BINARY_DIR}/results-full)
  set(baselines ${PROJECT_SOURCE_DIR}/baselines)
  add_test(NAME ${part}.full.run
           COMMAND holdfast run ${name} --device=${device} --tier=full --timeout=1800 --out=${results})
  add_test(NAME ${part}.full.check
           COMMAND holdfast check ${results} --only=${name} --device=${device} --undecided=warn
                   --baselines=${baselines} --policy=${baselines}/policy.json)
  set_tests_properties(${part}.full.run PROPERTIES FIXTURES_SETUP ${part}.full TIMEOUT 900)
  set_tests_properties(${part}.full.check PROPERTIES FIXTURES_REQUIRED ${part}.full TIMEOUT 60)
  set_tests_properties(${part}.full.run ${part}.full.check PROPERTIES LABELS "nightly;${kind};${name}"
                                                                      SKIP_RETURN_CODE 77)
  # Five processes, each with the limit that it is given.
  if(kind STREQUAL "host")
    set_tests_properties(${part}.full.run PROPERTIES TIMEOUT 10800 RUN_SERIAL TRUE)
  endif()
endfunction()

# After all rooms: the whole verdict as a test, and the daily targets.
function(holdfast_finish)
  get_property(parts GLOBAL PROPERTY HOLDFAST_PARTS)
  get_property(checks GLOBAL PROPERTY HOLDFAST_CHECKS)
  set(results ${PROJECT_BINARY_DIR}/results)
  set(baselines ${PROJECT_SOURCE_DIR}/baselines)

  # Where a GPU is absent its part is not expected; what HOLDFAST_REQUIRE names is.
  set(expected "")
  foreach(part IN LISTS parts)
    if(NOT part MATCHES ":cuda(:[0-9]+)?$" OR "cuda" IN_LIST HOLDFAST_REQUIRE)
      list(APPEND expected --expect=${part})
    endif()
  endforeach()
  add_test(NAME perf.complete
           COMMAND holdfast check ${results} ${expected} --undecided=warn --baselines=${baselines}
                   --policy=${baselines}/policy.json)
  set_tests_properties(perf.complete PROPERTIES FIXTURES_REQUIRED perf LABELS perf DEPENDS "${checks}" TIMEOUT 60)

  # perf.clean is the fixture's set-up: a verdict never mixes this run with an older one.
  add_test(NAME perf.clean COMMAND sh -c "rm -rf '${results}' && mkdir -p '${results}'")
  set_tests_properties(perf.clean PROPERTIES FIXTURES_SETUP perf LABELS perf)

  # Each judged run becomes a point of the local trend, failed ones too.
  add_test(NAME perf.history COMMAND holdfast history append ${results} --store=${HOLDFAST_STORE})
  set_tests_properties(perf.history PROPERTIES FIXTURES_REQUIRED perf LABELS perf DEPENDS perf.complete TIMEOUT 60)

  add_custom_target(
    update-baselines
    COMMAND holdfast baseline accept ${results} --baselines=${baselines} --policy=${baselines}/policy.json
    COMMENT "Accepting ${results} as the baseline of its device classes"
    USES_TERMINAL)

  holdfast_add_bundle()
endfunction()
