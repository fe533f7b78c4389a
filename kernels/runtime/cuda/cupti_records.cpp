// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cupti_records.hpp"

#include <optional>

namespace holdfast {
namespace {

template <class Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

std::int64_t ticks(std::uint64_t nanoseconds) {
  return static_cast<std::int64_t>(nanoseconds);
}

void add_kernel(const CUpti_ActivityKernel10& kernel, DeviceRecords& records) {
  records.work.push_back({.kind = DeviceRecord::Kind::kernel,
                          .name = kernel.name ? records.named(kernel.name) : nullptr,
                          .correlation = kernel.correlationId,
                          .begin = ticks(kernel.start),
                          .end = ticks(kernel.end)});
}

std::optional<DeviceRecord::Kind> direction(std::uint8_t copy_kind) {
  switch (copy_kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return DeviceRecord::Kind::upload;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return DeviceRecord::Kind::download;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return DeviceRecord::Kind::copy;
    default:  // arrays, host to host, other GPUs: no verb of ours does these
      return {};
  }
}

void add_copy(const CUpti_ActivityMemcpy6& copy, DeviceRecords& records) {
  if (const auto kind = direction(copy.copyKind))
    records.work.push_back({.kind = *kind,
                            .correlation = copy.correlationId,
                            .begin = ticks(copy.start),
                            .end = ticks(copy.end),
                            .bytes = static_cast<std::int64_t>(copy.bytes)});
}

void add_fill(const CUpti_ActivityMemset4& fill, DeviceRecords& records) {
  records.work.push_back({.kind = DeviceRecord::Kind::fill,
                          .correlation = fill.correlationId,
                          .begin = ticks(fill.start),
                          .end = ticks(fill.end),
                          .bytes = static_cast<std::int64_t>(fill.bytes)});
}

void add_memory(const CUpti_ActivityMemory4& memory, DeviceRecords& records) {
  if (memory.memoryKind != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE) return;
  records.memory.push_back(
      {.at = ticks(memory.timestamp),
       .address = memory.address,
       .bytes = static_cast<std::int64_t>(memory.bytes),
       .released = memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE});
}

// Verbs are pushed starting at 1 (cupti_trace.cpp), in case CUPTI treats 0 as none.
void add_correlation(const CUpti_ActivityExternalCorrelation& of, DeviceRecords& records) {
  if (of.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
    records.correlations.push_back({of.correlationId, of.externalId - 1});
}

}  // namespace

void add(const CUpti_Activity& record, DeviceRecords& records) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return add_kernel(as<CUpti_ActivityKernel10>(record), records);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_copy(as<CUpti_ActivityMemcpy6>(record), records);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_fill(as<CUpti_ActivityMemset4>(record), records);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return add_memory(as<CUpti_ActivityMemory4>(record), records);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return add_correlation(as<CUpti_ActivityExternalCorrelation>(record), records);
    // Loading a module as a library leaves no module record, so the API call is counted.
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      records.modules_loaded +=
          as<CUpti_ActivityAPI>(record).cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLibraryLoadData_v12060;
      return;
    case CUPTI_ACTIVITY_KIND_JIT:
      records.jit_runs +=
          as<CUpti_ActivityJit2>(record).jitOperationType == CUPTI_ACTIVITY_JIT_OPERATION_COMPILE;
      return;
    default:
      return;
  }
}

}  // namespace holdfast
