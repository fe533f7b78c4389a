# SPDX-License-Identifier: Apache-2.0
# The bundle: everything that measures and judges in one archive, for machines that run and do not build
# (cmake/bundle/README.md). `cmake --workflow --preset bundle` makes it.

# holdfast_add_bundle(): the target `bundle`, and the test that unpacks what it packs. After all rooms: it takes every suite
# that has devices, and every test with the label gpu.
function(holdfast_add_bundle)
  if(NOT HOLDFAST_CUDA)
    add_custom_target(bundle COMMAND ${CMAKE_COMMAND} -E echo "no bundle: ${HOLDFAST_CUDA_ABSENT}"
                      COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
    return()
  endif()
  get_property(parts GLOBAL PROPERTY HOLDFAST_PARTS)
  get_property(gpu_tests GLOBAL PROPERTY HOLDFAST_GPU_TESTS)
  list(TRANSFORM parts REPLACE ":.*" "" OUTPUT_VARIABLE suites)
  list(REMOVE_DUPLICATES suites)

  # Libraries lie beside the programs, wherever the archive is unpacked.
  set_target_properties(holdfast ${suites} ${gpu_tests} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS holdfast ${suites} RUNTIME DESTINATION bin COMPONENT bundle EXCLUDE_FROM_ALL)
  install(TARGETS ${gpu_tests} RUNTIME DESTINATION tests COMPONENT bundle EXCLUDE_FROM_ALL)

  cmake_path(SET place NORMALIZE ${PROJECT_BINARY_DIR}/../bundle)  # build/bundle beside build/release
  set(name holdfast-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
  set(programs "")
  foreach(program IN ITEMS holdfast ${suites} ${gpu_tests})
    list(APPEND programs $<TARGET_FILE:${program}>)
  endforeach()
  add_custom_target(
    bundle
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR} -DPLACE=${place}
            -DNAME=${name} "-DPROGRAMS=${programs}" "-DSUITES=${suites}" -DREADELF=${CMAKE_READELF} -DSTRIP=${CMAKE_STRIP}
            -P ${PROJECT_SOURCE_DIR}/cmake/bundle/pack.cmake
    COMMENT "Packing ${name}"
    USES_TERMINAL
    VERBATIM)
  add_dependencies(bundle holdfast ${suites} ${gpu_tests} holdfast_content)

  add_test(NAME bundle.pack COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target bundle)
  add_test(NAME bundle.bare
           COMMAND ${PROJECT_SOURCE_DIR}/cmake/bundle/bare_test.sh ${place}/${name}.tar.gz)
  set_tests_properties(bundle.pack PROPERTIES FIXTURES_SETUP bundle)
  set_tests_properties(bundle.bare PROPERTIES FIXTURES_REQUIRED bundle)
  set_tests_properties(bundle.pack bundle.bare PROPERTIES LABELS slow TIMEOUT 1200 RUN_SERIAL TRUE)
  if(NOT HOLDFAST_CUDA_INCLUDE MATCHES "^/usr/local/cuda/")  # where the bundle looks by itself
    set_tests_properties(bundle.bare PROPERTIES ENVIRONMENT CUDA_HOME=${holdfast_cuda_root})
  endif()
endfunction()
