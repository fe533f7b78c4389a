// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/patterns.hpp"

#include <cmath>

#include "host/isa.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/data/data.hpp"
#include "xpcs_fit/oracle/oracle.hpp"

namespace holdfast::xpcs_fit {

std::unique_ptr<Computation> make(Pattern pattern, int count, Backend& backend, Variant variant,
                                  const Problem& problem) {
  validate(problem);
  if (count < 1)
    throw Error(Fault::bad_input, text("invalid_option: ", count, " is no count; give 1 or more"));
  const Options& form = problem.options;
  if (form.precision != Precision::f64 || form.scaling != Scaling::shared ||
      form.loss != Loss::linear || form.weights != Weights::unit)
    throw Error(Fault::bad_input,
                "invalid_option: patterns are measured in f64, with one contrast for all angles, a "
                "linear loss and no weights");
  const bool optimized = variant == Variant::optimized;
  if (pattern == Pattern::angle_loop && optimized) return make(Unit::g2, backend, variant, problem);
#ifdef HOLDFAST_CUDA
  if (backend.device)
    return (optimized ? make_cuda_pattern : make_cuda_reference_pattern)(pattern, count, backend,
                                                                         problem);
#endif
  const auto make = optimized
                        ? host::choose_isa(isa_v3::make_host_pattern, isa_v4::make_host_pattern)
                        : host::choose_isa(isa_v3::make_host_reference_pattern,
                                           isa_v4::make_host_reference_pattern);
  return make(pattern, count, backend, problem);
}

Work work(Pattern pattern, int count, const Size& size, const Options& options) {
  const auto n = static_cast<double>(size.points());
  Work least = work(pattern == Pattern::costs ? Unit::residual : Unit::g2, size, options);
  if (pattern == Pattern::costs) {
    least.flops *= count;
    least.bytes = 8 * n;
  }
  if (pattern >= Pattern::round_trip)
    least = {.flops = 3 * n * count, .bytes = 24 * n, .phases = 1};
  if (pattern == Pattern::chunks) least.phases = 2 * count;
  return least;
}

std::vector<double> parameter_sets(int count, const Options& options, int angles) {
  constexpr std::uint64_t seed = 20251022;
  const std::vector<double> known = truth(options, angles);
  std::vector<double> all;
  for (int set = 0; set < count; ++set)
    for (const double value : known)
      all.push_back(set == 0 ? value : value * (1 + 0.01 * noise(all.size(), seed, noise_of_sets)));
  return all;
}

std::vector<double> exact(Pattern pattern, int count, const Problem& problem) {
  std::vector<double> model = oracle::model(problem, problem.input->box.start);
  if (pattern == Pattern::angle_loop || pattern == Pattern::chunks) return model;
  std::vector<double> all;
  if (pattern >= Pattern::round_trip) {
    const double left = std::pow(1 - relaxation, count);
    for (std::size_t k = 0; k < model.size(); ++k)
      all.push_back(model[k] + left * (problem.input->data[k] - model[k]));
    return all;
  }
  const std::size_t p = problem.input->box.start.size();
  const std::vector<double> sets =
      parameter_sets(count, problem.options, problem.input->size.angles);
  for (auto set = sets.begin(); set != sets.end(); set += static_cast<std::ptrdiff_t>(p))
    all.push_back(oracle::cost(problem, {set, set + static_cast<std::ptrdiff_t>(p)}));
  return all;
}

}  // namespace holdfast::xpcs_fit
