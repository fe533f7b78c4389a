// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/problem/mass_log.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cubed_sphere_swe/problem/device_code.hpp"
#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"

namespace holdfast::cubed_sphere_swe {

MassLog::MassLog(Backend& backend, int n, int steps, unsigned blocks)
    : masses_(backend, static_cast<std::size_t>(std::max(steps, 1)) + 1, "mass"),
      partials_(backend, blocks, "partial masses"),
      counters_(backend, 2, "mass"),
      device_(*backend.device) {
  const double dx = std::numbers::pi / (2 * n);
  history_ = {.masses = masses_.data(),
              .partials = partials_.data(),
              .counters = counters_.data(),
              .capacity = static_cast<unsigned>(std::max(steps, 1)),
              .cell = dx * dx};
  device_.fill_zero(counters_.data(), counters_.bytes());
}

void MassLog::read_newest() {
  double& newest = read_.emplace_back();
  device_.download(&newest, masses_.data() + mass_slot(recorded_ - 1, history_.capacity),
                   sizeof(double));
}

double MassLog::drift() {
  if (!read_.empty()) return mass_drift(read_);
  std::vector<double> masses = masses_.to_host();
  masses.resize(std::min<std::size_t>(recorded_, masses.size()));
  return mass_drift(masses);
}

LaunchShape mass_shape(const Device& device, int n) {
  const unsigned wanted = blocks(height_count(n), mass_threads);
  const auto room = static_cast<unsigned>(2 * device.architecture().multiprocessors);
  return {.grid = {std::min(wanted, room)}, .block = {mass_threads}};
}

double mass_drift(const std::vector<double>& masses) {
  double largest = 0;
  for (const double mass : masses) {
    const double drift = relative_drift(mass, masses.front());
    if (std::isnan(drift)) return drift;  // std::max would drop it
    largest = std::max(largest, drift);
  }
  return largest;
}

template <class T>
double mass_of(int n, const std::vector<T>& row) {
  const auto count = static_cast<std::ptrdiff_t>(height_count(n));
  return mass({n}, std::vector<double>(row.begin(), row.begin() + count));
}
template double mass_of(int, const std::vector<float>&);
template double mass_of(int, const std::vector<double>&);

}  // namespace holdfast::cubed_sphere_swe
