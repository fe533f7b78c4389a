# SPDX-License-Identifier: Apache-2.0
# The bundle: everything that measures and judges in one archive, for machines that run but do not build
# (cmake/bundle/README.md). `cmake --workflow --preset bundle` makes it.

set(HOLDFAST_BUNDLE_ARCHITECTURES sm_90 sm_100 CACHE STRING "For which a bundle holds compiled programs")

# holdfast_compile_programs(<folder> <suite>...): compiles the suites' programs, so that the first start on a GPU needs no
# compiler if NVRTC and nvJitLink have the same versions. All suites and architectures run at once, and again only if a suite
# or compiler has changed. Sets `caches`: the folders, each with a file .done beside it once it is filled.
function(holdfast_compile_programs folder)
  set(caches "")
  set(script ${PROJECT_SOURCE_DIR}/cmake/bundle/compile.cmake)
  foreach(architecture IN LISTS HOLDFAST_BUNDLE_ARCHITECTURES)
    foreach(suite IN LISTS ARGN)
      set(cache ${folder}/${suite}.${architecture})
      add_custom_command(
        OUTPUT ${cache}.done
        COMMAND ${CMAKE_COMMAND} -DSUITE=$<TARGET_FILE:${suite}> -DARCHITECTURE=${architecture} -DCACHE=${cache}
                -DDONE=${cache}.done -P ${script}
        DEPENDS ${suite} ${script} ${HOLDFAST_NVRTC} ${HOLDFAST_NVJITLINK}
        COMMENT "Compiling ${suite} for ${architecture}"
        VERBATIM)
      list(APPEND caches ${cache})
    endforeach()
  endforeach()
  set(caches ${caches} PARENT_SCOPE)
endfunction()

# holdfast_add_bundle(): the target `bundle`, and the tests that unpack the archive. Called after all rooms: it takes every
# suite that has devices, and every test with the label gpu.
function(holdfast_add_bundle)
  if(NOT HOLDFAST_CUDA)
    add_custom_target(bundle COMMAND ${CMAKE_COMMAND} -E echo "no bundle: ${HOLDFAST_CUDA_ABSENT}"
                      COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
    return()
  endif()
  get_property(parts GLOBAL PROPERTY HOLDFAST_PARTS)
  get_property(gpu_tests GLOBAL PROPERTY HOLDFAST_GPU_TESTS)
  list(FILTER parts INCLUDE REGEX ":cuda")
  list(TRANSFORM parts REPLACE ":.*" "" OUTPUT_VARIABLE suites)
  list(REMOVE_DUPLICATES suites)

  # Libraries lie beside the programs, wherever the archive is unpacked.
  set_target_properties(holdfast ${suites} ${gpu_tests} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS holdfast ${suites} RUNTIME DESTINATION bin COMPONENT bundle EXCLUDE_FROM_ALL)
  install(TARGETS ${gpu_tests} RUNTIME DESTINATION tests COMPONENT bundle EXCLUDE_FROM_ALL)

  cmake_path(SET place NORMALIZE ${PROJECT_BINARY_DIR}/../bundle)  # build/bundle beside build/release
  set(name holdfast-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
  set(scripts ${PROJECT_SOURCE_DIR}/cmake/bundle)
  set(programs "")
  foreach(program IN ITEMS holdfast ${suites} ${gpu_tests})
    list(APPEND programs $<TARGET_FILE:${program}>)
  endforeach()
  holdfast_compile_programs(${place}/programs ${suites})
  set(compiled ${caches})
  list(TRANSFORM compiled APPEND .done)
  add_custom_target(
    bundle
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR} -DPLACE=${place}
            -DNAME=${name} "-DPROGRAMS=${programs}" "-DSUITES=${suites}" "-DCACHES=${caches}" -DREADELF=${CMAKE_READELF}
            -DSTRIP=${CMAKE_STRIP} -P ${scripts}/pack.cmake
    DEPENDS ${compiled}
    COMMENT "Packing ${name}"
    USES_TERMINAL
    VERBATIM)
  add_dependencies(bundle holdfast ${suites} ${gpu_tests} holdfast_content)

  add_test(NAME bundle.pack COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target bundle)
  add_test(NAME bundle.bare COMMAND ${scripts}/bare_test.sh ${place}/${name}.tar.gz)
  add_test(NAME bundle.tour COMMAND ${scripts}/tour_test.sh ${place}/${name}.tar.gz)
  add_test(NAME bundle.complete COMMAND ${scripts}/complete_test.sh ${place}/${name}.tar.gz
                                        ${HOLDFAST_BUNDLE_ARCHITECTURES})
  set_tests_properties(bundle.pack PROPERTIES FIXTURES_SETUP bundle)
  set_tests_properties(bundle.bare bundle.tour bundle.complete PROPERTIES FIXTURES_REQUIRED bundle)
  # Packing compiles on all cores at first and on one for its last suite, so it leaves cores to other tests.
  set_tests_properties(bundle.pack bundle.bare bundle.tour PROPERTIES LABELS slow TIMEOUT 1200)
  set_tests_properties(bundle.complete PROPERTIES LABELS nightly TIMEOUT 3600 RUN_SERIAL TRUE)
  if(NOT HOLDFAST_CUDA_INCLUDE MATCHES "^/usr/local/cuda/")  # where the bundle looks by itself
    set_tests_properties(bundle.bare bundle.tour bundle.complete PROPERTIES ENVIRONMENT CUDA_HOME=${holdfast_cuda_root})
  endif()
endfunction()
