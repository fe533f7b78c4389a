// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cupti_library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

constexpr unsigned major_of(unsigned version) {
  return version / 10000;
}

// The user's remedy for a failure; empty if there is none.
std::string_view advice(CUptiResult status) {
  switch (status) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return " (the driver lets only administrators profile: run as root, or load it with "
             "NVreg_RestrictProfilingToAdminUsers=0)";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
    case CUPTI_ERROR_HARDWARE_BUSY:
      return " (another profiler holds it: end that one)";
    case CUPTI_ERROR_NOT_INITIALIZED:
    case CUPTI_ERROR_NOT_COMPATIBLE:
      return " (there is no driver that fits this CUPTI)";
    default:
      return "";
  }
}

std::vector<std::string> candidates() {
  const auto soname = text("libcupti.so.", CUDART_VERSION / 1000);
  std::vector<std::string> files = {soname};
  Dl_info runtime = {};
  if (dladdr(reinterpret_cast<void*>(&cudaRuntimeGetVersion), &runtime) && runtime.dli_fname) {
    const auto folder = std::filesystem::path(runtime.dli_fname).parent_path();
    files.push_back(folder / soname);
    files.push_back(folder / "../extras/CUPTI/lib64" / soname);
  }
  return files;
}

CuptiLibrary find_cupti() {
  CuptiLibrary library;
  for (const auto& file : candidates()) {
    library = load_cupti(file);
    if (library.absence.empty()) return library;
  }
  return library;
}

}  // namespace

// The library stays loaded: CUPTI's own threads may still run in it.
CuptiLibrary load_cupti(const std::string& file) {
  CuptiLibrary library;
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    library.absence = text("CUPTI: ", dlerror());
    return library;
  }
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
    if (!function && library.absence.empty())
      library.absence = text("CUPTI: ", file, " has no ", symbol);
  };
  find(library.version, "cuptiGetVersion");
  find(library.result_string, "cuptiGetResultString");
  find(library.timestamp, "cuptiGetTimestamp");
  find(library.register_callbacks, "cuptiActivityRegisterCallbacks");
  find(library.enable, "cuptiActivityEnable");
  find(library.disable, "cuptiActivityDisable");
  find(library.flush_all, "cuptiActivityFlushAll");
  find(library.next_record, "cuptiActivityGetNextRecord");
  find(library.dropped_records, "cuptiActivityGetNumDroppedRecords");
  find(library.push_correlation, "cuptiActivityPushExternalCorrelationId");
  find(library.pop_correlation, "cuptiActivityPopExternalCorrelationId");
  if (!library.absence.empty()) return library;

  // Another major version may lay out records differently.
  std::uint32_t version = 0;
  (void)library.version(&version);
  if (major_of(version) != major_of(CUPTI_API_VERSION))
    library.absence =
        text("CUPTI: ", file, " is version ", version, ", this build reads ", CUPTI_API_VERSION);
  return library;
}

const CuptiLibrary& cupti_library() {
  static const CuptiLibrary library = find_cupti();
  return library;
}

std::string CuptiLibrary::failure(CUptiResult status, std::string_view doing) const {
  const char* words = nullptr;
  (void)result_string(status, &words);
  return text("CUPTI: failed to ", doing, ": ", words ? words : "unknown status", advice(status));
}

}  // namespace holdfast
