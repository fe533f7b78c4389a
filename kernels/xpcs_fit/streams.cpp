// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/streams.hpp"

#include "host/isa.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::xpcs_fit {

std::string configuration(const Problem& problem, const StreamOptions& options) {
  const Input& input = *problem.input;
  std::string words =
      text("angles ", input.size.angles, " frames ", input.size.frames, " q ", input.physics.q,
           " gap ", input.physics.gap, " dt ", input.physics.dt, " mode ",
           static_cast<int>(problem.options.mode), " batch ", options.batch, " retries ",
           options.settings.retries, " key ", options.settings.faults.key, " probability ",
           options.settings.faults.probability, " permanent");
  for (const int batch : options.settings.faults.permanent) words += text(" ", batch);
  for (const auto* row : {&input.box.start, &input.box.lower, &input.box.upper})
    for (const double value : *row) words += text(" ", value);
  return words;
}

std::unique_ptr<Computation> make_stream(Backend& backend, const Problem& problem,
                                         const StreamOptions& options) {
  validate(problem);
  const Options& form = problem.options;
  if (backend.device)
    throw Error(Fault::bad_input,
                "invalid_option: fits stream on the host alone; use --device=host");
  if (form.precision != Precision::f64 || form.scaling != Scaling::shared ||
      form.loss != Loss::linear || form.weights != Weights::unit)
    throw Error(Fault::bad_input,
                "invalid_option: a fit that streams is linear, in f64, with one contrast for all "
                "angles and without weights");
  if (options.batch < 1)
    throw Error(Fault::bad_input,
                text("invalid_option: batches of ", options.batch, " points; give 1 or more"));
  return host::choose_isa(isa_v3::make_host_stream, isa_v4::make_host_stream)(backend, problem,
                                                                              options);
}

}  // namespace holdfast::xpcs_fit
