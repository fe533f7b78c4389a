// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/nvtx.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <string>

namespace holdfast {
namespace {

bool injected() {
  const char* library = std::getenv("NVTX_INJECTION64_PATH");
  return library && *library;
}

}  // namespace

const bool nvtx_listens = injected();

void begin_nvtx_range(std::string_view name) {
  nvtxRangePushA(std::string(name).c_str());
}
void end_nvtx_range() noexcept {
  nvtxRangePop();
}

}  // namespace holdfast

#else

namespace holdfast {

const bool nvtx_listens = false;
void begin_nvtx_range(std::string_view) {}
void end_nvtx_range() noexcept {}

}  // namespace holdfast

#endif
