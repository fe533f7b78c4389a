// SPDX-License-Identifier: Apache-2.0
// Streamed fits on a device. Batches are whole rows of every angle or ranges of the flat order; the
// next one is copied while one is computed. Full, saved and flat streams bring the sums of a batch
// to the host when two more have begun; others add them up on the device and ask once a pass, or,
// plain with a fixed number of passes, never.
#include <vector>

#include "xpcs_fit/device/batch_counter.hpp"
#include "xpcs_fit/device/fit_memory.hpp"
#include "xpcs_fit/device/flat_source.hpp"
#include "xpcs_fit/device/pass.hpp"
#include "xpcs_fit/device/row_source.hpp"
#include "xpcs_fit/device/stream_kernels.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/strategy.hpp"
#include "xpcs_fit/stream/streamed.hpp"

namespace holdfast::xpcs_fit {
namespace {

int batch_rows(const Problem& problem, const StreamOptions& options) {
  return rows_of_batch(problem.input->size, options.batch);
}
std::int64_t batch_pairs(const Problem& problem, const StreamOptions& options) {
  return std::int64_t{batch_rows(problem, options)} * problem.input->size.frames;
}

// Batches of whole rows of every angle.
template <class T>
class ByRows {
 public:
  ByRows(Backend& backend, const Problem& problem, const StreamOptions& options)
      : source_(backend, problem, batch_rows(problem, options), options.source, stream_slots),
        pass_(backend, problem, batch_pairs(problem, options)) {}

  int count() const { return source_.count(); }
  std::int64_t points(int batch) const { return source_.points(batch); }
  std::size_t sum_size() const { return pass_.sum_size(); }
  void prepare(const double* parameters, int parameter_count) const {
    pass_.prepare(parameters, parameter_count);
  }
  void add_up(int slot, int batch, bool poisoned, double* sums) {
    pass_.add_up(source_.fetch(slot, batch, poisoned), sums);
    source_.release(slot);
  }

 private:
  RowSource<T> source_;
  DevicePass<T> pass_;
};

// The sums of a batch are copied back without waiting; finish() waits for those of its slot only.
template <class Source>
class LookedAt final : public Batches {
 public:
  LookedAt(Backend& backend, const Problem& problem, const StreamOptions& options)
      : device_(*backend.device),
        problem_(problem),
        source_(backend, problem, options),
        parameters_(backend, problem.input->box.start, "parameters"),
        normal_(normal_count(static_cast<int>(parameters_.size()))) {
    for (int slot = 0; slot < stream_slots; ++slot) {
      sums_.emplace_back(backend, source_.sum_size(), "sums of a slot");
      home_.emplace_back(device_, sums_.back().bytes());
      told_.push_back(device_.make_event("sums"));
    }
  }

  int count() const override { return source_.count(); }
  int slots() const override { return stream_slots; }
  std::int64_t points(int batch) const override { return source_.points(batch); }

  void begin(int slot, int batch, bool poisoned, const std::vector<double>& at) override {
    if (at != at_) {
      at_ = at;
      parameters_.upload(at);
      source_.prepare(parameters_.data(), static_cast<int>(at.size()));
    }
    const auto which = static_cast<std::size_t>(slot);
    source_.add_up(slot, batch, poisoned, sums_[which].data());
    device_.download_later(home_[which].data(), sums_[which].data(), sums_[which].bytes(),
                           Lane::main);
    device_.record(*told_[which], Lane::main);
  }
  const double* finish(int slot) override {
    const auto which = static_cast<std::size_t>(slot);
    device_.await(*told_[which]);
    assemble(problem_.options, problem_.input->size.angles,
             {reinterpret_cast<const double*>(home_[which].data()), source_.sum_size()}, at_,
             normal_.data());
    return normal_.data();
  }

 private:
  Device& device_;
  Problem problem_;
  Source source_;
  Buffer<double> parameters_;
  std::vector<double> at_ = {}, normal_;
  std::vector<Buffer<double>> sums_ = {};
  std::vector<PinnedBytes> home_ = {};
  std::vector<std::unique_ptr<LaneEvent>> told_ = {};
};

// A stream without fault checks of batches: sums and steps stay on the device.
template <class T>
class PlainStream final : public Computation {
 public:
  PlainStream(Backend& backend, const Problem& problem, const StreamOptions& options)
      : device_(*backend.device),
        freedom_(freedom(problem)),
        p_(static_cast<int>(problem.input->box.start.size())),
        passes_(options.passes),
        looks_(options.settings.mode == StreamMode::fast),
        slots_(options.slots),
        source_(backend, problem, batch_rows(problem, options), options.source, slots_),
        pass_(backend, problem, batch_pairs(problem, options)),
        kernels_(*backend.compiler),
        totals_(backend, pass_.sum_size(), "totals"),
        box_(backend, in_a_row(problem.input->box), "box"),
        state_(backend, started_state(problem), "fit"),
        out_(backend, 1 + state_.size(), "result"),
        counter_(device_, source_.count(), options.told) {}

  void step() override {
    bool over = false;
    for (int pass = 0; passes_ > 0 ? pass < passes_ : !over; ++pass) {
      enqueue_pass(pass);
      if (looks_) look_at_cost();
      if (passes_ > 0) continue;
      double told[8] = {};
      device_.download(told, out_.data(), sizeof told);
      // Where nothing executes, makes as many passes as an accounted fit.
      over =
          told[0] != 0 || pass + 1 == (device_.executes() ? 4 * most_iterations : accounted_passes);
    }
  }
  std::vector<double> result() override {
    std::vector<double> all = out_.to_host();
    counter_.look();
    return fit_result({all.data() + 1, p_}, freedom_);
  }
  std::vector<NamedReading> readings() override {
    return {{"n_batches", static_cast<double>(source_.count())}};
  }

 private:
  // Checks the cost F of the current state; it is 0 if the fit has just ended.
  void look_at_cost() {
    double status[8] = {};
    device_.download(status, state_.data(), sizeof status);
    check_first_cost(FitState{status, p_}.cost());
  }
  void enqueue_pass(int pass) {
    const FitState fit = {state_.data(), p_};
    pass_.prepare(fit.trial(), p_);
    for (int batch = 0; batch < source_.count(); ++batch) {
      const int slot = batch % slots_;
      counter_.look();
      pass_.add_up(source_.fetch(slot, batch, false), pass_.sums().data());
      source_.release(slot);
      kernels_.add_batch({.block = {sum_threads}}, pass_.sums().data(),
                         static_cast<int>(totals_.size()), batch == 0, totals_.data());
      counter_.sent(pass, batch);
    }
    pass_.kernels().step({.block = {32}}, state_.data(), totals_.data(), box_.data(), p_, freedom_,
                         passes_, out_.data());
  }

  Device& device_;
  double freedom_;
  int p_, passes_;
  bool looks_;
  int slots_;
  RowSource<T> source_;
  DevicePass<T> pass_;
  StreamKernels kernels_;
  Buffer<double> totals_, box_, state_, out_;
  BatchCounter counter_;
};

template <class T>
std::unique_ptr<Computation> made_stream(Backend& backend, const Problem& problem,
                                         const StreamOptions& options) {
  if (options.order == BatchOrder::flat)
    return std::make_unique<Streamed<LookedAt<FlatSource<T>>>>(backend, problem, options);
  if (is_looked_at(options))
    return std::make_unique<Streamed<LookedAt<ByRows<T>>>>(backend, problem, options);
  return std::make_unique<PlainStream<T>>(backend, problem, options);
}

}  // namespace

std::unique_ptr<Computation> make_cuda_stream(Backend& backend, const Problem& problem,
                                              const StreamOptions& options) {
  return problem.options.precision == Precision::f32
             ? made_stream<float>(backend, problem, options)
             : made_stream<double>(backend, problem, options);
}

}  // namespace holdfast::xpcs_fit
