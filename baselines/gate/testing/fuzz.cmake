# SPDX-License-Identifier: Apache-2.0
# The fuzzers of preset `fuzz`: each starts from the tests' fixtures, and a finding fails its test and stays in findings/.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR "libFuzzer is clang's: use preset fuzz, after apt-get install clang libclang-rt-14-dev libomp-dev.")
endif()

# The parsers and what they stand on, not the whole gate.
holdfast_add_library(holdfast_parser_promises ${holdfast_gate_documents} testing/parser_promises.cpp
                     USES holdfast_base nlohmann_json::nlohmann_json GTest::gtest)
add_executable(fuzz_seeds testing/fuzz_seeds.cpp)
target_link_libraries(fuzz_seeds PRIVATE holdfast_parser_promises)
add_custom_target(fuzzers)
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/findings)

foreach(parser results list verdict baseline policy aliases profile history journal selftest options old_history)
  set(corpus ${CMAKE_CURRENT_BINARY_DIR}/corpus/${parser})
  add_executable(fuzz.${parser} testing/fuzz_parser.cpp)
  target_compile_definitions(fuzz.${parser} PRIVATE HOLDFAST_PARSER="${parser}")
  target_link_libraries(fuzz.${parser} PRIVATE holdfast_parser_promises -fsanitize=fuzzer)
  add_custom_command(TARGET fuzz.${parser} POST_BUILD COMMAND fuzz_seeds ${parser} ${corpus})
  add_dependencies(fuzz.${parser} fuzz_seeds)
  add_dependencies(fuzzers fuzz.${parser})
  add_test(NAME fuzz.${parser}
           COMMAND fuzz.${parser} -max_total_time=${HOLDFAST_FUZZ_SECONDS} -max_len=16384 -timeout=10 -rss_limit_mb=1024
                   -print_final_stats=1 -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/findings/${parser}- ${corpus})
  math(EXPR limit "${HOLDFAST_FUZZ_SECONDS} + 300")
  set_tests_properties(fuzz.${parser} PROPERTIES LABELS fuzz TIMEOUT ${limit})
endforeach()
