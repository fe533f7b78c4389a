// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/problem/spike_cut.hpp"

#include <algorithm>
#include <cstddef>

namespace holdfast::clusterless_kde {
namespace {

template <int d, class T>
Visits count_visits(const CutQuestion<T>& question) {
  Visits visits;
  const T limit = question.cut + std::log2(T(16) * static_cast<T>(question.groups));
  const auto bins = question.places.size() / d;
  for (std::size_t first = 0; first < bins; first += static_cast<std::size_t>(question.columns)) {
    const auto end = std::min(bins, first + static_cast<std::size_t>(question.columns));
    T lowest[d], highest[d];
    for (int j = 0; j < d; ++j) lowest[j] = highest[j] = question.places[first * d + j];
    for (auto p = first; p < end; ++p)
      for (int j = 0; j < d; ++j) {
        lowest[j] = std::min(lowest[j], question.places[p * d + j]);
        highest[j] = std::max(highest[j], question.places[p * d + j]);
      }
    for (int group = 0; group < question.groups; group += question.stage_groups) {
      bool near = false;
      for (int of = group; of < std::min(group + question.stage_groups, question.groups); ++of)
        near = near || box_distance<d>(&question.boxes[static_cast<std::size_t>(of) * 2 * d],
                                       lowest, highest) <= limit;
      visits.all += 1;
      visits.visited += near ? 1 : 0;
    }
  }
  return visits;
}

}  // namespace

template <class T>
Visits visits_of(const CutQuestion<T>& question) {
  return question.dimensions == 1 ? count_visits<1>(question) : count_visits<2>(question);
}

template Visits visits_of(const CutQuestion<float>&);
template Visits visits_of(const CutQuestion<double>&);

}  // namespace holdfast::clusterless_kde
