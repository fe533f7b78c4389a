// SPDX-License-Identifier: Apache-2.0
#include "heat/heat.hpp"

#include <cmath>
#include <numbers>

#include "heat/problem/formulas.hpp"
#include "host/isa.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::heat {

std::unique_ptr<Computation> make_step(Backend& backend, Variant variant, Size size) {
  if (size.n < 4 || size.n > 16384)
    throw Error(Fault::bad_input, text("n must be 4 to 16384, ", size.n, " given"));
#ifdef HOLDFAST_CUDA
  if (backend.device) return make_on_device(backend, variant, size);
#endif
  return host::choose_isa(isa_v3::make_on_host, isa_v4::make_on_host)(backend, variant, size);
}

// (1 - 4 r) u + r (north + south + west + east); u is read and written once.
Work step_work(Size size) {
  return {.flops = 6. * size.n * size.n, .bytes = 16. * size.n * size.n, .phases = 1};
}

std::vector<double> exact(Size size, int steps) {
  const double angle = 2 * std::numbers::pi / size.n;
  const double growth = 1 - 2 * diffusion * (2 - std::cos(angle) - std::cos(2 * angle));
  const double amplitude = std::pow(growth, steps) / 2;
  std::vector<double> u;
  for (int i = 0; i < size.n; ++i)
    for (int j = 0; j < size.n; ++j)
      u.push_back(1 + amplitude * std::sin(i * angle) * std::sin(2 * j * angle));
  return u;
}

}  // namespace holdfast::heat
