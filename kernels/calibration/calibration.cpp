// SPDX-License-Identifier: Apache-2.0
#include "calibration/calibration.hpp"

#include <cmath>

#include "calibration/variants.hpp"
#include "host/isa.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::calibration {
namespace {

std::unique_ptr<Calibration> make_if_there(Backend& backend, const Size& size) {
  if (size.kind == Kind::matrix_product) return make_matrix_product(backend, size);
  if (backend.device) {
#ifdef HOLDFAST_CUDA
    return make_on_device(backend, size);
#else
    refuse_device_code();
#endif
  }
  using host::choose_isa;
  auto made = choose_isa(isa_v3::make_host_memory, isa_v4::make_host_memory)(backend, size);
  if (made) return made;
  return choose_isa(isa_v3::make_host_arithmetic, isa_v4::make_host_arithmetic)(backend, size);
}

}  // namespace

std::string_view name(Kind kind) {
  constexpr std::string_view names[] = {"copy",         "triad",          "read",
                                        "memory_copy",  "upload",         "multiply_add",
                                        "exponentials", "matrix_product", "split_products",
                                        "launches",     "graph_nodes",    "barriers"};
  return names[static_cast<std::size_t>(kind)];
}

std::unique_ptr<Calibration> make(Backend& backend, const Size& size) {
  auto calibration = make_if_there(backend, size);
  if (!calibration)
    throw Error(Fault::bad_input, text("calibration ", name(size.kind), " does not exist on ",
                                       backend.name, ": calibrate something else there"));
  return calibration;
}

void verify(Calibration& calibration, std::string_view what) {
  const auto expected = calibration.expected(), result = calibration.result();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double limit = calibration.tolerance() * std::abs(expected[i]);
    if (i < result.size() && std::abs(result[i] - expected[i]) <= limit) continue;
    throw Error(
        Fault::device,
        text("calibration ", what, " gave ", i < result.size() ? text(result[i]) : "nothing",
             " for value ", i, " instead of ", expected[i],
             ": this machine does not compute right, or the calibration is broken"));
  }
}

std::unique_ptr<Calibration> make_verified(Backend& backend, const Size& size) {
  auto calibration = make(backend, size);
  calibration->step();
  verify(*calibration, name(size.kind));
  return calibration;
}

}  // namespace holdfast::calibration
