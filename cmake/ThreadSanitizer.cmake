# SPDX-License-Identifier: Apache-2.0
# A build by -fsanitize=thread (preset `tsan`): what its tests need, so that a report is a race.
# GCC's OpenMP tells ThreadSanitizer nothing of its barriers, so that each loop of a team looks like a race. LLVM's, linked
# first, takes GCC's calls too, and its tool archer tells what a fork, a barrier, a lock and a join order. Both are in
# Debian's libomp-dev. Nothing is suppressed.

set(HOLDFAST_THREADS_ENVIRONMENT "")
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  return()
endif()

find_library(HOLDFAST_LLVM_OPENMP NAMES libomp.so.5 REQUIRED)
file(REAL_PATH ${HOLDFAST_LLVM_OPENMP} holdfast_llvm_openmp)
cmake_path(GET holdfast_llvm_openmp PARENT_PATH holdfast_llvm)
find_library(HOLDFAST_ARCHER archer HINTS ${holdfast_llvm} REQUIRED)
add_link_options(-Wl,--no-as-needed ${HOLDFAST_LLVM_OPENMP} -Wl,--as-needed)

# FFTW and OpenBLAS are not compiled for ThreadSanitizer, which ignores their memory accesses. At every region LLVM's OpenMP
# gives each thread of a team the floating-point mode of the first, while GCC's leaves a thread its own, as FlushTeamToZero
# needs; and it counts the CPUs only once, so the test of a later count is left out. So is the test of denormal numbers: small
# cases of the plain decoder meet some in its second thread, but none with GCC's OpenMP. So is the test whose child, forked from
# a process with threads, starts threads: ThreadSanitizer cannot follow it.
set(HOLDFAST_THREADS_ENVIRONMENT
    OMP_TOOL_LIBRARIES=${HOLDFAST_ARCHER} TSAN_OPTIONS=ignore_noninstrumented_modules=1:allocator_may_return_null=1 KMP_INHERIT_FP_CONTROL=false
    GTEST_FILTER=-HostLimits.TheCpusThatOpenMpCountsAreThoseThatThisProcessMayUse:SinglePrecision.MeetsNoDenormalNumbersInAStep:XpcsCheckpoints.SurviveBeingKilledAtAnyMoment)
