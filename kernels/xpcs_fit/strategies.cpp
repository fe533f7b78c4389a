// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/strategies.hpp"

#include "host/isa.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/gemm.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr int chunked_slots = 2;

bool goes_in_parts(Variant variant, const StrategyOptions& options) {
  return options.strategy > Strategy::large ||
         (options.strategy == Strategy::large && variant == Variant::reference);
}

void check_options(Variant variant, const Problem& problem, const StrategyOptions& options) {
  const auto refuse = [&](bool wrong, std::string_view why) {
    if (wrong)
      throw Error(Fault::bad_input, text("invalid_option: a fit whose strategy is ",
                                         strategy_words.of(options.strategy), " ", why));
  };
  refuse(options.strategy <= Strategy::large && options.source != DataSource::resident,
         "has its data resident");
  refuse(options.passes != 0 && options.passes != accounted_passes,
         text("makes ", accounted_passes, " passes or as many as it takes, not ", options.passes));
  if (!goes_in_parts(variant, options)) return;
  const Options& form = problem.options;
  refuse(form.scaling != Scaling::shared || form.loss != Loss::linear ||
             form.weights != Weights::unit || form.precision != Precision::f64,
         "is linear, in f64, with one contrast for all angles and without weights");
  refuse(options.chunk < 1, text("goes over chunks of points, not of ", options.chunk));
}

// A strategy as stream options.
StreamOptions streaming(const StrategyOptions& options) {
  const bool chunked = options.strategy == Strategy::chunked;
  return {.batch = options.chunk,
          .passes = options.passes,
          .source = options.source,
          .order = BatchOrder::rows,
          .slots = chunked ? chunked_slots : stream_slots,
          .told = chunked ? options.told : std::function<void(int, int)>(),
          .settings = {.mode = StreamMode::plain}};
}

Unit unit_of(const StrategyOptions& options) {
  return options.passes > 0 ? Unit::fit : Unit::converged_fit;
}

}  // namespace

std::unique_ptr<Computation> make_fit(Backend& backend, Variant variant, const Problem& problem,
                                      const StrategyOptions& options) {
  validate(problem);
  check_options(variant, problem, options);
  if (!goes_in_parts(variant, options)) return make(unit_of(options), backend, variant, problem);
  if (variant == Variant::optimized) return make_stream(backend, problem, streaming(options));
  StrategyOptions plain = options;
  if (options.strategy != Strategy::chunked) plain.told = {};
#ifdef HOLDFAST_CUDA
  if (backend.device) return make_cuda_plain_fit(backend, problem, plain);
#endif
  return host::choose_isa(isa_v3::make_host_plain_fit, isa_v4::make_host_plain_fit)(backend,
                                                                                    problem, plain);
}

std::int64_t estimate_fit_bytes(const Backend& backend, Variant variant, const Problem& problem,
                                const StrategyOptions& options) {
  const Size& size = problem.input->size;
  if (!goes_in_parts(variant, options))
    return estimate_bytes(unit_of(options), backend, variant, size, problem.options);
  if (variant == Variant::optimized)
    return estimate_stream_bytes(backend, problem, streaming(options));
  // Data, g1, model, residual and Jacobian of a chunk, planes, and the library's work area.
  const std::int64_t chunk = std::min(options.chunk, size.points());
  const int p = parameter_count(problem.options, size.angles);
  const std::int64_t data = options.source == DataSource::resident ? size.points() : chunk;
  return 8 * (data + chunk * (3 + p) +
              size.plane() * (problem.options.mode == Mode::laminar ? 2 : 1)) +
         (backend.device ? static_cast<std::int64_t>(gemm_work_area_bytes) : 0);
}

}  // namespace holdfast::xpcs_fit
