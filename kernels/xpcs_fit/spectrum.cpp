// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/spectrum.hpp"

#include <cmath>

#include "host/isa.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/data/samples.hpp"

namespace holdfast::xpcs_fit {

std::unique_ptr<Computation> make_spectrum(int n, Backend& backend, Variant variant) {
  if (n < 2)
    throw Error(Fault::bad_input,
                text("invalid_option: a transform of ", n, " x ", n, " samples; give 2 or more"));
  const bool optimized = variant == Variant::optimized;
#ifdef HOLDFAST_CUDA
  if (backend.device)
    return (optimized ? make_cuda_spectrum : make_cuda_plain_spectrum)(n, backend);
#endif
  const auto make =
      optimized
          ? host::choose_isa(isa_v3::make_host_spectrum, isa_v4::make_host_spectrum)
          : host::choose_isa(isa_v3::make_host_plain_spectrum, isa_v4::make_host_plain_spectrum);
  return make(n, backend);
}

double exact_power(int n, int input) {
  double sum = 0;
  for (const double x : samples(n, input)) sum += x * x;
  return sum * n * n;
}

Work spectrum_work(int n) {
  const double points = static_cast<double>(n) * n;
  return {
      .flops = 5 * points * std::log2(points) / 2 + 3 * points, .bytes = 8 * points, .phases = 3};
}

}  // namespace holdfast::xpcs_fit
