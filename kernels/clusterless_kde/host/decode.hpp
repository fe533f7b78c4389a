// SPDX-License-Identifier: Apache-2.0
// A decode, from host arrays to out, chunk by chunk: the order, the hop over encoding spikes by
// electrode, then the rows by time.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "clusterless_kde/host/hop.hpp"
#include "clusterless_kde/host/rows.hpp"
#include "clusterless_kde/problem/chunks.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "host/flush_to_zero.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

template <class T>
class Decoder {
 public:
  Decoder(Backend& backend, const Input& input, const Shape& shape, const HostSizes& sizes,
          const Options& options, const Model<T>& model)
      : input_(input),
        sizes_(sizes),
        options_(options),
        model_(model),
        slot_begin_(1),
        position_(backend, sizes.decoding, "order"),
        items_(backend, sizes.items(), "items"),
        s_(backend, sizes.scratch(), "sums at nodes or bins"),
        tiles_(backend, sizes.threads * sizes.tiles(), "decoding tiles"),
        out_(backend, sizes.out(), "out"),
        log_sums_(backend, sizes.consumed(), "consumed"),
        largest_(backend, sizes.consumed(), "consumed") {
    for (const std::int64_t m : shape.decoding) slot_begin_.push_back(slot_begin_.back() + m);
  }

  void step() {
    const Scope scope("decode");
    sort();
    tally_ = {};
    for (std::int64_t chunk = 0; chunk < sizes_.chunks; ++chunk)
      decode(chunk_begin(chunk, sizes_.chunks, sizes_.rows),
             chunk_begin(chunk + 1, sizes_.chunks, sizes_.rows));
  }

  std::vector<double> result() const {
    if (!sizes_.consume) return {out_.data(), out_.data() + out_.size()};
    std::vector<double> both(log_sums_.data(), log_sums_.data() + log_sums_.size());
    both.insert(both.end(), largest_.data(), largest_.data() + largest_.size());
    return both;
  }
  Tally tally() const { return tally_; }

 private:
  // Target number of spikes in the rows that a thread takes at a time, and the most rows.
  static constexpr std::int64_t spikes_at_a_time = 96, most_rows_at_a_time = 256;

  void sort() {
    const Scope scope("order");
    order(input_, order_);
    next_slot_ = slot_begin_;
    std::int32_t number = 0;
    for (const Order::Spike& spike : order_.spikes)
      position_.data()[next_slot_[spike.electrode]++] = number++;
    next_slot_ = slot_begin_;
  }

  // Makes items of the spikes in rows before `end_row` that are not yet in one.
  std::int64_t make_items(std::int64_t end_row) {
    std::int64_t count = 0;
    for (int e = 0; e < input_.electrodes(); ++e) {
      const std::vector<double>& times = input_.decoding_spikes[e].times;
      const std::int64_t first_kept =
          std::lower_bound(times.begin(), times.end(), input_.edges.front()) - times.begin();
      const auto rows = order_.rows.begin();
      const std::int64_t end =
          std::lower_bound(rows + next_slot_[e], rows + slot_begin_[e + 1], end_row) - rows;
      for (std::int64_t& slot = next_slot_[e]; slot < end;) {
        const std::int64_t some = std::min(sizes_.block, end - slot);
        items_.data()[count++] = {e, first_kept + slot - slot_begin_[e], slot, some};
        slot += some;
      }
    }
    return count;
  }

  // Decodes rows begin .. end - 1; s_ must have room for their spikes' sums.
  void decode(std::int64_t begin, std::int64_t end) {
    const std::int64_t items = make_items(end);
    const std::int64_t first = order_.row_begin[begin], spikes = order_.row_begin[end] - first;
    const std::int64_t at_a_time = std::clamp((end - begin) * spikes_at_a_time / (spikes + 1),
                                              std::int64_t{1}, most_rows_at_a_time);
    const std::int64_t parts = (end - begin + at_a_time - 1) / at_a_time;
    T* out = out_.data() + (sizes_.consume ? 0 : begin * sizes_.bins);
    std::int64_t all = 0, visited = 0;
    const int threads = static_cast<int>(sizes_.threads);
#pragma omp parallel num_threads(threads) if (sizes_.shared) reduction(+ : all, visited)
    {
      const FlushToZero<T> flush;
      T* tiles = tiles_.data() + omp_get_thread_num() * sizes_.tiles();
      {
        const Scope scope("hop_a");
        Hop<T> hop(input_, sizes_, options_, model_, tiles);
#pragma omp for schedule(dynamic)
        for (std::int64_t k = 0; k < items; ++k) {
          const HostItem& item = items_.data()[k];
          hop(item.electrode, item.first, item.count, position_.data() + item.slot,
              {s_.data(), first});
        }
        all += hop.tally().all;
        visited += hop.tally().visited;
      }
      const Scope scope("hop_b");
      Rows<T> rows(sizes_, model_, order_.row_begin.data(), {s_.data(), first}, tiles);
#pragma omp for schedule(dynamic)
      for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t row = begin + part * at_a_time, last = std::min(row + at_a_time, end);
        rows(row, last, out + (row - begin) * sizes_.bins);
        if (sizes_.consume) consume(row, last, out + (row - begin) * sizes_.bins);
      }
    }
    tally_.all += all;
    tally_.visited += visited;
  }

  void consume(std::int64_t begin, std::int64_t end, const T* out) {
    for (std::int64_t row = begin; row < end; ++row, out += sizes_.bins) {
      const RowSummary summary = summary_of(out, sizes_.bins);
      log_sums_.data()[row] = summary.log_sum;
      largest_.data()[row] = static_cast<double>(summary.largest);
    }
  }

  const Input& input_;
  const HostSizes& sizes_;
  const Options& options_;
  const Model<T>& model_;
  Order order_ = {};
  std::vector<std::int64_t> slot_begin_, next_slot_ = {};  // [E + 1]
  Buffer<std::int32_t> position_;  // by slot: in the order (row, electrode, index)
  Buffer<HostItem> items_;
  Buffer<T> s_, tiles_, out_;
  Buffer<double> log_sums_, largest_;
  Tally tally_ = {};
};

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
