# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=<root> -DBUILD=<build folder> -DPLACE=<folder> -DNAME=<name> -DPROGRAMS=<binaries> -DSUITES=<names>
#       -DCACHES=<folders> -DREADELF=<tool> -DSTRIP=<tool> -P pack.cmake
# Packs <folder>/<name>.tar.gz: programs, the libraries that they need and a bare machine lacks, baselines and policy,
# compiled programs, device code, formulations for the side by side, and run.sh, which takes the tour.

set(most_mebibytes 60)
set(newest_glibc 2.36)

set(root ${PLACE}/${NAME})
set(archive ${PLACE}/${NAME}.tar.gz)

# Not packed: every machine has the C library, and the driver and CUDA are the target's own.
set(of_glibc "^(ld-linux-x86-64|lib(c|m|mvec|dl|pthread|rt|util|resolv|anl))\\.so")
set(opened_at_run_time libnvrtc.so.13 libnvJitLink.so.13 libcublas.so.13 libcublasLt.so.13 libcufft.so.12)
set(of_cuda "^lib(cuda|cudart|nvrtc|nvJitLink|cublas|cublasLt|cufft|cupti|nvidia-[a-z]+)\\.so")

include(${CMAKE_CURRENT_LIST_DIR}/notices.cmake)

# run(<what it does> COMMAND...): fails with the command's output. The output is in `said`.
macro(run doing)
  execute_process(${ARGN} OUTPUT_VARIABLE said ERROR_VARIABLE complaints RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "Failed to ${doing} (${failed}):\n${said}${complaints}")
  endif()
endmacro()

function(install_programs)
  file(REMOVE_RECURSE ${root})
  file(REMOVE ${archive} ${archive}.sha256)
  run("install the programs" COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component bundle --prefix ${root} --strip)
  file(COPY ${BUILD}/bin/content.json DESTINATION ${root}/bin)
  foreach(suite IN LISTS SUITES)
    file(COPY ${BUILD}/bin/${suite}.list.json DESTINATION ${root}/bin)
  endforeach()
  file(COPY ${SOURCE}/baselines/devices DESTINATION ${root}/baselines)
  # Rules of suites that are not packed would match nothing.
  list(TRANSFORM SUITES REPLACE "(.+)" "${SOURCE}/baselines/policy/\\1.json" OUTPUT_VARIABLE policies)
  file(COPY ${SOURCE}/baselines/policy/common.json ${policies} DESTINATION ${root}/baselines/policy)
  if(EXISTS ${SOURCE}/baselines/aliases.json)
    file(COPY ${SOURCE}/baselines/aliases.json DESTINATION ${root}/baselines)
  endif()
  file(COPY ${SOURCE}/LICENSE ${SOURCE}/cmake/cuda-requirements.txt DESTINATION ${root})
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  file(COPY ${here}/run.sh ${here}/tour ${here}/environment.sh ${here}/compare_counts.sh ${here}/README.md
       DESTINATION ${root})
  # Device code, to be edited where it runs (HOLDFAST_SOURCES), and the formulations that are timed beside it.
  file(COPY ${SOURCE}/kernels DESTINATION ${root} FILES_MATCHING REGEX "\\.(cu|cuh|hpp|md)$")
  file(COPY ${SOURCE}/suites/side_by_side DESTINATION ${root} FILES_MATCHING REGEX "\\.(py|md)$" PATTERN "*_test.py" EXCLUDE
       PATTERN "__pycache__" EXCLUDE)
endfunction()

# Dependencies as the loader resolves them for the programs as built; of CUDA's libraries only the names are packed.
function(install_libraries)
  set(cuda "")
  foreach(program IN LISTS PROGRAMS)
    run("ask what ${program} needs" COMMAND ldd ${program})
    if(said MATCHES "[^\n]* => not found")
      message(FATAL_ERROR "${program} lacks a library on this machine: ${CMAKE_MATCH_0}")
    endif()
    string(REGEX MATCHALL "[^ \t\n]+ => [^ \n]+" pairs "${said}")
    foreach(pair IN LISTS pairs)
      string(REGEX MATCH "^([^ ]+) => (.+)$" matched "${pair}")
      set(library ${CMAKE_MATCH_1})
      set(path ${CMAKE_MATCH_2})
      if(library MATCHES "${of_cuda}")
        list(APPEND cuda ${library})
      elseif(NOT library MATCHES "${of_glibc}" AND NOT EXISTS ${root}/lib/${library})
        file(REAL_PATH ${path} real)
        file(MAKE_DIRECTORY ${root}/lib)
        file(COPY_FILE ${real} ${root}/lib/${library})
        run("strip ${library}" COMMAND ${STRIP} --strip-unneeded ${root}/lib/${library})
        package_of(package ${real})
        install_notice(${root} "${package}")
      endif()
    endforeach()
  endforeach()
  list(APPEND cuda ${opened_at_run_time})
  list(REMOVE_DUPLICATES cuda)
  list(JOIN cuda "\n" cuda)
  file(WRITE ${root}/lib/cuda-libraries "${cuda}\n")
endfunction()

# A symbol version that the oldest supported C library lacks would keep a program from starting there.
function(check_glibc)
  file(GLOB files ${root}/bin/* ${root}/tests/* ${root}/lib/*.so*)
  list(FILTER files EXCLUDE REGEX "\\.json$")
  foreach(file IN LISTS files)
    run("read the symbol versions of ${file}" COMMAND ${READELF} --version-info --wide ${file})
    string(REGEX MATCHALL "GLIBC_[0-9.]+" versions "${said}")
    foreach(version IN LISTS versions)
      string(REPLACE "GLIBC_" "" version ${version})
      if(version VERSION_GREATER newest_glibc)
        message(FATAL_ERROR "${file} needs glibc ${version}, and a bundle may need ${newest_glibc} at most: "
                            "build it on Debian 12 or an older system")
      endif()
    endforeach()
  endforeach()
endfunction()

# Packs the programs that the suites compiled (compile.cmake).
function(fill_cache)
  foreach(cache IN LISTS CACHES)
    file(COPY ${cache}/ DESTINATION ${root}/cache)
  endforeach()
endfunction()

# size_of(<out> <path>): bytes of a file or of all files below a folder.
function(size_of out path)
  set(sum 0)
  file(GLOB_RECURSE files ${path} ${path}/*)
  foreach(file IN LISTS files)
    file(SIZE ${file} bytes)
    math(EXPR sum "${sum} + ${bytes}")
  endforeach()
  set(${out} ${sum} PARENT_SCOPE)
endfunction()

function(in_mebibytes out bytes)
  math(EXPR hundredths "${bytes} * 100 / 1048576")
  math(EXPR whole "${hundredths} / 100")
  math(EXPR rest "${hundredths} % 100 + 100")
  string(SUBSTRING ${rest} 1 2 rest)
  set(${out} "${whole}.${rest} MiB" PARENT_SCOPE)
endfunction()

function(pack)
  # A cache that others may write to, or that is neither its user's nor root's, is not used. Where root unpacks, files keep
  # these owners; elsewhere they become those of who unpacks.
  run("pack ${NAME}" COMMAND tar --create --gzip --file=${archive} --format=gnu --owner=root:0 --group=root:0
      --mode=u+rwX,go+rX,go-w ${NAME} WORKING_DIRECTORY ${PLACE})
  set(table "")
  file(GLOB parts RELATIVE ${root} ${root}/*)
  foreach(part IN LISTS parts)
    size_of(bytes ${root}/${part})
    in_mebibytes(size ${bytes})
    string(APPEND table "  ${part}: ${size}\n")
  endforeach()
  file(SIZE ${archive} bytes)
  in_mebibytes(size ${bytes})
  math(EXPR most "${most_mebibytes} * 1048576")
  if(bytes GREATER most)
    file(REMOVE ${archive})
    message(FATAL_ERROR "${NAME}.tar.gz would have ${size}, more than ${most_mebibytes} MiB; unpacked:\n${table}")
  endif()
  file(SHA256 ${archive} checksum)
  file(WRITE ${archive}.sha256 "${checksum}  ${NAME}.tar.gz\n")
  message(STATUS "${archive}: ${size}; unpacked:\n${table}")
endfunction()

install_programs()
install_libraries()
install_built_in_notices(${root})
check_glibc()
fill_cache()
pack()
