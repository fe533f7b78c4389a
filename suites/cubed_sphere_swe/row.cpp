// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/row.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// On the host only up to this grid, unless large ones are requested.
Kinds up_to(int most, const Row& row) {
  const Options& options = row.options;
  const bool device_only =
      options.launch != Launch::host || options.diagnostics == Diagnostics::host ||
      options.metric == MetricSource::on_the_fly || options.gemm == GemmSource::tile;
  return device_only || (row.n > most && !row.large) ? gpu : any_kind;
}

}  // namespace

bool is_loop(const Row& row) {
  return row.family == &families::loop;
}

bool is_component(const Row& row, Component::Kind kind) {
  return row.family == &families::component && row.component.kind == kind;
}

bool starts_at_rest(const Row& row) {
  return row.options.start != Start::random;
}

std::string named(const std::string& family, const Row& row,
                  const std::vector<holdfast::Axis>& axes) {
  std::vector<holdfast::Axis> all = {{"n", row.n}};
  all.insert(all.end(), axes.begin(), axes.end());
  return id("cubed_sphere_swe/" + family, all, name(row.options.precision));
}

Kinds tendencies_and_steps(const Row& row) {
  return up_to(large_n, row);
}

Kinds small_grids(const Row& row) {
  return up_to(large_n - 1, row);
}

}  // namespace holdfast::cubed_sphere_swe
