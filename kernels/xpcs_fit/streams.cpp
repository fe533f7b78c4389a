// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/streams.hpp"

#include "host/isa.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::xpcs_fit {

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
