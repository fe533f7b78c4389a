// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/overlap.hpp"

#include <algorithm>

namespace holdfast {

void Progress::include(const Progress& other) {
  launches = std::max(launches, other.launches);
  transfers = std::max(transfers, other.transfers);
}

void Overlap::forget_before(std::int64_t transfers) {
  std::erase_if(alone_, [&](const Transfer& one) { return one.number <= transfers; });
}

std::int64_t Overlap::launch() {
  main_.include(host_);
  forget_before(main_.transfers);
  ++enqueued_.launches;
  if (enqueued_.transfers > main_.transfers) first_lone_ = enqueued_.launches + 1;
  std::int64_t bytes = 0;
  for (const Transfer& beside : alone_) bytes += beside.bytes;
  alone_.clear();
  return bytes;
}

std::int64_t Overlap::transfer(std::int64_t bytes) {
  copies_.include(host_);
  ++enqueued_.transfers;
  lone_launches_ += std::max<std::int64_t>(copies_.launches - first_lone_ + 1, 0);
  first_lone_ = enqueued_.launches + 1;
  if (enqueued_.launches > copies_.launches) return bytes;
  alone_.push_back({.number = enqueued_.transfers, .bytes = bytes});
  return 0;
}

Progress Overlap::recorded(Lane lane) const {
  Progress done = lane == Lane::main ? main_ : copies_;
  done.include(host_);
  if (lane == Lane::main)
    done.launches = enqueued_.launches;
  else
    done.transfers = enqueued_.transfers;
  return done;
}

void Overlap::wait(Lane lane, const Progress& done) {
  (lane == Lane::main ? main_ : copies_).include(done);
}

void Overlap::await(const Progress& done) {
  host_.include(done);
  forget_before(host_.transfers);
}

}  // namespace holdfast
