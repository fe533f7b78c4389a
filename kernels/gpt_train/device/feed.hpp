// SPDX-License-Identifier: Apache-2.0
// The transfers of a step: a batch with its schedule, in one upload of 12 n + 64 bytes, and the
// loss, in one download of 16. Neither is waited for: two slots alternate, and a slot is rewritten
// once the step that read it is over.
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpt_train/data/data.hpp"
#include "gpt_train/device/arguments.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/stepped/fetching.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/pinned_bytes.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train {

// Positions sorted by token, stably.
inline void sort_by_token(std::span<const int> tokens, int vocabulary, std::span<int> order) {
  std::vector<int> next(vocabulary + 1);
  for (const int token : tokens) ++next[token + 1];
  for (int token = 0; token < vocabulary; ++token) next[token + 1] += next[token];
  for (std::size_t at = 0; at < tokens.size(); ++at)
    order[next[tokens[at]]++] = static_cast<int>(at);
}

inline Schedule schedule_of(const Rates& rates, std::int64_t count) {
  Schedule s = {.inverse_root = static_cast<float>(1 / std::sqrt(double(count))),
                .count = static_cast<int>(count),
                .embedding = static_cast<float>(rates.embedding.rate / rates.embedding.correction1),
                .head = static_cast<float>(rates.head.rate / rates.head.correction1),
                .matrix = static_cast<float>(rates.matrix.rate / rates.matrix.correction1),
                .head_decay = static_cast<float>(rates.head.rate * rates.head.decay),
                .matrix_decay = static_cast<float>(rates.matrix.rate * rates.matrix.decay),
                .second = static_cast<float>(1 / std::sqrt(rates.embedding.correction2)),
                .norm = static_cast<float>(rates.norm.rate),
                .muon = static_cast<float>(rates.muon_rate)};
  for (std::size_t i = 0; i < rates.timescales.size(); ++i)
    s.gain[i] = static_cast<float>(rates.timescales[i].gain);
  return s;
}

class Feed {
 public:
  Feed(Backend& backend, const Options& options)
      : device_(*backend.device),
        options_(options),
        n_(static_cast<std::size_t>(options.shape.tokens())),
        memory_(backend, bytes(n_), "inputs"),
        sums_(backend, 2, "result: loss") {
    for (Slot& slot : slots_) {
      slot.batch.emplace(device_, bytes(n_));
      slot.loss.emplace(device_, loss_bytes);
      slot.over = device_.make_event("step over");
      slot.arrived = device_.make_event("batch arrived");
    }
    if (options.fetching.ahead)
      worker_ = std::make_unique<FetchWorker>(
          [this](std::int64_t step, std::size_t slot) { prepare(slots_[slot], step); });
  }

  Inputs inputs() const {
    const auto* const schedule = reinterpret_cast<const Schedule*>(memory_.data());
    const auto* const tokens = reinterpret_cast<const int*>(schedule + 1);
    return {schedule,
            tokens,
            tokens + n_,
            tokens + 2 * n_,
            static_cast<int>(n_),
            options_.shape.columns,
            options_.shape.vocabulary - 1};
  }
  double* sums() const { return sums_.data(); }

  // Sends the batch of a step and the rates of its update. An earlier step's loss is checked as
  // soon as that step is over, at the latest when its slot is needed again.
  void send(std::int64_t step) {
    if (const Slot& before = slot_of(step + 1); before.tells && device_.reached(*before.over))
      refuse_no_number(before);
    const bool ahead = worker_ && worker_->runs();
    // Once the previous batch has arrived, which happens when the step before it is over, its slot
    // is free for the worker to write the batch after this one.
    if (ahead && sent_ && step > 0) {
      device_.keep_pace(*sent_->arrived);
      worker_->give_back(step - 1);
    }
    Slot& slot = free_slot(step);
    {
      const Scope scope("fetch_batch");
      if (ahead)
        worker_->take(step);
      else
        prepare(slot, step);
    }
    checksum_ += slot.checksum;
    upload(slot, bytes(n_));
    device_.record(*slot.arrived, Lane::main);
  }
  // Sends the rates only.
  void send_rates(std::int64_t step) { upload(free_slot(step), sizeof(Schedule)); }
  // Downloads the loss of the step that was sent last, once the whole step is enqueued.
  void fetch_loss() {
    device_.download_later(sent_->loss->data(), sums_.data(), loss_bytes, Lane::main);
    sent_->tells = true;
  }
  void done() { device_.record(*sent_->over, Lane::main); }

  struct Loss {
    double mean = 0, deviation = 0, objective = 0;
  };
  // The loss of the step that was sent last, after the device has finished it.
  Loss newest_loss() const {
    const std::vector<double> told = sums_.to_host();
    return {told[0], told[1], told[0] * std::sqrt(double(sent_->count))};
  }
  // Checks the losses that have not been checked, the earlier step's first; after the device has
  // finished everything sent.
  void check_losses() {
    if (!sent_) return;
    refuse_no_number(slot_of(sent_->step + 1));
    refuse_no_number(*sent_);
  }
  // Restarts the count of steps; losses of earlier steps are no longer checked.
  void forget() {
    if (worker_) worker_->halt();
    for (Slot& slot : slots_) slot.tells = false;
  }
  // The next step is the first, and its batch may be made now.
  void begin() {
    checksum_ = 0;
    if (!worker_) return;
    device_.synchronize();  // everything sent from the slots has arrived
    worker_->begin(0);
  }

  std::uint64_t checksum() const { return checksum_; }
  double waited_seconds() const { return worker_ ? worker_->waited_seconds() : 0; }

  static std::size_t bytes(std::size_t n) { return sizeof(Schedule) + 3 * n * sizeof(int); }

 private:
  static constexpr std::size_t loss_bytes = 2 * sizeof(double);

  struct Slot {
    std::optional<PinnedBytes> batch = {}, loss = {};
    std::unique_ptr<LaneEvent> over = {}, arrived = {};
    std::int64_t step = 0, count = 1;
    std::uint64_t checksum = 0;
    bool tells = false;  // whether a loss is being copied to it
  };
  void prepare(Slot& slot, std::int64_t step) const {
    auto* const ints = reinterpret_cast<int*>(slot.batch->data() + sizeof(Schedule));
    const Fetched here = fetched(options_, step);
    slot.count = here.targets.count;
    slot.checksum = here.checksum;
    std::copy(here.batch.tokens.begin(), here.batch.tokens.end(), ints);
    std::copy(here.batch.documents.begin(), here.batch.documents.end(), ints + n_);
    sort_by_token({ints, n_}, options_.shape.vocabulary, {ints + 2 * n_, n_});
  }
  Slot& slot_of(std::int64_t step) {
    return slots_[static_cast<std::size_t>(step) % slots_.size()];
  }
  void refuse_no_number(const Slot& slot) const {
    if (slot.tells && device_.executes() &&
        !std::isfinite(*reinterpret_cast<const double*>(slot.loss->data())))
      throw Error(Fault::broken_rule, text("Loss is NaN, stopping training at step ", slot.step));
  }
  Slot& free_slot(std::int64_t step) {
    Slot& slot = slot_of(step);
    if (slot.over->recorded_on && !device_.reached(*slot.over)) device_.keep_pace(*slot.over);
    refuse_no_number(slot);
    slot.tells = false;
    slot.step = step;
    return slot;
  }
  void upload(Slot& slot, std::size_t count) {
    const Scope scope("to_device");
    sent_ = &slot;
    *reinterpret_cast<Schedule*>(slot.batch->data()) =
        schedule_of(rates_of(options_, slot.step), slot.count);
    device_.upload_later(memory_.data(), slot.batch->data(), count, Lane::main);
  }

  Device& device_;
  Options options_;
  std::size_t n_;
  Buffer<std::byte> memory_;
  Buffer<double> sums_;
  std::array<Slot, 2> slots_ = {};
  Slot* sent_ = nullptr;
  std::uint64_t checksum_ = 0;                // over all steps so far
  std::unique_ptr<FetchWorker> worker_ = {};  // last: it writes slots
};

}  // namespace holdfast::gpt_train
