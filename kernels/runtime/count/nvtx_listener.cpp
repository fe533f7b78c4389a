// SPDX-License-Identifier: Apache-2.0
// Test support: a profiler's library as NVTX loads it. Records pushed and popped ranges.
#include <nvtx3/nvToolsExt.h>

#include <string>

namespace {

std::string& ranges() {
  static std::string text;
  return text;
}

int push(const char* name) {
  ranges() += std::string("(") + name;
  return 0;
}

int pop() {
  ranges() += ")";
  return 0;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const char* heard_ranges() {
  return ranges().c_str();
}

// NVTX calls this once, at the process's first range; returning 1 means ready.
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t export_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &functions, &size) ||
      size <= NVTX_CBID_CORE_RangePop)
    return 0;
  *functions[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *functions[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}

}  // extern "C"
