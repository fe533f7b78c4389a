// SPDX-License-Identifier: Apache-2.0
// Private to streams on a device: counts the batches that are done by querying events, so that
// nothing waits for them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/device/device.hpp"

namespace holdfast::xpcs_fit {

class BatchCounter {
 public:
  using Told = std::function<void(int pass, int batch)>;

  BatchCounter(Device& device, int batches, Told told)
      : device_(device), batches_(batches), told_(std::move(told)) {
    if (!told_) return;
    for (int k = 0; k < most; ++k) free_.push_back(device.make_event("batch done"));
  }

  // All of batch `batch` has been enqueued on the main lane. If no event is free, the one recorded
  // last counts this batch too. A new fit gets a new event, so that the last one still marks the
  // end of the fit before it.
  void sent(int pass, int batch) {
    if (!told_) return;
    if (free_.empty() && pass == 0 && batch == 0) free_.push_back(device_.make_event("batch done"));
    if (free_.empty()) {
      underway_.back().pass = pass;
      underway_.back().batch = batch;
    } else {
      underway_.push_back({pass, batch, std::move(free_.back())});
      free_.pop_back();
    }
    device_.record(*underway_.back().done, Lane::main);
  }
  // Reports what is done by now, batch by batch.
  void look() {
    while (!underway_.empty() && device_.reached(*underway_.front().done)) {
      Underway first = std::move(underway_.front());
      underway_.pop_front();
      free_.push_back(std::move(first.done));
      tell_up_to(first.pass, first.batch);
    }
  }

 private:
  static constexpr int most = 8;  // events at first
  struct Underway {
    int pass, batch;
    std::unique_ptr<LaneEvent> done;
  };

  void tell_up_to(int pass, int batch) {
    if (pass < pass_) pass_ = batch_ = 0;  // a new fit has begun
    while (pass_ < pass || (pass_ == pass && batch_ <= batch)) {
      told_(pass_, batch_);
      if (++batch_ < batches_) continue;
      batch_ = 0;
      ++pass_;
    }
  }

  Device& device_;
  int batches_;
  Told told_;
  int pass_ = 0, batch_ = 0;  // the next to be reported
  std::vector<std::unique_ptr<LaneEvent>> free_ = {};
  std::deque<Underway> underway_ = {};
};

}  // namespace holdfast::xpcs_fit
