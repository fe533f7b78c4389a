// SPDX-License-Identifier: Apache-2.0
// Private to the workload: a streamed fit as a computation, for any source of batches.
#pragma once

#include <memory>
#include <vector>

#include "runtime/backend/buffer.hpp"
#include "xpcs_fit/streams.hpp"

namespace holdfast::xpcs_fit {

// Constructs SomeBatches(backend, problem, options).
template <class SomeBatches>
class Streamed final : public Computation {
 public:
  Streamed(Backend& backend, const Problem& problem, const StreamOptions& options)
      : resumes_(options.resume),
        plain_(options.settings.mode == StreamMode::plain),
        batches_(backend, problem, options),
        checkpoints_(opened(backend, problem, options)),
        fit_(problem, options.passes, batches_, settings_of(options, checkpoints_.get())),
        out_(backend, static_cast<std::size_t>(fit_count(fit_.state().p)), "result") {}

  void step() override {
    resumes_ ? fit_.resume() : fit_.run();
    if (checkpoints_) checkpoints_->drain();
    out_.upload({fit_.state().at, out_.size()});
  }
  std::vector<double> result() override {
    std::vector<double> state = out_.to_host();
    return fit_result({state.data(), fit_.state().p}, fit_.freedom());
  }
  std::vector<NamedReading> readings() override {
    const StreamStatistics& of = fit_.statistics();
    const auto number = [](std::int64_t count) { return static_cast<double>(count); };
    if (plain_) return {{"n_batches", number(batches_.count())}};
    std::vector<NamedReading> all = {
        {"n_batches", number(batches_.count())}, {"batches", number(of.batches)},
        {"attempts", number(of.attempts)},       {"faults", number(of.faults)},
        {"recovered", number(of.recovered)},     {"failed", number(of.failed)},
        {"success_rate", fit_.success_rate()},   {"points", number(fit_.points())}};
    if (resumes_ && checkpoints_) all.push_back({"skipped_files", number(checkpoints_->skipped())});
    return all;
  }

 private:
  static std::unique_ptr<Checkpoints> opened(const Backend& backend, const Problem& problem,
                                             const StreamOptions& options) {
    if (options.folder.empty()) return nullptr;
    return std::make_unique<Checkpoints>(options.folder, configuration(backend, problem, options));
  }
  static StreamSettings settings_of(const StreamOptions& options, Checkpoints* checkpoints) {
    StreamSettings settings = options.settings;
    settings.checkpoints = checkpoints;
    if (options.told)
      settings.watch = [told = options.told, watch = settings.watch](const BatchRecord& record) {
        told(record.pass, record.batch);
        if (watch) watch(record);
      };
    return settings;
  }

  bool resumes_, plain_;
  SomeBatches batches_;
  std::unique_ptr<Checkpoints> checkpoints_;
  StreamedFit fit_;
  Buffer<double> out_;
};

}  // namespace holdfast::xpcs_fit
