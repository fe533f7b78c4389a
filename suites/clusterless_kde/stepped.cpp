// SPDX-License-Identifier: Apache-2.0
// The families that step a computation.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "clusterless_kde/lone_spikes.hpp"
#include "clusterless_kde/oracles.hpp"
#include "clusterless_kde/problem/words.hpp"
#include "clusterless_kde/row.hpp"
#include "families/invariants.hpp"
#include "harness/measure/known_answers.hpp"
#include "runtime/backend/host_limits.hpp"
#include "runtime/backend/packing.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr auto other_over_case = Derived::Form::other_over_case,
               case_over_other = Derived::Form::case_over_other;

// Whether a budget may be met by recomputing Psi.
bool may_recompute(const Row& row) {
  return row.family == &families::budget && row.options.algorithm == Algorithm::fused &&
         is_two_hop(row);
}

// Readings of a result's error, and of the optimized variant's distance from the reference's
// complete result; `spike_error` comes from verification.
std::vector<NamedReading> read(const Row& row, const Verified& found,
                               const std::optional<double>& spike_error) {
  std::vector<NamedReading> all;
  for (const auto& [name, value] : found.own)
    if (found.backend.device && name == "n_chunks")
      all.push_back({"launches_per_chunk", static_cast<double>(found.launches) / value});
  if (found.backend.device && may_recompute(row)) {
    const Plan chosen = plan(found.backend, input_of(row.recipe), row.options);
    all.push_back({"psi_recomputed", chosen.options.values == Values::recomputed ? 1. : 0.});
  }
  if (!found.backend.executes()) return all;
  const auto add = [&](const std::vector<NamedReading>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(comparison(row, found.result));
  if (found.variant == Variant::optimized && found.reference)
    add(agreement(row, found.result, *found.reference));
  if (!is_decoding(row)) return all;
  all.push_back({"floored_fraction", floored_fraction(row)});
  if (spike_error) all.push_back({"err_spike_max", *spike_error});
  return all;
}

// Bytes of the host arrays that a step starts from; each is padded to a unit where the optimized
// variant packs them.
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
  if (encodes(row))
    add({value * known * marks, value * known * d, value * numbers.samples * d,
         value * numbers.bins * d});
  // Features, and each spike's row or electrode.
  if (row.family != &families::encode) add({value * heard * marks, index * heard});
  if (row.family == &families::local) {
    add({value * heard * d, value * numbers.rows * d});
    if (fused) add({index * (numbers.electrodes + 1), index * (numbers.rows + 1)});
  } else if (fused && row.family != &families::encode) {
    // One order of all spikes, and at least one tile for each electrode with spikes.
    add({index * heard, tile * std::count_if(numbers.decoding.begin(), numbers.decoding.end(),
                                             [](std::int64_t spikes) { return spikes > 0; })});
  }
  double bytes = 0;
  for (const std::int64_t array : arrays)
    bytes += static_cast<double>(fused ? rounded_up(static_cast<std::size_t>(array)) : array);
  return bytes;
}

// Readings of the plan by the optimized variant, and of accuracy.
std::vector<MetricDeclaration> metrics_of(const Row& row) {
  std::vector<MetricDeclaration> all;
  for (const std::string of : {"", "reference_"}) {
    if (!of.empty() && !has_reference(row)) continue;
    for (const char* name : {"max_abs_diff", "mean_abs_diff"})
      all.push_back({.name = of + name, .devices = executing});
    all.push_back({of + "allclose", "bound", Better::higher, executing});
  }
  if (!is_decoding(row)) return all;
  for (const char* name : {"err_spike_max", "floored_fraction"})
    all.push_back({.name = name, .kind = "bound", .devices = executing});
  const auto same = [&](const char* name, std::optional<double> value = {}) {
    all.push_back({.name = name, .kind = "exact", .better = Better::same, .value = value});
  };
  const Shape numbers = shape(row.recipe);
  same("bins", static_cast<double>(numbers.bins));
  same("rows", static_cast<double>(numbers.rows));
  if (row.options.algorithm != Algorithm::fused) return all;
  for (const char* name : {"path", "q_nodes", "pairs", "spikes_dropped", "range_fallback"})
    same(name);
  if (row.options.cut) all.push_back({.name = "tiles_visited_fraction", .kind = "exact"});
  return all;
}

// The reference has to encode again for this: done once per run for all code of one kind.
double reference_spike_error(const Row& row, Backend& backend) {
  const std::string question =
      text("error of lone spikes by the reference of ", row.family->id(row), " on ", backend.name,
           ", ", host_limits().isa);
  const auto error = [&] { return std::vector{spike_error(row, backend, Variant::reference)}; };
  return kept_answer(question, error).front();
}

void add_to(const Row& row, Steps& steps) {
  const auto errors = std::make_shared<std::array<std::optional<double>, 2>>();  // by variant
  if (is_decoding(row))
    steps.oracle.golden = [=](Backend& backend, Variant variant) {
      const double error = variant == Variant::reference ? reference_spike_error(row, backend)
                                                         : spike_error(row, backend, variant);
      (*errors)[variant == Variant::reference] = error;
      return error / spike_limit(row);
    };
  steps.upload_bytes = [=](Variant variant) { return upload_bytes(row, variant); };
  steps.rewritten = [=](const Backend& backend, Variant variant) {
    return rewritten(row, backend, variant);
  };
  steps.read = [=](const Verified& found) {
    return read(row, found, (*errors)[found.variant == Variant::reference]);
  };
  steps.sample_seconds = 2e-3;
  steps.inputs = 2;
}

// Defaults shared by the families of decodes.
constexpr Family<Row> stepped(Family<Row> one) {
  one.devices = by_options;
  if (!one.metrics) one.metrics = metrics_of;
  if (!one.make)
    one.make = [](const Row& row, Backend& backend, Variant variant) {
      return make_decode(backend, variant, input_of(row.recipe), row.options);
    };
  if (!one.work)
    one.work = [](const Row& row) { return decode_work(shape(row.recipe), row.options); };
  one.oracle = oracle;
  one.invariant = [](const Row&) { return repeats_itself(); };
  one.warm_up = [](const Row&) { return 2; };
  one.chained = never;
  if (!one.more) one.more = add_to;
  return one;
}

Axis scale_axis(const Row& row) {
  return {"scale", row.recipe.scale};
}

Axis knob_axis(const Row& row) {
  switch (row.knob) {
    case Knob::block:
      return {"block", row.options.block};
    case Knob::position_tile:
      return {"pos_tile", row.options.position_tile};
    case Knob::encoding_tile:
      return {"enc_tile", row.options.encoding_tile};
  }
  return {"block", row.options.block};
}

std::string binary_bytes(std::int64_t bytes) {
  constexpr std::int64_t mebi = 1 << 20;
  if (bytes % mebi != 0) return text(bytes / 1024, "kib");
  return bytes % (1024 * mebi) == 0 ? text(bytes / (1024 * mebi), "gib")
                                    : text(bytes / mebi, "mib");
}

// A published decode's seconds on an A100, for as many spikes, over ours: the original program, and
// its rewrite, which was reverted.
std::vector<Rate> beside_published(const Row& row) {
  const Recipe published = {.size = Size::tet64, .marks = Marks::cells};
  if (row.recipe != published || row.options.arithmetic != Arithmetic::f32) return {};
  return {{.name = "vs_seed_decode", .per_step = 8.88},
          {.name = "vs_seed_rewrite", .per_step = 1.01}};
}

// The published ways to organise the sum exist to be compared with the fused one.
std::vector<ExpectedFinding> expected_of_strategy(const Row& row) {
  constexpr int many_electrodes = 16;  // from here on launches are many, twenty and more for each
  if (row.options.algorithm == Algorithm::fused || shape(row.recipe).electrodes < many_electrodes)
    return {};
  return {{.finding = "many_launches",
           .why = "it shows what a launch for each operation costs; algo:fused has two in all"}};
}

Row by_default(Row row) {
  row.options = {};
  return row;
}

}  // namespace

bool encodes(const Row& row) {
  return row.family == &families::encode || row.family == &families::total;
}

// Sites of the eager reference, shared by all algorithms except the fused one, and of the fused one
// on host and device: the results of a step, and its intermediates.
std::vector<std::string> rewritten(const Row& row, const Backend& backend, Variant variant) {
  const bool decodes = is_decoding(row), on_device = backend.device != nullptr;
  std::vector<std::string> sites;
  const auto add = [&](bool whether, std::initializer_list<const char*> more) {
    if (whether) sites.insert(sites.end(), more.begin(), more.end());
  };
  const bool heard = shape(row.recipe).decoding_total() > 0;
  const char* const result = row.family == &families::budget ? "consumed" : "out";
  add(row.family != &families::encode, {result});
  if (variant == Variant::reference || row.options.algorithm != Algorithm::fused) {
    add(encodes(row), {"model"});
  } else if (on_device) {
    add(encodes(row), {"beta and ground"});
    add(decodes && heard, {"sums over encoding spikes"});
    add(row.family != &families::encode && heard, {"decoding spikes"});
  } else {
    const bool two_hop = is_two_hop(row);
    add(encodes(row), {"occupancy", "ground", "sums of kernels", "marks", "centres of marks",
                       "positions of encoding spikes", "order of encoding spikes"});
    add(encodes(row) && two_hop, {"psi", "phi"});
    add(encodes(row) && !two_hop, {"positions"});
    add(decodes && heard, {"order", "items", "sums at nodes or bins"});
    add(row.family == &families::local && heard, {"terms"});
  }
  return sites;
}

const Family<Row> families::encode =
    stepped({.id = [](const Row& row) { return named("encode", row); },
             .make =
                 [](const Row& row, Backend& backend, Variant variant) {
                   return make_encode(backend, variant, input_of(row.recipe), row.options);
                 },
             .work = [](const Row& row) { return encode_work(shape(row.recipe), row.options); }});

const Family<Row> families::decode =
    stepped({.id = [](const Row& row) { return named("decode", row); }});

const Family<Row> families::total =
    stepped({.id = [](const Row& row) { return named("total", row); },
             .make =
                 [](const Row& row, Backend& backend, Variant variant) {
                   return make_total(backend, variant, input_of(row.recipe), row.options);
                 },
             .work = [](const Row& row) { return total_work(shape(row.recipe), row.options); },
             .derived = [](const Row& row) -> std::vector<Derived> {
               return {over("encode_share", as(families::encode, row), other_over_case)};
             }});

const Family<Row> families::local =
    stepped({.id = [](const Row& row) { return named("local", row); },
             .make =
                 [](const Row& row, Backend& backend, Variant variant) {
                   return make_local(backend, variant, input_of(row.recipe), row.options);
                 },
             .work = [](const Row& row) { return local_work(shape(row.recipe), row.options); }});

const Family<Row> families::strategy =
    stepped({.id =
                 [](const Row& row) {
                   return named("strategy", row,
                                {{"algo", algorithm_words.of(row.options.algorithm)},
                                 {"tile", row.options.position_tile},
                                 size_axis(row),
                                 {"electrodes", shape(row.recipe).electrodes}});
                 },
             .expected = expected_of_strategy});

const Family<Row> families::features =
    stepped({.id =
                 [](const Row& row) {
                   return named("features", row,
                                {{"features", row.recipe.features},
                                 {"distance", distance_words.of(row.options.distance)}});
                 },
             .derived = [](const Row& row) -> std::vector<Derived> {
               if (row.options.distance == Distance::difference) return {};
               Row other = row;
               other.options.distance = Distance::difference;
               return {over("expanded_over_difference", other, case_over_other)};
             }});

// Knobs, arithmetics and budgets belong to the optimized variant; each is compared with its
// default.
const Family<Row> families::tune = stepped(
    {.id =
         [](const Row& row) {
           return named("tune", row, {knob_axis(row), size_axis(row), {"bins", row.recipe.bins}});
         },
     .reference = never,
     .derived = [](const Row& row) -> std::vector<Derived> {
       return {over("over_default", by_default(row), case_over_other)};
     }});

const Family<Row> families::grid = stepped({.id = [](const Row& row) {
  return named("grid", row, {size_axis(row), {"bins", row.recipe.bins}});
}});

const Family<Row> families::precision =
    stepped({.id =
                 [](const Row& row) {
                   return named("precision", row,
                                {{"arithmetic", arithmetic_words.of(row.options.arithmetic)},
                                 size_axis(row),
                                 marks_axis(row)});
                 },
             .reference = never,
             .derived = [](const Row& row) -> std::vector<Derived> {
               return {over("over_f32", by_default(row), case_over_other)};
             }});

const Family<Row> families::production = stepped(
    {.id =
         [](const Row& row) {
           return named("production", row,
                        {size_axis(row), scale_axis(row), {"cut", row.options.cut ? 1 : 0}});
         },
     .reference = [](const Row& row) { return !row.options.cut; },
     .derived = [](const Row& row) -> std::vector<Derived> {
       if (!row.options.cut) return {};
       Row other = row;
       other.options.cut = false;
       return {over("cut_speedup", other, other_over_case)};
     },
     .rates = beside_published});

// The optimized variant's memory is planned to the byte.
const Family<Row> families::budget = stepped(
    {.id =
         [](const Row& row) {
           return named(
               "budget", row,
               {{"limit", binary_bytes(*row.options.budget)}, size_axis(row), scale_axis(row)});
         },
     .reference = never,
     .metrics =
         [](const Row& row) {
           std::vector<MetricDeclaration> all = metrics_of(row);
           if (row.options.algorithm == Algorithm::fused)
             all.insert(all.end(),
                        {{.name = "n_chunks", .kind = "exact"},
                         {.name = "electrode_batches", .kind = "exact", .devices = gpu},
                         {.name = "launches_per_chunk", .kind = "bound", .devices = gpu}});
           if (may_recompute(row))
             all.push_back({.name = "psi_recomputed",
                            .kind = "exact",
                            .better = Better::same,
                            .devices = gpu});
           return all;
         },
     .more =
         [](const Row& row, Steps& steps) {
           add_to(row, steps);
           steps.estimate_bytes = [=](const Backend& backend, Variant) {
             return plan(backend, input_of(row.recipe), row.options).estimate_bytes;
           };
         }});

const Family<Row> families::sparse =
    stepped({.id = [](const Row& row) { return named("sparse", row, {size_axis(row)}); }});

}  // namespace holdfast::clusterless_kde
