// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/streams.hpp"

#include <algorithm>
#include <ios>
#include <string_view>

#include "host/isa.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "xpcs_fit/device/arguments.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/strategy.hpp"
#include "xpcs_fit/stream/checksum.hpp"

namespace holdfast::xpcs_fit {

std::string configuration(const Backend& backend, const Problem& problem,
                          const StreamOptions& options) {
  const Input& input = *problem.input;
  const std::string_view data(reinterpret_cast<const char*>(input.data.data()),
                              input.data.size() * sizeof(double));
  std::string words = text(
      backend.device ? device_class(backend) : host_limits().isa, std::hexfloat, " angles ",
      input.size.angles, " frames ", input.size.frames, " q ", input.physics.q, " gap ",
      input.physics.gap, " dt ", input.physics.dt, " noise ", input.noise, " seed ", input.seed,
      " data ", crc32c(data), " mode ", static_cast<int>(problem.options.mode), " f64 ",
      problem.options.precision == Precision::f64, " rows ", options.order == BatchOrder::rows,
      " full ", options.settings.mode == StreamMode::full, " batch ", options.batch, " passes ",
      options.passes, " retries ", options.settings.retries, " key ", options.settings.faults.key,
      " probability ", options.settings.faults.probability, " permanent");
  for (const int batch : options.settings.faults.permanent) words += text(" ", batch);
  for (const auto* row : {&input.angles, &input.box.start, &input.box.lower, &input.box.upper})
    for (const double value : *row) words += text(" ", std::hexfloat, value);
  return words;
}

void check_stream_settings(const StreamSettings& settings) {
  if (settings.checkpoint_frequency < 1)
    throw Error(Fault::bad_input, text("invalid_option: a checkpoint every ",
                                       settings.checkpoint_frequency, " batches; give 1 or more"));
  const double least = settings.least_success_rate;
  if (!(least >= 0 && least <= 1))
    throw Error(Fault::bad_input,
                text("invalid_option: a least success rate of ", least, "; give 0 to 1"));
}

namespace {

void refuse_option(bool wrong, std::string_view why) {
  if (wrong) throw Error(Fault::bad_input, text("invalid_option: ", why));
}

void check_options(const Backend& backend, const Problem& problem, const StreamOptions& options) {
  const Options& form = problem.options;
  refuse_option(
      form.scaling != Scaling::shared || form.loss != Loss::linear || form.weights != Weights::unit,
      "a fit that streams is linear, with one contrast for all angles and without weights");
  if (options.batch < 1)
    throw Error(Fault::bad_input,
                text("invalid_option: batches of ", options.batch, " points; give 1 or more"));
  check_stream_settings(options.settings);
  const bool planted =
      options.settings.faults.probability > 0 || !options.settings.faults.permanent.empty();
  refuse_option(
      planted && options.source != DataSource::host,
      "a fault is planted into a batch's copy, and data of this source have none; take them "
      "from the host");
  refuse_option(planted && options.settings.mode != StreamMode::full,
                "a fault is planted where faults are not tolerated");
  refuse_option(!options.folder.empty() && options.settings.mode == StreamMode::plain,
                "a plain stream saves nothing; make it fast or full");
  if (backend.device) {
    const bool flat = options.order == BatchOrder::flat;
    refuse_option(flat && (!is_looked_at(options) || options.source != DataSource::host),
                  "batches of the flat order come to a device from the host and are looked at one "
                  "by one; make the stream full or leave the order out");
    refuse_option(flat && options.budget_bytes.has_value(),
                  "a budget is kept by fewer rows; leave the order out");
    return;
  }
  refuse_option(options.source == DataSource::generated, "data are generated on a device alone");
  refuse_option(form.precision != Precision::f64, "a fit that streams on a host is in f64");
  refuse_option(
      options.source == DataSource::resident && options.order != BatchOrder::rows,
      "batches of the flat order are copied; resident data are streamed by rows on a host");
  refuse_option(options.budget_bytes.has_value(), "a budget is of a device's memory");
}

// The options with fewer and fewer rows per batch, until the stream fits its budget.
StreamOptions within_budget(const Backend& backend, const Problem& problem, StreamOptions options) {
  const Size& size = problem.input->size;
  const std::int64_t row = std::int64_t{size.angles} * size.frames;
  int rows = rows_of_batch(problem.input->size, options.batch);
  const auto bytes = [&] {
    options.batch = rows * row;
    return estimate_stream_bytes(backend, problem, options);
  };
  while (bytes() > *options.budget_bytes) {
    if (rows == 1)
      throw Error(Fault::bad_input,
                  text("budget_too_small: a stream of single rows of ", size.frames, " frames and ",
                       size.angles, " angles holds ", bytes(), " bytes, and ",
                       *options.budget_bytes, " are allowed"));
    rows = std::max(1, rows * 7 / 8);
  }
  return options;
}

std::unique_ptr<Computation> made(Backend& backend, const Problem& problem,
                                  const StreamOptions& settled) {
#ifdef HOLDFAST_CUDA
  if (backend.device) return make_cuda_stream(backend, problem, settled);
#endif
  return host::choose_isa(isa_v3::make_host_stream, isa_v4::make_host_stream)(backend, problem,
                                                                              settled);
}

// Whether halving the batches would save memory: half a batch is at least a row of every angle, or
// a point, and the data are not resident.
bool can_be_halved(const Problem& problem, const StreamOptions& settled) {
  const Size& size = problem.input->size;
  const std::int64_t least =
      settled.order == BatchOrder::rows ? std::int64_t{size.angles} * size.frames : 1;
  return settled.source != DataSource::resident && settled.batch / 2 >= least;
}

}  // namespace

std::unique_ptr<Computation> make_stream(Backend& backend, const Problem& problem,
                                         const StreamOptions& options) {
  validate(problem);
  check_options(backend, problem, options);
  StreamOptions settled = options.budget_bytes ? within_budget(backend, problem, options) : options;
  settled.order = options.order.value_or(backend.device ? BatchOrder::rows : BatchOrder::flat);
  settled.batch = std::min(settled.batch, problem.input->size.points());
  for (;;) {
    try {
      return made(backend, problem, settled);
    } catch (const Error& error) {
      if (error.fault() != Fault::out_of_memory || !can_be_halved(problem, settled)) throw;
      log(LogLevel::warn, text("a stream begins with batches of half of ", settled.batch,
                               " points: ", error.what()));
      settled.batch /= 2;
    }
  }
}

std::int64_t estimate_stream_bytes(const Backend& backend, const Problem& problem,
                                   const StreamOptions& options) {
  const Size& size = problem.input->size;
  const std::int64_t real = problem.options.precision == Precision::f32 ? 4 : 8,
                     frames = size.frames, angles = size.angles;
  const int p = parameter_count(problem.options, size.angles);
  const std::int64_t sums = sum_count(p), rows = rows_of_batch(problem.input->size, options.batch);
  if (!backend.device) {
    const std::int64_t threads = host_threads(problem.options, rows * frames * angles);
    const bool flat = options.order != BatchOrder::rows;
    const std::int64_t held = options.source == DataSource::resident ? size.points()
                              : flat                                 ? options.batch + frames
                                                                     : threads * frames * angles;
    const std::int64_t blocks = flat ? 1 : std::min<std::int64_t>(rows, 32);
    const std::int64_t lanes = host_limits().isa == "x86-64-v4" ? 8 : 4;  // that pad the frames
    return 8 * (held + 8 * (frames + lanes) + blocks * sums +
                static_cast<std::int64_t>(normal_count(p)) + fit_count(p));
  }
  const bool full = is_looked_at(options), flat = options.order == BatchOrder::flat;
  const bool generated = options.source == DataSource::generated;
  const std::int64_t slots = generated ? 1 : full ? stream_slots : options.slots;
  const std::int64_t batch = flat ? std::min(options.batch, size.points()) : rows * frames * angles;
  const std::int64_t data = options.source == DataSource::resident ? size.points() : slots * batch;
  const std::int64_t of_truth = generated ? 8 * (16 * frames + 6 * angles) : 0;
  const std::int64_t blocks =
      std::clamp<std::int64_t>(((flat ? batch : rows * frames) + pair_threads - 1) / pair_threads,
                               1, std::int64_t{2} * backend.device->architecture().multiprocessors);
  const std::int64_t own =
      full ? stream_slots * sums + p + fit_count(p) : sums + 3 * p + 2 * fit_count(p) + 1;
  return of_truth + real * (data + 8 * frames + 5 * angles) + 8 * (8 * frames + angles) +
         8 * (blocks * sums + (flat ? 0 : sums)) + 8 * own;
}

FitWithin make_fit_within(Backend& backend, const Problem& problem) {
  FitWithin made;
  try {
    made.computation = make(Unit::fit, backend, Variant::optimized, problem);
  } catch (const Error& error) {
    if (error.fault() != Fault::out_of_memory || !backend.device) throw;
    made.recovery_actions.push_back(text("standard -> streaming: ", error.what()));
    made.computation =
        make_stream(backend, problem,
                    {.batch = problem.input->size.points(),
                     .passes = accounted_passes,
                     .budget_bytes = *backend.ledger.limit_bytes() - backend.ledger.live_bytes,
                     .settings = {.mode = StreamMode::plain}});
  }
  return made;
}

}  // namespace holdfast::xpcs_fit
