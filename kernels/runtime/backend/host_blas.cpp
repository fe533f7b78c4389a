// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/host_blas.hpp"

#include <cblas.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "runtime/backend/host_limits.hpp"

// OpenBLAS exports these, without a declaration in its headers.
extern "C" {
void gotoblas_dynamic_init();
void gotoblas_dynamic_quit();
}

namespace holdfast {
namespace {

constexpr const char* chosen_kernels = "OPENBLAS_CORETYPE";

void choose() {
  if (std::getenv(chosen_kernels) || openblas_get_corename() != std::string_view("Prescott"))
    return;
  ::setenv(chosen_kernels, host_limits().isa == "x86-64-v4" ? "SkylakeX" : "Haswell", 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  ::unsetenv(chosen_kernels);
}

}  // namespace

void choose_blas_kernels() {
  static std::once_flag chosen;
  std::call_once(chosen, choose);
}

}  // namespace holdfast
