// SPDX-License-Identifier: Apache-2.0
// The cases that step a computation.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "clusterless_kde/lone_spikes.hpp"
#include "clusterless_kde/oracles.hpp"
#include "clusterless_kde/row.hpp"
#include "runtime/backend/packing.hpp"

namespace holdfast::clusterless_kde {
namespace {

const std::vector<std::string> executing = {"host", "cuda"}, gpu = {"cuda", "cuda-dry"};

// A computation that can also say how far from the truth its result is, and the optimized one how
// far from all of the reference's.
class Compared : public Computation {
 public:
  Compared(Backend& backend, Variant variant, const Row& row, std::shared_ptr<Found> found)
      : inner_(make(row, backend, variant)),
        backend_(&backend),
        row_(row),
        variant_(variant),
        found_(std::move(found)) {}

  void step() override {
    const std::int64_t before = backend_->ledger.counts.launches;
    inner_->step();
    launches_ = backend_->ledger.counts.launches - before;
  }
  std::vector<double> result() override {
    std::vector<double> values = inner_->result();
    if (variant_ == Variant::reference && backend_->executes()) found_->reference = values;
    return values;
  }
  Permissions permissions() const override { return inner_->permissions(); }

  std::vector<NamedReading> readings() override {
    std::vector<NamedReading> all = inner_->readings();
    for (const auto& [name, value] : std::vector(all))
      if (backend_->device && name == "n_chunks")
        all.push_back({"launches_per_chunk", static_cast<double>(launches_) / value});
    if (!backend_->executes()) return all;
    const auto add = [&](std::vector<NamedReading> more) {
      std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    const std::vector<double> values = inner_->result();
    add(comparison(row_, values));
    if (variant_ == Variant::optimized && !found_->reference.empty())
      add(agreement(row_, values, std::exchange(found_->reference, {})));
    if (!is_decoding(row_)) return all;
    all.push_back({"floored_fraction", floored_fraction(row_)});
    if (const auto error = found_->spike_error[variant_ == Variant::reference])
      all.push_back({"err_spike_max", *error});
    return all;
  }

 private:
  std::unique_ptr<Computation> inner_;
  Backend* backend_;
  Row row_;
  Variant variant_;
  std::shared_ptr<Found> found_;
  std::int64_t launches_ = 0;  // of the last step
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

// Of the host's arrays, where a step begins; each is padded to a unit where the optimized variant
// packs them.
double upload_bytes(const Row& row, Variant variant) {
  const Shape numbers = shape(row.recipe);
  const auto d = static_cast<std::int64_t>(numbers.dimensions),
             marks = static_cast<std::int64_t>(numbers.features);
  const std::int64_t known = numbers.encoding_total(), heard = numbers.decoding_total();
  const std::int64_t value = precision_of(row.options.arithmetic) == Precision::f32 ? 4 : 8;
  constexpr std::int64_t index = 4, tile = 16;
  const bool fused = variant == Variant::optimized && row.options.algorithm == Algorithm::fused;
  std::vector<std::int64_t> arrays;
  const auto add = [&](std::initializer_list<std::int64_t> more) {
    arrays.insert(arrays.end(), more);
  };
  if (row.family == Family::encode || row.family == Family::total)
    add({value * known * marks, value * known * d, value * numbers.samples * d,
         value * numbers.bins * d});
  // Features, and which row or electrode a spike is of.
  if (row.family != Family::encode) add({value * heard * marks, index * heard});
  if (row.family == Family::local) {
    add({value * heard * d, value * numbers.rows * d});
    if (fused) add({index * (numbers.electrodes + 1), index * (numbers.rows + 1)});
  } else if (fused && row.family != Family::encode) {
    // One order of all spikes, and a tile at least for each electrode that has some.
    add({index * heard, tile * std::count_if(numbers.decoding.begin(), numbers.decoding.end(),
                                             [](std::int64_t spikes) { return spikes > 0; })});
  }
  double bytes = 0;
  for (const std::int64_t array : arrays)
    bytes += static_cast<double>(fused ? rounded_up(static_cast<std::size_t>(array)) : array);
  return bytes;
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
  if (has_reference(row))
    all.insert(all.end(), {{.name = "reference_max_abs_diff", .devices = executing},
                           {.name = "reference_mean_abs_diff", .devices = executing},
                           {.name = "reference_allclose", .kind = "bound", .devices = executing}});
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
                           {.name = "electrode_batches", .kind = "exact"},
                           {.name = "launches_per_chunk", .kind = "bound", .devices = gpu}});
  return all;
}

// The optimized variant's memory is planned to the byte.
bool is_planned(const Row& row) {
  return row.family == Family::budget;
}

}  // namespace

// Sites of the eager reference, which all algorithms but the fused one are made of, and of the
// fused one on host and device: what a step is asked for, and the sums on the way to it.
std::vector<std::string> rewritten(const Row& row, const Backend& backend, Variant variant) {
  const bool encodes = row.family == Family::encode || row.family == Family::total;
  const bool decodes = is_decoding(row), on_device = backend.device != nullptr;
  std::vector<std::string> sites;
  const auto add = [&](bool whether, std::initializer_list<const char*> more) {
    if (whether) sites.insert(sites.end(), more.begin(), more.end());
  };
  const bool heard = shape(row.recipe).decoding_total() > 0;
  const char* const result = row.family == Family::budget ? "consumed" : "out";
  add(row.family != Family::encode, {result});
  if (variant == Variant::reference || row.options.algorithm != Algorithm::fused) {
    add(encodes, {"model"});
  } else if (on_device) {
    add(encodes, {"beta and ground"});
    add(decodes && heard, {"sums over encoding spikes"});
    add(row.family != Family::encode && heard, {"decoding spikes"});
  } else {
    add(encodes, {"occupancy", "ground"});
    add(decodes && heard, {"sums at nodes or bins"});
  }
  return sites;
}

Case stepped(const Row& row) {
  const auto found = std::make_shared<Found>();
  Steps steps = {.make =
                     [=](Backend& backend, Variant variant) {
                       return std::make_unique<Compared>(backend, variant, row, found);
                     },
                 .oracle = oracle(row, found),
                 .invariant = repeats_itself(),
                 .upload_bytes = [=](Variant variant) { return upload_bytes(row, variant); },
                 .rewritten = [=](const Backend& backend,
                                  Variant variant) { return rewritten(row, backend, variant); },
                 .warm_up = 2,
                 .sample_seconds = 2e-3};
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
          .counted = row.counted,
          .metrics = metrics_of(row),
          .derived = derived(row)};
}

}  // namespace holdfast::clusterless_kde
