// SPDX-License-Identifier: Apache-2.0
// The cases of kernels/clusterless_kde: one row per claim, in the order of the list.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "clusterless_kde/problem/words.hpp"
#include "clusterless_kde/row.hpp"
#include "families/given.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using namespace clusterless_kde;

using Rows = std::vector<Row>;

constexpr Size tracks[] = {Size::tiny, Size::small, Size::medium, Size::large, Size::realistic};

Recipe cells(Size size) {
  return {.size = size, .marks = Marks::cells};
}

Tier gate_if(bool gates) {
  return gates ? Tier::gate : Tier::full;
}

// The published sizes: encode, decode, total and the local likelihood. Large ones are gate cases if
// five processes of them take less than a minute.
void add_sizes(Rows& rows) {
  const auto tier = [](Size size, Size largest) {
    return size == Size::tiny ? Tier::smoke : size <= largest ? Tier::gate : Tier::full;
  };
  for (const Size size : tracks) {
    const Recipe profile = {.size = size};
    const bool in_gate = size != Size::tiny && size != Size::realistic;
    rows.push_back({.family = &families::encode,
                    .recipe = profile,
                    .tier = gate_if(in_gate),
                    .counted = size <= Size::small});
    rows.push_back(
        {.recipe = profile, .tier = tier(size, Size::large), .counted = size <= Size::small});
    const Tier medium = gate_if(size == Size::medium);
    rows.push_back({&families::total, profile, medium});
    rows.push_back({&families::local, profile, medium});
    if (size == Size::realistic) continue;
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64})
      rows.push_back({&families::decode, cells(size), medium, {.arithmetic = arithmetic}});
  }
}

// Comparison of algorithms: the published test of one electrode, and whole sizes. Beyond medium,
// two passes over all encoding spikes for each decoding one take minutes.
void add_strategies(Rows& rows) {
  Recipe published = cells(Size::medium);
  published.features = 2;
  published.encoding_spikes = 200;
  published.decoding_spikes = 100;
  for (const Algorithm algorithm :
       {Algorithm::linear, Algorithm::log_sum_exp, Algorithm::matmul, Algorithm::fused}) {
    const auto add = [&](const Recipe& recipe, int tile, Tier tier) {
      // The published two-pass algorithm expands its mark distances.
      const bool expands = algorithm == Algorithm::log_sum_exp;
      rows.push_back({.family = &families::strategy,
                      .recipe = recipe,
                      .tier = tier,
                      .options = {.algorithm = algorithm,
                                  .distance = expands ? Distance::expanded : Distance::difference,
                                  .position_tile = tile},
                      // The gate case exists for its time: its counts are gated by decode's.
                      .only = tier == Tier::gate ? executing : Kinds{},
                      .counted = tier == Tier::gate});
    };
    // The reference is the linear algorithm itself; the others are yardsticks.
    add(published, 0, gate_if(algorithm == Algorithm::fused));
    add(published, 100, Tier::full);
    for (const Size size : tracks)
      if (algorithm != Algorithm::log_sum_exp || size <= Size::medium)
        add({.size = size}, 0, Tier::full);
  }
}

// The form of the mark distance, for many features, given in units of the bandwidth.
void add_features(Rows& rows) {
  for (const int features : {2, 4, 6, 8, 10})
    for (const Distance distance : {Distance::difference, Distance::expanded})
      rows.push_back({.family = &families::features,
                      .recipe = {.size = Size::medium,
                                 .marks = Marks::whiten,
                                 .features = features,
                                 .encoding_spikes = 200,
                                 .decoding_spikes = 100},
                      .tier = gate_if(features == 8),
                      .options = {.distance = distance},
                      .counted = features == 8});
}

Options with_knob(Knob knob, int value) {
  Options options;
  (knob == Knob::block           ? options.block
   : knob == Knob::position_tile ? options.position_tile
                                 : options.encoding_tile) = value;
  return options;
}

void add_knobs(Rows& rows) {
  const auto sweep = [&](Knob knob, const std::vector<int>& values) {
    for (const auto& [size, bins] :
         {std::pair{Size::medium, 500}, {Size::realistic, 2000}, {Size::realistic, 4000}})
      for (const int value : values)
        if (bins != 4000 || knob == Knob::position_tile)
          rows.push_back({&families::tune,
                          {.size = size, .bins = bins},
                          Tier::full,
                          with_knob(knob, value),
                          knob});
  };
  sweep(Knob::block, {10, 25, 50, 100, 200, 500});
  sweep(Knob::position_tile, {64, 128, 200, 256, 500, 1000, 2000});
  sweep(Knob::encoding_tile, {128, 512, 2048});
  for (const int bins : {250, 500, 1000, 2000})
    rows.push_back({&families::grid, {.size = Size::medium, .bins = bins}, Tier::full});
}

void add_arithmetics(Rows& rows) {
  for (const Marks marks : {Marks::cells, Marks::profile})
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::ffma, Arithmetic::bf16x3,
                                        Arithmetic::tf32, Arithmetic::f64}) {
      const bool gates = marks == Marks::cells &&
                         (arithmetic == Arithmetic::bf16x3 || arithmetic == Arithmetic::tf32);
      rows.push_back({&families::precision,
                      {.size = Size::medium, .marks = marks},
                      gate_if(gates),
                      {.arithmetic = arithmetic}});
    }
}

// Long recordings, thinned so that every machine can decode them; at full length only on a GPU.
void add_production(Rows& rows) {
  for (const Size size : {Size::tet64, Size::hpc1d, Size::hpc2d})
    for (const int scale : {64, 16, 1})
      for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64})
        for (const bool cut : {false, true}) {
          if (cut && size == Size::tet64) continue;  // a cut needs the dense path
          const bool gates =
              scale == 64 && arithmetic == Arithmetic::f32 && (!cut || size == Size::hpc1d);
          rows.push_back({.family = &families::production,
                          .recipe = {.size = size, .marks = Marks::cells, .scale = scale},
                          .tier = gate_if(gates),
                          .options = {.arithmetic = arithmetic, .cut = cut},
                          .only = scale == 1 ? gpu : Kinds{}});
        }
}

void add_budgets(Rows& rows) {
  // The published limits, which a sixteenth of a recording does not reach: there a decode also gets
  // limits small enough to divide time into 2 chunks, 16, and finally electrodes into batches.
  constexpr std::int64_t kibi = 1024, mebi = 1024 * kibi;
  struct Budget {
    int scale;
    std::vector<std::int64_t> limits;
  };
  for (const Budget& given :
       {Budget{16, {8192 * mebi, 2048 * mebi, 512 * mebi, 128 * mebi, 16 * mebi, 2400 * kibi}},
        Budget{1, {8192 * mebi, 2048 * mebi, 512 * mebi}}})
    for (const std::int64_t bytes : given.limits)
      rows.push_back({.family = &families::budget,
                      .recipe = {.size = Size::hpc2d, .marks = Marks::cells, .scale = given.scale},
                      .tier = gate_if(bytes < 512 * mebi),
                      .options = {.budget = bytes},
                      .only = gpu});
  // On a track a device saves as much by recomputing Psi, in one chunk; a host, which keeps Psi,
  // divides time.
  rows.push_back({.family = &families::budget,
                  .recipe = {.size = Size::realistic},
                  .tier = Tier::full,
                  .options = {.budget = 30 * mebi}});
}

// On the dense path, then in two hops.
void add_sparse(Rows& rows) {
  for (const Size size : {Size::small, Size::medium})
    rows.push_back({.family = &families::sparse,
                    .recipe = {.size = size, .sparse = true},
                    .tier = gate_if(size == Size::small),
                    .counted = size == Size::small});
}

void add_protocols(Rows& rows) {
  rows.push_back({.family = &families::first_call});
  rows.push_back({.family = &families::shape_change});
  rows.push_back({.family = &families::in_turn});
  for (const Size size : {Size::hpc1d, Size::hpc2d, Size::tet64})
    rows.push_back({&families::matrix, {.size = size, .marks = Marks::cells, .scale = 64}});
  for (const Size size : tracks)
    rows.push_back({&families::memory, {.size = size}, gate_if(size == Size::medium)});
  struct Micro {
    int encoding, decoding, bins;
  };
  for (const auto& [encoding, decoding, bins] :
       {Micro{50, 25, 100}, Micro{200, 100, 500}, Micro{500, 250, 1000}})
    rows.push_back({.family = &families::micro,
                    .recipe = {.size = Size::medium,
                               .bins = bins,
                               .encoding_spikes = encoding,
                               .decoding_spikes = decoding},
                    .tier = gate_if(bins == 500)});
}

// A given 0 is an error: it does not mean the size's own number, as in a recipe.
int given_bins(int bins) {
  if (bins >= 1) return bins;
  throw Error(Fault::bad_input, text("no place bins: ", bins,
                                     " asked for; give 1 or more, or leave it out to have the "
                                     "size's own"));
}

bool given_floor(int floor) {
  if (floor == 0 || floor == 1) return floor == 1;
  throw Error(Fault::bad_input, text("floor ", floor, " is neither 1, with it, nor 0, without"));
}

// Applies the suite's own options to a row, if they concern it.
Row with(const SuiteOptions& options, Row row) {
  const Given given(options);
  const auto sized = [](std::string_view what) {
    return [=](int size) { return given_size(what, size); };
  };
  if (given.word("size", size_words, row.recipe.size)) row.tier = Tier::smoke;
  given.word("data", marks_words, row.recipe.marks);
  given.number("seed", row.recipe.seed);
  given.number("scale", row.recipe.scale);
  given.number("bins", row.recipe.bins, given_bins);
  given.number("features", row.recipe.features, sized("feature count"));
  given.word("arithmetic", arithmetic_words, row.options.arithmetic);
  given.word("algo", algorithm_words, row.options.algorithm);
  given.word("distance", distance_words, row.options.distance);
  given.word("psi", values_words, row.options.values);
  given.number("block-size", row.options.block, sized("block size"));
  given.number("pos-tile-size", row.options.position_tile, sized("tile size"));
  given.number("enc-tile-size", row.options.encoding_tile, sized("tile size"));
  std::int64_t mebibytes = 0;
  if (given.number("budget-mib", mebibytes, sized("budget")) && row.family == &families::budget)
    row.options.budget = mebibytes << 20, row.tier = Tier::smoke;
  if (given.has("cut")) row.options.cut = true;
  given.number("floor", row.options.local_floor, given_floor);
  return row;
}

bool is_long(Size size) {
  return size == Size::tet64 || size == Size::hpc1d || size == Size::hpc2d;
}

// Rows of long recordings exist for their size alone.
bool takes_size(const Row& row, Size size) {
  return is_long(size) || !is_long(row.recipe.size);
}

// Whether a row's options are possible in combination.
bool is_possible(const Options& options) {
  if (options.algorithm == Algorithm::fused) return true;
  const bool fused_alone = options.cut || options.encoding_tile > 0 || options.budget ||
                           options.values == Values::recomputed;
  const bool expands = options.distance == Distance::expanded;
  return !fused_alone && !(options.algorithm == Algorithm::linear && expands);
}

// Whether options concern mark distances, which an encode does not compute and a local likelihood
// only in one way.
bool concerns_decodes(const Options& options) {
  return options.cut || options.position_tile > 0 || options.encoding_tile > 0 ||
         options.distance == Distance::expanded;
}

// A sentence of refusal if the row's computation lacks what its options are about.
std::optional<std::string> lacking(const Row& row) {
  const bool local = row.family == &families::local;
  if (!local && !row.options.local_floor)
    return "floor 0 is of the local likelihood's spike term: leave it out, or what other "
           "computations alone have";
  if (row.options.values == Values::recomputed && (local || !is_two_hop(row)))
    return "psi:recomputed is of models with nodes, and here is none: use psi:stored";
  return std::nullopt;
}

// The maze has its own places. A cut skips pairs of a spike and a place, which a decode through
// nodes does not have.
bool is_possible(const Row& row) {
  const bool in_maze = row.recipe.size == Size::hpc2d;
  if ((in_maze && row.recipe.bins > 0) || (!is_decoding(row) && concerns_decodes(row.options)))
    return false;
  return is_possible(row.options) && !(row.options.cut && is_two_hop(row)) && !lacking(row);
}

std::vector<Case> cases(const SuiteOptions& given) {
  Rows rows;
  add_sizes(rows);
  add_strategies(rows);
  add_features(rows);
  add_knobs(rows);
  add_arithmetics(rows);
  add_production(rows);
  add_budgets(rows);
  add_sparse(rows);
  add_protocols(rows);

  Rows asked;
  for (const Row& each : rows) {
    const Row row = with(given, each);
    if (takes_size(each, row.recipe.size)) asked.push_back(row);
  }
  // Rows that cannot take the options are left out; if that would leave none, the options
  // contradict themselves, and making a case refuses them with a sentence.
  const bool contradiction =
      std::none_of(asked.begin(), asked.end(), [](const Row& row) { return is_possible(row); });
  Rows measured;
  for (const Row& row : asked) {
    if (!contradiction && !is_possible(row)) continue;
    validate(row.options);
    validate(row.recipe);
    if (const auto refusal = lacking(row)) throw Error(Fault::bad_input, *refusal);
    measured.push_back(row);
  }
  return cases_of(measured);
}

}  // namespace

Suite suite() {
  return {.name = "clusterless_kde",
          .options = {{"size", "NAME",
                       "one size of: tiny, small, medium, large, realistic, tet64, hpc1d or hpc2d"},
                      {"data", "NAME", "marks of the spikes: profile, cells or whiten"},
                      {"seed", "N", "of the generated data (42)"},
                      {"scale", "N", "thins recordings: spikes, samples and rows divided by N"},
                      {"bins", "P", "places on a track"},
                      {"features", "D", "waveform features of a spike"},
                      {"arithmetic", "NAME",
                       "of the optimized variant: f32, ffma, bf16x3, tf32 or f64"},
                      {"algo", "NAME", "of the optimized variant: linear, lse, clm or fused"},
                      {"distance", "FORM", "of marks: difference or expanded"},
                      {"psi", "FORM", "on a device, of models with nodes: stored or recomputed"},
                      {"block-size", "N", "decoding spikes at a time"},
                      {"pos-tile-size", "N", "places at a time"},
                      {"enc-tile-size", "N", "encoding spikes at a time"},
                      {"budget-mib", "N", "of budget cases: memory that a decode may use"},
                      {"cut", "", "leave out pairs that certainly change nothing"},
                      {"floor", "0|1", "of local cases: whether a spike's term is floored (1)"}},
          .cases = cases};
}

}  // namespace holdfast
