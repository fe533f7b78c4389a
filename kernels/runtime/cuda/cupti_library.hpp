// SPDX-License-Identifier: Apache-2.0
// The functions of CUPTI that we call, found at run time: a machine without CUPTI runs all the
// rest.
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

  std::string absence = {};  // why the functions are null: "CUPTI: ..."; empty where they are there

  // "CUPTI: failed to <doing>: CUPTI_ERROR_... (<what to do about it>)"
  std::string failure(CUptiResult status, std::string_view doing) const;
};

// By the loader's own search, else beside the CUDA runtime that this process uses.
const CuptiLibrary& cupti_library();

// The same from one file or soname.
CuptiLibrary load_cupti(const std::string& file);

}  // namespace holdfast
