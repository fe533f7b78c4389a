// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/host_blas.hpp"

#include <cblas.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "base/text.hpp"
#include "runtime/backend/host_limits.hpp"
#include "runtime/base/log.hpp"

// OpenBLAS exports these, without a declaration in its headers.
extern "C" {
void gotoblas_dynamic_init();
void gotoblas_dynamic_quit();
}

namespace holdfast {
namespace {

constexpr const char* coretype = "OPENBLAS_CORETYPE";

// Empty: by the processor.
void load_kernels(const char* core) {
  ::setenv(coretype, core, 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  ::unsetenv(coretype);
}

void choose() {
  const char* const asked = std::getenv(coretype);
  if (asked && *asked) {
    log(LogLevel::warn,
        text(coretype, "=", asked, " is ignored: the processor chooses the BLAS kernels"));
    load_kernels("");
  }
  if (openblas_get_corename() == std::string_view("Prescott"))
    load_kernels(host_limits().isa == "x86-64-v4" ? "SkylakeX" : "Haswell");
}

}  // namespace

void choose_blas_kernels() {
  static std::once_flag chosen;
  std::call_once(chosen, choose);
}

}  // namespace holdfast
