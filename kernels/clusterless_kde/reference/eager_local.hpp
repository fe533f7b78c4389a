// SPDX-License-Identifier: Apache-2.0
// The likelihood at the animal's own position, in the same eager style: every density is a separate
// kernel density, at the spikes' positions and at those of the rows. Part of eager_program.hpp.
#pragma once

#include "clusterless_kde/reference/eager_program.hpp"

namespace holdfast::clusterless_kde {

// Steps, with kde(a, count) = 1 + ceil(count / block) (4 + 2 a) for a axes: 1 + kde(d, T), and for
// every electrode kde(d + D, m) + kde(d, m) + kde(d, T) + 13.
template <class Verbs>
void EagerProgram<Verbs>::local(const DecodingData<T>& heard, Output<T>& out) {
  const std::int64_t samples = shape_->samples, rows = shape_->rows;
  run([&] {
    on_.verbs().fill(T(0), out.next(), rows);
    out.flip();
  });
  const Row at_rows =
      density(positions(seen_->trajectory(), samples, heard.at_edges(), rows), samples, rows);
  for (int e = 0; e < shape_->electrodes; ++e) {
    const std::int64_t n = seen_->count(e), m = heard.count(e);
    const Row at_spikes =
        density(positions(seen_->trajectory(), samples, heard.at_spikes(e), m), samples, m);
    add_to_rows(local_rates(e, heard, at_spikes), e, heard, out);
    const Row seen = density(positions(seen_->positions(e), n, heard.at_edges(), rows), n, rows);
    const Row ground = on_.scale(on_.masked_ratio(seen, at_rows.data(), 0), rate(e));
    run([&] {
      on_.verbs().subtract(out.now(), ground.data(), out.next(), rows);
      out.flip();
    });
  }
}

// ln(r J / o) of each spike [m], floored or not.
template <class Verbs>
Array<typename Verbs::Value> EagerProgram<Verbs>::local_rates(int e, const DecodingData<T>& heard,
                                                              const Row& occupancy) {
  const std::int64_t n = seen_->count(e), m = heard.count(e);
  Axes all = positions(seen_->positions(e), n, heard.at_spikes(e), m);
  for (const Axis<T>& axis : features(e, heard)) all.push_back(axis);
  if (!options_->local_floor) {
    if (n == 0) return on_.filled(m, log_rate_floor);
    const Row joint = on_.subtract(log_density(all, n, m), on_.log(occupancy));
    const Row logs = on_.shift(joint, std::log(rate(e)));
    return on_.keep_columns(logs, occupancy.data(), log_rate_floor, m);
  }
  Row rates = on_.divide_columns(density(all, n, m), occupancy.data(), m);
  rates = on_.keep_columns(rates, occupancy.data(), 0, m);
  rates = on_.scale(rates, rate(e));
  rates = on_.select(on_.below(rates, rate_floor), rate_floor, rates);
  return on_.clip(on_.log(rates), log_rate_floor);
}

// The logarithm of a density, however small: the sum's maximum is taken out.
template <class Verbs>
Array<typename Verbs::Value> EagerProgram<Verbs>::log_density(const Axes& axes, std::int64_t n,
                                                              std::int64_t count) {
  Row logs = on_.filled(count, 0);
  blocks(count, [&](std::int64_t first, std::int64_t w) {
    const Row sum = on_.log_sum(log_kernel(axes, n, w, first), n, w);
    logs = on_.place(logs, on_.shift(sum, -std::log(static_cast<double>(n))), first);
  });
  return logs;
}

}  // namespace holdfast::clusterless_kde
