// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cupti_records.hpp"

#include <gmock/gmock.h>

#include <cuda_runtime_api.h>

#include "runtime/base/error.hpp"
#include "runtime/cuda/cupti_library.hpp"
#include "runtime/cuda/cupti_trace.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

template <class Record>
void give(const Record& record, DeviceRecords& records) {
  add(reinterpret_cast<const CUpti_Activity&>(record), records);
}

TEST(CuptiRecords, AKernelKeepsItsNameTimesAndCorrelation) {
  CUpti_ActivityKernel10 kernel = {};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.name = "_Z5stageIdEvPT_";
  kernel.correlationId = 70;
  kernel.start = 1'000'000'000'000'000'001;
  kernel.end = 1'000'000'000'000'000'901;
  DeviceRecords records;
  give(kernel, records);
  give(kernel, records);
  ASSERT_EQ(records.work.size(), 2);
  EXPECT_EQ(records.work[0].kind, DeviceRecord::Kind::kernel);
  EXPECT_EQ(*records.work[0].name, "_Z5stageIdEvPT_");
  EXPECT_EQ(records.work[0].name, records.work[1].name);
  EXPECT_EQ(records.work[0].correlation, 70);
  EXPECT_EQ(records.work[0].begin, 1'000'000'000'000'000'001);
  EXPECT_EQ(records.work[0].end, 1'000'000'000'000'000'901);
}

TEST(CuptiRecords, ACopyKeepsItsDirectionAndBytes) {
  CUpti_ActivityMemcpy6 copy = {};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.bytes = 4096;
  DeviceRecords records;
  for (const auto kind : {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH,
                          CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH}) {
    copy.copyKind = static_cast<std::uint8_t>(kind);
    give(copy, records);
  }
  ASSERT_EQ(records.work.size(), 3);
  EXPECT_EQ(records.work[0].kind, DeviceRecord::Kind::upload);
  EXPECT_EQ(records.work[1].kind, DeviceRecord::Kind::download);
  EXPECT_EQ(records.work[2].kind, DeviceRecord::Kind::copy);
  EXPECT_EQ(records.work[2].bytes, 4096);
}

TEST(CuptiRecords, AFillIsWorkOfTheDevice) {
  CUpti_ActivityMemset4 fill = {};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  fill.start = 5;
  fill.end = 7;
  DeviceRecords records;
  give(fill, records);
  ASSERT_EQ(records.work.size(), 1);
  EXPECT_EQ(records.work[0].kind, DeviceRecord::Kind::fill);
  EXPECT_EQ(records.work[0].end, 7);
}

TEST(CuptiRecords, DeviceMemoryIsToldAndPinnedMemoryIsNot) {
  CUpti_ActivityMemory4 memory = {};
  memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  memory.address = 0xa00;
  memory.bytes = 512;
  memory.timestamp = 10;
  DeviceRecords records;
  give(memory, records);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  give(memory, records);
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  give(memory, records);
  ASSERT_EQ(records.memory.size(), 2);
  EXPECT_EQ(records.memory[0].address, 0xa00);
  EXPECT_FALSE(records.memory[0].released);
  EXPECT_TRUE(records.memory[1].released);
  EXPECT_EQ(counts(records).memory_peak_bytes, 512);
}

TEST(CuptiRecords, AnExternalCorrelationTiesACallToTheVerbThatWasPushed) {
  CUpti_ActivityExternalCorrelation correlation = {};
  correlation.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  correlation.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  correlation.externalId = 1;  // pushed for the first verb
  correlation.correlationId = 70;
  DeviceRecords records;
  give(correlation, records);
  correlation.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC;  // somebody else's
  give(correlation, records);
  ASSERT_EQ(records.correlations.size(), 1);
  EXPECT_EQ(records.correlations[0].verb, 0);
  EXPECT_EQ(records.correlations[0].correlation, 70);
}

TEST(CuptiRecords, ModulesAreCountedAndOfJitOnlyCompilations) {
  CUpti_ActivityAPI call = {};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLibraryLoadData_v12060;
  CUpti_ActivityJit2 jit = {};
  jit.kind = CUPTI_ACTIVITY_KIND_JIT;
  DeviceRecords records;
  give(call, records);
  call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  give(call, records);
  jit.jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_CACHE_LOAD;
  give(jit, records);
  jit.jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_COMPILE;
  give(jit, records);
  EXPECT_EQ(records.modules_loaded, 1);
  EXPECT_EQ(records.jit_runs, 1);
}

TEST(CuptiLibrary, AMissingLibraryIsASentence) {
  const auto library = load_cupti("libcupti_that_is_not.so.1");
  EXPECT_THAT(library.absence, StartsWith("CUPTI: libcupti_that_is_not.so.1: cannot open"));
}

TEST(CuptiLibrary, AnotherLibraryIsNotTakenForIt) {
  EXPECT_THAT(load_cupti("libm.so.6").absence, HasSubstr("libm.so.6 has no cupti"));
}

TEST(CuptiLibrary, ARefusalSaysWhatToDoAboutIt) {
  if (!cupti_library().absence.empty()) GTEST_SKIP() << cupti_library().absence;
  const auto refusal =
      cupti_library().failure(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "enable records of kernels");
  EXPECT_THAT(refusal, StartsWith("CUPTI: failed to enable records of kernels: "));
  EXPECT_THAT(refusal, HasSubstr("only administrators profile"));
}

TEST(CuptiTrace, WithoutADriverItIsSilentAndSaysWhy) {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) == cudaSuccess) GTEST_SKIP() << "there is a driver";
  const auto trace = open_cupti_trace(std::chrono::steady_clock::now());
  trace->begin_verb(0);
  trace->end_verb();
  const auto records = trace->finish();
  EXPECT_THAT(records.silence, StartsWith("CUPTI: "));
  EXPECT_THAT(records.work, IsEmpty());
}

TEST(CuptiTrace, OnlyOneIsOpenAtATime) {
  const auto first = open_cupti_trace(std::chrono::steady_clock::now());
  EXPECT_THROW(open_cupti_trace(std::chrono::steady_clock::now()), Error);
}

TEST(CuptiTrace, AnotherMayFollow) {
  { const auto first = open_cupti_trace(std::chrono::steady_clock::now()); }
  EXPECT_NO_THROW(open_cupti_trace(std::chrono::steady_clock::now()));
}

}  // namespace
}  // namespace holdfast
