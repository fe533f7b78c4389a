# SPDX-License-Identifier: Apache-2.0
# The project's dependencies. bootstrap.sh installs all of them; nothing is downloaded here.

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(benchmark REQUIRED)
find_package(GTest REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS context)

# Writes pprof files; headers only.
find_path(HOLDFAST_PROTOZERO_INCLUDE protozero/pbf_builder.hpp REQUIRED)
add_library(holdfast_protozero INTERFACE)
target_include_directories(holdfast_protozero SYSTEM INTERFACE ${HOLDFAST_PROTOZERO_INCLUDE})

# Regular expressions of linear time; Debian's package has no CMake files.
find_path(HOLDFAST_RE2_INCLUDE re2/re2.h REQUIRED)
find_library(HOLDFAST_RE2 re2 REQUIRED)
add_library(holdfast_re2 INTERFACE)
target_include_directories(holdfast_re2 SYSTEM INTERFACE ${HOLDFAST_RE2_INCLUDE})
target_link_libraries(holdfast_re2 INTERFACE ${HOLDFAST_RE2})

# The OpenMP builds of FFTW and OpenBLAS: OpenBLAS's own threads beside OpenMP's are 10-30 times slower.
find_path(HOLDFAST_FFTW_INCLUDE fftw3.h REQUIRED)
find_library(HOLDFAST_FFTW fftw3 REQUIRED)
find_library(HOLDFAST_FFTWF fftw3f REQUIRED)
find_library(HOLDFAST_FFTW_OMP fftw3_omp REQUIRED)
find_library(HOLDFAST_FFTWF_OMP fftw3f_omp REQUIRED)
find_path(HOLDFAST_OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas-openmp REQUIRED)
find_library(HOLDFAST_OPENBLAS openblas PATH_SUFFIXES openblas-openmp REQUIRED)
add_library(holdfast_host INTERFACE)
target_include_directories(holdfast_host SYSTEM INTERFACE ${HOLDFAST_FFTW_INCLUDE}
                                                          ${HOLDFAST_OPENBLAS_INCLUDE})
target_link_libraries(
  holdfast_host INTERFACE ${HOLDFAST_FFTW_OMP} ${HOLDFAST_FFTW} ${HOLDFAST_FFTWF_OMP}
                          ${HOLDFAST_FFTWF} ${HOLDFAST_OPENBLAS} OpenMP::OpenMP_CXX)

# holdfast_is_no_older_cuda(<result> <folder of headers>): sets <result> to FALSE where they are older than CUDA 13's.
function(holdfast_is_no_older_cuda result folder)
  set(line "")
  if(EXISTS ${folder}/cuda_runtime_api.h)
    file(STRINGS ${folder}/cuda_runtime_api.h line REGEX "^#define CUDART_VERSION +[0-9]+")
  endif()
  string(REGEX MATCH "[0-9]+" version "${line}")
  if(version LESS 13000)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# The CUDA toolkit is optional: from the usual places, or the wheels that `bootstrap.sh --cuda` puts into .venv.
file(GLOB holdfast_wheels ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13)
set(holdfast_cuda_roots $ENV{CUDA_HOME} /usr/local/cuda /usr/local/cuda-13.0 ${holdfast_wheels})
find_path(HOLDFAST_CUDA_INCLUDE nvrtc.h HINTS ${holdfast_cuda_roots} PATH_SUFFIXES include
          VALIDATOR holdfast_is_no_older_cuda)
set(holdfast_cuda_missing "")
set(holdfast_cuda_current TRUE)
holdfast_is_no_older_cuda(holdfast_cuda_current "${HOLDFAST_CUDA_INCLUDE}")  # named by hand, or found before
if(NOT holdfast_cuda_current)
  list(APPEND holdfast_cuda_missing "CUDA 13, which ${HOLDFAST_CUDA_INCLUDE} is older than")
endif()
foreach(header nvrtc.h nvJitLink.h cuda_runtime_api.h cublas_v2.h cufft.h)
  if(NOT HOLDFAST_CUDA_INCLUDE OR NOT EXISTS ${HOLDFAST_CUDA_INCLUDE}/${header})
    list(APPEND holdfast_cuda_missing ${header})
  endif()
endforeach()
cmake_path(GET HOLDFAST_CUDA_INCLUDE PARENT_PATH holdfast_cuda_root)
foreach(library cudart nvrtc nvJitLink cublas cufft)
  string(TOUPPER HOLDFAST_${library} variable)
  # Wheels have libnvrtc.so.13, but no libnvrtc.so.
  find_library(${variable} NAMES ${library} lib${library}.so.13 lib${library}.so.12
               HINTS ${holdfast_cuda_root} PATH_SUFFIXES lib64 lib NO_DEFAULT_PATH)
  if(NOT ${variable})
    list(APPEND holdfast_cuda_missing lib${library})
  endif()
endforeach()
if(holdfast_cuda_missing)
  set(HOLDFAST_CUDA FALSE)
  list(JOIN holdfast_cuda_missing ", " holdfast_cuda_missing)
  set(HOLDFAST_CUDA_ABSENT "this build has no CUDA toolkit (missing: ${holdfast_cuda_missing}): run \
./cmake/bootstrap.sh --cuda and configure again")
  message(STATUS "Backends cuda and cuda-dry are left out: ${HOLDFAST_CUDA_ABSENT}")
else()
  set(HOLDFAST_CUDA TRUE)
  add_library(holdfast_cuda INTERFACE)
  target_include_directories(holdfast_cuda SYSTEM INTERFACE ${HOLDFAST_CUDA_INCLUDE})
  # All but the runtime are opened at first use (runtime/cuda/*_library.hpp); they lie beside it.
  target_link_libraries(holdfast_cuda INTERFACE ${HOLDFAST_CUDART} ${CMAKE_DL_LIBS})
  target_compile_definitions(holdfast_cuda INTERFACE HOLDFAST_CUDA=1)
  # NVRTC opens its builtins by name. From a wheel it finds them only through DT_RPATH, which unlike DT_RUNPATH also
  # serves what a library opens.
  target_link_options(holdfast_cuda INTERFACE -Wl,--disable-new-dtags)

  # CUPTI is optional too, and opened at run time only when a GPU is recorded: the build needs only its headers.
  find_path(HOLDFAST_CUPTI_INCLUDE cupti.h HINTS ${HOLDFAST_CUDA_INCLUDE} ${holdfast_cuda_root}/extras/CUPTI/include
            NO_DEFAULT_PATH)
  set(holdfast_cupti_version 0)
  if(EXISTS ${HOLDFAST_CUPTI_INCLUDE}/cupti_version.h)
    file(STRINGS ${HOLDFAST_CUPTI_INCLUDE}/cupti_version.h holdfast_cupti_line REGEX "^#define CUPTI_API_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+" holdfast_cupti_version "${holdfast_cupti_line}")
  endif()
  # Its records are laid out as in CUDA 13.
  if(holdfast_cupti_version GREATER_EQUAL 130000)
    set(HOLDFAST_CUPTI TRUE)
    target_include_directories(holdfast_cuda SYSTEM INTERFACE ${HOLDFAST_CUPTI_INCLUDE})
  else()
    set(HOLDFAST_CUPTI FALSE)
    set(HOLDFAST_CUPTI_ABSENT "CUPTI: this build has none of CUDA 13 (nvidia-cuda-cupti): run ./cmake/bootstrap.sh --cuda \
and configure again")
  endif()
endif()

# HOLDFAST_REQUIRE (cache or environment) names the backends that must not be silently absent.
set(HOLDFAST_REQUIRE "$ENV{HOLDFAST_REQUIRE}" CACHE STRING "Backends this build must have, e.g. host;cuda-dry:sm_90")
foreach(backend IN LISTS HOLDFAST_REQUIRE)
  if(backend MATCHES "^cuda" AND NOT HOLDFAST_CUDA)
    message(FATAL_ERROR "HOLDFAST_REQUIRE names ${backend}, but ${HOLDFAST_CUDA_ABSENT}.")
  endif()
endforeach()
