// SPDX-License-Identifier: Apache-2.0
// The CUPTI functions that we call, loaded at run time: a machine without CUPTI runs everything
// else.
#pragma once

#include <cupti.h>

#include <string>
#include <string_view>

namespace holdfast {

struct CuptiLibrary {
  decltype(&cuptiGetVersion) version = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_correlation = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_correlation = nullptr;

  std::string absence = {};  // why the functions are null: "CUPTI: ..."; else empty

  // "CUPTI: failed to <doing>: CUPTI_ERROR_... (<what to do about it>)"
  std::string failure(CUptiResult status, std::string_view doing) const;
};

// Found by the loader's search, else beside the CUDA runtime of this process.
const CuptiLibrary& cupti_library();

// Loads one file or soname.
CuptiLibrary load_cupti(const std::string& file);

}  // namespace holdfast
