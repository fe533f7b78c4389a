// SPDX-License-Identifier: Apache-2.0
// The cases that step a computation.
#include <utility>

#include "clusterless_kde/oracles.hpp"
#include "clusterless_kde/row.hpp"

namespace holdfast::clusterless_kde {
namespace {

const std::vector<std::string> executing = {"host", "cuda"};

// A computation that can also say how far from the truth its result is.
class Compared : public Computation {
 public:
  Compared(std::unique_ptr<Computation> inner, Row row, bool executes, Variant variant,
           std::shared_ptr<Found> found)
      : inner_(std::move(inner)),
        row_(std::move(row)),
        executes_(executes),
        variant_(variant),
        found_(std::move(found)) {}

  void step() override { inner_->step(); }
  std::vector<double> result() override { return inner_->result(); }
  Permissions permissions() const override { return inner_->permissions(); }

  std::vector<NamedReading> readings() override {
    std::vector<NamedReading> all = inner_->readings();
    if (!executes_) return all;
    for (NamedReading& reading : comparison(row_, inner_->result()))
      all.push_back(std::move(reading));
    if (!is_decoding(row_)) return all;
    all.push_back({"floored_fraction", floored_fraction(row_)});
    if (const auto error = found_->spike_error[variant_ == Variant::reference])
      all.push_back({"err_spike_max", *error});
    return all;
  }

 private:
  std::unique_ptr<Computation> inner_;
  Row row_;
  bool executes_;
  Variant variant_;
  std::shared_ptr<Found> found_;
};

Work work(const Row& row) {
  const Shape numbers = shape(row.recipe);
  switch (row.family) {
    case Family::encode:
      return encode_work(numbers, row.options);
    case Family::total:
      return total_work(numbers, row.options);
    case Family::local:
      return local_work(numbers, row.options);
    default:
      return decode_work(numbers, row.options);
  }
}

Derived over(std::string name, Row other, Derived::Form form) {
  return {.name = std::move(name),
          .other = [=](Backend& backend) { return make(other, backend, Variant::optimized); },
          .form = form};
}

std::vector<Derived> derived(const Row& row) {
  constexpr auto other_over_case = Derived::Form::other_over_case,
                 case_over_other = Derived::Form::case_over_other;
  Row other = row;
  switch (row.family) {
    case Family::total:
      other.family = Family::encode;
      return {over("encode_share", other, other_over_case)};
    case Family::features:
      if (row.options.distance == Distance::difference) return {};
      other.options.distance = Distance::difference;
      return {over("expanded_over_difference", other, case_over_other)};
    case Family::tune:
      other.options = {};
      return {over("over_default", other, case_over_other)};
    case Family::precision:
      other.options = {};
      return {over("over_f32", other, case_over_other)};
    case Family::production:
      if (!row.options.cut) return {};
      other.options.cut = false;
      return {over("cut_speedup", other, other_over_case)};
    default:
      return {};
  }
}

// How the decode went, told by the optimized variant; and how right it was.
std::vector<MetricDeclaration> metrics_of(const Row& row) {
  std::vector<MetricDeclaration> all = {
      {.name = "max_abs_diff", .devices = executing},
      {.name = "mean_abs_diff", .devices = executing},
      {.name = "allclose", .kind = "bound", .devices = executing}};
  if (!is_decoding(row)) return all;
  const Shape numbers = shape(row.recipe);
  all.insert(all.end(),
             {{.name = "err_spike_max", .kind = "bound", .devices = executing},
              {.name = "floored_fraction", .kind = "bound", .devices = executing},
              {.name = "bins", .kind = "exact", .value = static_cast<double>(numbers.bins)},
              {.name = "rows", .kind = "exact", .value = static_cast<double>(numbers.rows)}});
  if (row.options.algorithm != Algorithm::fused) return all;
  all.insert(all.end(), {{.name = "path", .kind = "exact"},
                         {.name = "q_nodes", .kind = "exact"},
                         {.name = "pairs", .kind = "exact"},
                         {.name = "spikes_dropped", .kind = "exact"},
                         {.name = "range_fallback", .kind = "exact"}});
  if (row.options.cut) all.push_back({.name = "tiles_visited_fraction", .kind = "exact"});
  if (row.family == Family::budget)
    all.insert(all.end(), {{.name = "n_chunks", .kind = "exact"},
                           {.name = "electrode_batches", .kind = "exact"}});
  return all;
}

// The optimized variant's memory is planned to the byte.
bool is_planned(const Row& row) {
  return row.family == Family::budget;
}

}  // namespace

Case stepped(const Row& row) {
  const auto found = std::make_shared<Found>();
  Steps steps = {.make =
                     [=](Backend& backend, Variant variant) {
                       return std::make_unique<Compared>(make(row, backend, variant), row,
                                                         backend.executes(), variant, found);
                     },
                 .oracle = oracle(row, found),
                 .invariant = repeats_itself(),
                 .warm_up = 2};
  if (is_planned(row))
    steps.estimate_bytes = [=](const Backend& backend, Variant) {
      return plan(backend, input_of(row.recipe), row.options).estimate_bytes;
    };
  return {.id = id_of(row),
          .tier = row.tier,
          .devices = devices_of(row),
          .work = work(row),
          .recipe = std::move(steps),
          .reference = has_reference(row),
          .metrics = metrics_of(row),
          .derived = derived(row)};
}

}  // namespace holdfast::clusterless_kde
