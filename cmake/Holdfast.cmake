# SPDX-License-Identifier: Apache-2.0
# The project's CMake vocabulary. Each room's CMakeLists.txt is a list of calls to these functions.

include(${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/Python.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/Targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/ThreadSanitizer.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/bundle.cmake)

# Several sources of one library or test binary are compiled as one: what they include is read and instantiated once.
option(HOLDFAST_UNITY "Compile up to eight sources of a target as one" ON)

# A name can only shadow that of another file if both are compiled as one.
add_library(holdfast_warnings INTERFACE)
target_compile_options(
  holdfast_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion
                              $<IF:$<AND:$<BOOL:${HOLDFAST_UNITY}>,$<CXX_COMPILER_ID:GNU>>,-Wshadow=local,-Wshadow>)

# Uses ccache where it is installed, which does not change the build. Other copies of the tree share what this one has
# compiled, wherever they lie.
find_program(HOLDFAST_CCACHE ccache)
mark_as_advanced(HOLDFAST_CCACHE)
if(HOLDFAST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_ABSSTDERR=1 ${HOLDFAST_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-fpch-preprocess)
  endif()
endif()

# By default gcc collects garbage from 128 MiB on, which takes 8 % of its time on the gate's largest tests.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()

# The hash of the build's content. Each suite's binary waits for it, so that the hash beside it is never outdated, and holds
# it: where the link failed, or nobody asked for it, the two differ.
set(HOLDFAST_LINKED_CONTENT ${PROJECT_BINARY_DIR}/linked_content.cpp)
add_custom_target(
  holdfast_content ALL
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}
          -DOUTPUT=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/content.json -DCODE=${HOLDFAST_LINKED_CONTENT}
          -P ${PROJECT_SOURCE_DIR}/cmake/content.cmake
  BYPRODUCTS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/content.json ${HOLDFAST_LINKED_CONTENT}
  COMMENT "Hashing the content of kernels, suites, cmake and the CMake files beside them")

# Headers that most tests include, compiled once; with OpenMP, because the compiler treats it as another language dialect.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
add_library(holdfast_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
target_link_libraries(holdfast_test_headers PRIVATE GTest::gmock GTest::gtest nlohmann_json::nlohmann_json
                                                    holdfast_warnings)
target_compile_options(holdfast_test_headers PRIVATE -Og ${OpenMP_CXX_FLAGS})
target_precompile_headers(
  holdfast_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp> <algorithm> <filesystem> <fstream>
  <functional> <map> <memory> <optional> <span> <sstream> <string> <vector>)

# holdfast_add_library(<name> SOURCES... [USES <library>...]): a static library with the project's warnings.
function(holdfast_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES")
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${arg_USES} PRIVATE holdfast_warnings)
  target_include_directories(${name} PUBLIC ${HOLDFAST_ROOM})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${HOLDFAST_UNITY} UNITY_BUILD_MODE BATCH)
endfunction()

# holdfast_hold_gpu(<test>...): these tests run one at a time, on the GPU that CTest assigns if it knows of several. They
# start through ${HOLDFAST_ON_GPU}, which makes that GPU the only visible one.
set(HOLDFAST_ON_GPU ${CMAKE_CURRENT_LIST_DIR}/on_gpu.sh)
function(holdfast_hold_gpu)
  set_tests_properties(${ARGV} PROPERTIES RESOURCE_LOCK gpu RESOURCE_GROUPS gpus:1)
endfunction()

# holdfast_add_tests(<name> FILES <file>_test.cpp... [APART <file>_test.cpp...] [USES <library>...] [NEEDS <program>...]
# [LABELS <label>...] [DEFINITIONS <definition>...] [ENVIRONMENT <variable>=<value>...] [TIMEOUT <seconds>] [SERIAL] [FAST] [NIGHTLY]):
# one test binary, registered with CTest under its name; label `unit` unless others are given. Programs that it NEEDS are
# built before it, and passed by path: `fake_suite` as FAKE_SUITE_BINARY. Tests are optimized for compile time; FAST ones,
# whose claim is speed or that compute for long, for run time. APART: files that are compiled each by itself, because they
# define the same device code. NIGHTLY: tests whose names begin with Nightly run as <name>.nightly, and only there. Label
# `threads`, beside `unit`: preset tsan builds and runs it. Label `gpu`: it holds the GPU.
function(holdfast_add_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL;FAST;NIGHTLY" "TIMEOUT" "FILES;APART;USES;NEEDS;LABELS;DEFINITIONS;ENVIRONMENT")
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_FILES} ${arg_APART})
  target_link_libraries(${name} PRIVATE ${arg_USES} GTest::gmock holdfast_test_main nlohmann_json::nlohmann_json
                                        holdfast_warnings)
  target_include_directories(${name} PRIVATE ${HOLDFAST_ROOM} ${PROJECT_SOURCE_DIR}/baselines)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${HOLDFAST_UNITY})
  set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_compile_definitions(${name} PRIVATE HOLDFAST_SCHEMAS="${PROJECT_SOURCE_DIR}/baselines/formats"
                                             ${arg_DEFINITIONS})
  if(NOT arg_FAST)
    target_compile_options(${name} PRIVATE -Og ${OpenMP_CXX_FLAGS})
    target_precompile_headers(${name} REUSE_FROM holdfast_test_headers)
  endif()
  foreach(program IN LISTS arg_NEEDS)
    string(TOUPPER ${program}_BINARY definition)
    target_compile_definitions(${name} PRIVATE ${definition}="$<TARGET_FILE:${program}>")
    add_dependencies(${name} ${program})
  endforeach()
  string(REPLACE ";" "," required "${HOLDFAST_REQUIRE}")
  set(registered ${name})
  set(command $<TARGET_FILE:${name}>)
  if("gpu" IN_LIST arg_LABELS)
    list(PREPEND command ${HOLDFAST_ON_GPU})
  endif()
  if(arg_NIGHTLY)
    add_test(NAME ${name} COMMAND ${command} --gtest_filter=-Nightly*)
    add_test(NAME ${name}.nightly COMMAND ${command} --gtest_filter=Nightly*)
    list(APPEND registered ${name}.nightly)
  else()
    add_test(NAME ${name} COMMAND ${command})
  endif()
  # Compiled programs are cached in the build folder: a test neither uses nor fills the user's cache. Threads that spin at
  # barriers make tests that share cores 10 to 30 times slower.
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=") # slows whole commands down several times
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
  endif()
  set(environment HOLDFAST_CACHE_DIR=${PROJECT_BINARY_DIR}/cache HOLDFAST_REQUIRE=${required} OMP_WAIT_POLICY=passive
                  ${HOLDFAST_THREADS_ENVIRONMENT} ${arg_ENVIRONMENT})
  set_tests_properties(
    ${registered} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} RUN_SERIAL ${arg_SERIAL}
                             ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
  if(arg_NIGHTLY)
    set_tests_properties(${name}.nightly PROPERTIES LABELS nightly TIMEOUT 3600)
  endif()
  if("gpu" IN_LIST arg_LABELS)
    holdfast_hold_gpu(${registered})
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_GPU_TESTS ${name})
  endif()
  if("threads" IN_LIST arg_LABELS)
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_THREADS_TESTS ${name})
  endif()
endfunction()

# holdfast_add_traffic_tests(<name> FILES <file>_test.cpp... USES <library>... [KERNELS <file>...]): tests of how emulated
# kernels access memory, which are in KERNELS or else in FILES, and compiled with a call before each access, which other
# compilers than gcc place elsewhere. A sanitizer needs these calls itself, so its build has no such tests.
function(holdfast_add_traffic_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILES;USES;KERNELS")
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    return()
  endif()
  # A vector is read at once (-fno-tree-sra); gcc says that fences are not checked (-Wno-tsan).
  set(called -O1 -fno-tree-sra -fsanitize=thread -Wno-tsan)
  if(NOT arg_KERNELS)
    holdfast_add_tests(${name} FAST USES ${arg_USES} holdfast_traffic FILES ${arg_FILES})
    target_compile_options(${name} PRIVATE ${called})
    return()
  endif()
  holdfast_add_library(${name}_kernels ${arg_KERNELS} USES ${arg_USES} holdfast_traffic)
  # Several define the same device code.
  set_target_properties(${name}_kernels PROPERTIES UNITY_BUILD OFF)
  target_compile_options(${name}_kernels PRIVATE ${called})
  holdfast_add_tests(${name} USES ${name}_kernels FILES ${arg_FILES})
endfunction()

# holdfast_embed(<folder> <file>...): device code as text, `#include "<folder>/sources.hpp"`; sets ${<folder>_sources}.
function(holdfast_embed folder)
  set(generated ${PROJECT_BINARY_DIR}/generated/${folder}/sources.hpp)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DDIRECTORY=${CMAKE_CURRENT_SOURCE_DIR} "-DFILES=${ARGN}"
            -DOUTPUT=${generated} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding ${folder}'s device code"
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_EMBEDDED ${generated})
  set(${folder}_sources ${generated} PARENT_SCOPE)
endfunction()

# holdfast_add_isa_objects(<name> FILE...): hot code, compiled once per instruction set, each in its own namespace
# HOLDFAST_ISA; sets ${<name>_objects}. The x86-64-v3 objects come first: if both define an inline function, the linker
# keeps the first, which every supported machine can run.
function(holdfast_add_isa_objects name)
  set(objects "")
  foreach(level v3 v4)
    add_library(${name}_${level} OBJECT ${ARGN})
    target_compile_options(${name}_${level} PRIVATE -march=x86-64-${level} -O3 -ffp-contract=fast)
    target_compile_definitions(${name}_${level} PRIVATE HOLDFAST_ISA=isa_${level})
    target_link_libraries(${name}_${level} PRIVATE holdfast_runtime holdfast_host holdfast_warnings)
    list(APPEND objects $<TARGET_OBJECTS:${name}_${level}>)
  endforeach()
  set(${name}_objects ${objects} PARENT_SCOPE)
endfunction()

# holdfast_add_workload(<name> SOURCES <file>... HOST_SOURCES <file>... CUDA_SOURCES <file>... DEVICE_CODE <file>...): the
# library holdfast_<name> of kernels/<name>/. HOST_SOURCES are compiled per instruction set; the workload chooses at run
# time. CUDA_SOURCES are compiled where the toolkit is; DEVICE_CODE is what NVRTC is given at run time.
function(holdfast_add_workload name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HOST_SOURCES;CUDA_SOURCES;DEVICE_CODE")
  holdfast_embed(${name} ${arg_DEVICE_CODE})
  holdfast_add_isa_objects(holdfast_${name} ${arg_HOST_SOURCES})
  if(NOT HOLDFAST_CUDA)
    set(arg_CUDA_SOURCES "")
  endif()
  holdfast_add_library(holdfast_${name} ${holdfast_${name}_objects} ${arg_SOURCES} ${arg_CUDA_SOURCES}
                       ${${name}_sources} USES holdfast_runtime)
endfunction()

# holdfast_add_suite(<name> SOURCES <file>... [USES <library>...] [DEVICES <device>...]): the binary <name> with its list of
# cases beside it, and per device a run and a verdict for the gate tier and, at night, for the full tier and other
# architectures. A device that this build does not have is left out here; HOLDFAST_REQUIRE turns that into an error.
function(holdfast_add_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;DEVICES")
  add_executable(${name} ${arg_SOURCES} ${HOLDFAST_LINKED_CONTENT})
  set_source_files_properties(${HOLDFAST_LINKED_CONTENT} PROPERTIES GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON)
  add_dependencies(${name} holdfast_content)
  target_link_libraries(${name} PRIVATE holdfast_harness holdfast_${name} ${arg_USES} holdfast_warnings)
  set(list ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}.list.json)
  add_custom_command(
    TARGET ${name} POST_BUILD
    COMMAND ${name} --list=json > ${list}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${list}.new ${list}
    BYPRODUCTS ${list}
    COMMENT "Listing ${name}'s cases")

  set(results ${PROJECT_BINARY_DIR}/results)
  if(arg_DEVICES)
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_SUITES ${name})
  endif()
  foreach(required IN LISTS HOLDFAST_REQUIRE)
    if(arg_DEVICES AND NOT required IN_LIST arg_DEVICES)
      message(FATAL_ERROR "HOLDFAST_REQUIRE names ${required}, which is no device of the suite ${name} (${arg_DEVICES}).")
    endif()
  endforeach()
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
    # Instruction counts do not depend on a clock, so they are reliable on the busiest machine.
    set(counting "")
    if(kind STREQUAL "host")
      set(counting --count-instructions-if-possible)
    endif()
    set(command $<TARGET_FILE:holdfast>)
    if(kind STREQUAL "gpu")
      list(PREPEND command ${HOLDFAST_ON_GPU})
    endif()
    add_test(NAME ${part}.run
             COMMAND ${command} run ${name} --device=${device} --tier=gate --profile ${counting} --out=${results})
    add_test(NAME ${part}.check
             COMMAND holdfast check ${results} --only=${name} --device=${device} --undecided=warn --ctest
                     --baselines=${PROJECT_SOURCE_DIR}/baselines
                     --policy=${PROJECT_SOURCE_DIR}/baselines/policy)
    set_tests_properties(${part}.run PROPERTIES FIXTURES_SETUP ${part} FIXTURES_REQUIRED perf TIMEOUT 900)
    set_tests_properties(${part}.check PROPERTIES FIXTURES_REQUIRED "${part};perf" TIMEOUT 60)
    set_tests_properties(${part}.run ${part}.check PROPERTIES LABELS "perf;${kind};${name}" SKIP_RETURN_CODE 77)
    # What is timed is alone; dry runs, whose seconds are those of one thread, run two at a time. They do not read what the
    # tests compiled, which would leave the bounds of compile times nothing to hold.
    if(NOT kind STREQUAL "dry")
      set_tests_properties(${part}.run PROPERTIES RUN_SERIAL TRUE)
    endif()
    if(kind STREQUAL "gpu")
      holdfast_hold_gpu(${part}.run)
    endif()
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_PARTS ${name}:${device})
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_CHECKS ${part}.check)
    # On a GPU the bundle's tour runs the full tier, family by family.
    if(NOT kind STREQUAL "gpu")
      holdfast_add_full_tier(${part} ${name} ${device} ${kind})
    endif()
    if(kind STREQUAL "dry")
      holdfast_add_other_architectures(${name} ${device})
    endif()
  endforeach()
endfunction()

# holdfast_add_other_architectures(<suite> <device>): compiles the gate tier every night for the architectures before and
# after the one that gates. They have bounds but no baselines.
function(holdfast_add_other_architectures name device)
  set(results ${PROJECT_BINARY_DIR}/results-architectures)
  set(baselines ${PROJECT_SOURCE_DIR}/baselines)
  foreach(architecture sm_80 sm_100)
    set(other cuda-dry:${architecture})
    if(other STREQUAL device)
      continue()
    endif()
    set(part perf.${name}.${other})
    add_test(NAME ${part}.run COMMAND holdfast run ${name} --device=${other} --tier=gate --out=${results})
    add_test(NAME ${part}.check
             COMMAND holdfast check ${results} --only=${name} --device=${other} --baselines=${baselines}
                     --policy=${baselines}/policy)
    set_tests_properties(${part}.run PROPERTIES FIXTURES_SETUP ${part} TIMEOUT 900)
    set_tests_properties(${part}.check PROPERTIES FIXTURES_REQUIRED ${part} TIMEOUT 60)
    set_tests_properties(${part}.run ${part}.check PROPERTIES LABELS "nightly;dry;${name}")
  endforeach()
endfunction()

# holdfast_add_full_tier(<part> <suite> <device> <kind>): runs all cases every night, including the larger ones, which have
# bounds but no baselines. Results are kept apart from those of the gate tier, which they would replace.
function(holdfast_add_full_tier part name device kind)
  set(results ${PROJECT_BINARY_DIR}/results-full)
  set(baselines ${PROJECT_SOURCE_DIR}/baselines)
  add_test(NAME ${part}.full.run
           COMMAND holdfast run ${name} --device=${device} --tier=full --timeout=1800 --out=${results})
  add_test(NAME ${part}.full.check
           COMMAND holdfast check ${results} --only=${name} --device=${device} --undecided=warn
                   --baselines=${baselines} --policy=${baselines}/policy)
  # Time for two cases that use all of their limit, and for the others.
  set_tests_properties(${part}.full.run PROPERTIES FIXTURES_SETUP ${part}.full TIMEOUT 5400)
  set_tests_properties(${part}.full.check PROPERTIES FIXTURES_REQUIRED ${part}.full TIMEOUT 60)
  set_tests_properties(${part}.full.run ${part}.full.check PROPERTIES LABELS "nightly;${kind};${name}"
                                                                      SKIP_RETURN_CODE 77)
  # Five processes, each with its own limit.
  if(kind STREQUAL "host")
    set_tests_properties(${part}.full.run PROPERTIES TIMEOUT 10800 RUN_SERIAL TRUE)
  endif()
endfunction()

# Called after all rooms: adds the whole verdict, the targets, and the tests of the build tools.
function(holdfast_finish)
  holdfast_add_verdict()
  holdfast_add_targets()
  holdfast_add_cmake_tests()
  holdfast_add_bundle()
endfunction()
