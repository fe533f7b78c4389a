// SPDX-License-Identifier: Apache-2.0
// The cases of kernels/xpcs_fit: one row per claim, in the order of the list.
#include <tuple>

#include "xpcs_fit/own_options.hpp"

namespace holdfast {
namespace {

using namespace xpcs_fit;

using Rows = std::vector<Row>;

constexpr Mode modes[] = {Mode::at_rest, Mode::laminar};
constexpr NamedSize resident_sizes[] = {NamedSize::t, NamedSize::s, NamedSize::l, NamedSize::c};

Tier tier_of(NamedSize size) {
  return size == NamedSize::t ? Tier::smoke : size <= NamedSize::s ? Tier::gate : Tier::full;
}

// The model alone, and with the data: one value is written per point.
void add_values(Rows& rows) {
  for (const Family<Row>* family : {&families::g2, &families::residual})
    for (const Mode mode : modes)
      for (const NamedSize size : resident_sizes)
        for (const Precision precision : {Precision::f64, Precision::f32}) {
          // One of the small cases is representative, and one of those in f32.
          const bool stands = mode == Mode::laminar && precision == Precision::f64 &&
                              (size != NamedSize::t || family == &families::g2);
          const bool narrow = mode == Mode::laminar && precision == Precision::f32 &&
                              size == NamedSize::s && family == &families::g2;
          const bool wide = precision == Precision::f64 && size == NamedSize::s;
          // Residuals gate at one size, in both modes; only one of these is counted.
          const bool cheaper = wide && mode == Mode::at_rest && family == &families::residual;
          rows.push_back({.family = family,
                          .size = size,
                          .tier = stands || narrow || wide ? tier_of(size) : Tier::full,
                          .options = {.mode = mode, .precision = precision},
                          .counted = (stands && size == NamedSize::t) || cheaper});
        }
}

// Every loss and weight with one pair of contrast and offset for all angles; with a pair per angle,
// the simplest and the most complex.
void add_normal_equations(Rows& rows) {
  for (const NamedSize size :
       {NamedSize::t, NamedSize::s0, NamedSize::s, NamedSize::l, NamedSize::c})
    for (const Mode mode : modes)
      for (const Scaling scaling : {Scaling::shared, Scaling::per_angle})
        for (const Loss loss : {Loss::linear, Loss::soft_l1})
          for (const Weights weights : {Weights::unit, Weights::array}) {
            const bool plainest = loss == Loss::linear && weights == Weights::unit;
            const bool richest = loss == Loss::soft_l1 && weights == Weights::array;
            if (scaling == Scaling::per_angle && !plainest && !richest) continue;
            const bool gates =
                size == NamedSize::s0 &&
                (plainest ? scaling == Scaling::shared
                          : richest && mode == Mode::laminar && scaling == Scaling::per_angle);
            const bool large = size == NamedSize::s && plainest && scaling == Scaling::shared &&
                               mode == Mode::laminar;
            rows.push_back(
                {.family = &families::normal_equations,
                 .size = size,
                 .tier = gates || large ? Tier::gate : Tier::full,
                 .options = {.mode = mode, .scaling = scaling, .loss = loss, .weights = weights},
                 .counted = gates && plainest});
          }
}

// Whole fits with all data resident: accounted ones of 8 passes, and those that run until they
// converge.
void add_fits(Rows& rows) {
  for (const Mode mode : modes) {
    for (const NamedSize size :
         {NamedSize::t, NamedSize::s0, NamedSize::s, NamedSize::l, NamedSize::c})
      rows.push_back(
          {.family = &families::fit,
           .size = size,
           .tier = mode == Mode::laminar && size != NamedSize::s0 ? tier_of(size) : Tier::full,
           .options = {.mode = mode},
           .counted = size == NamedSize::t});
    for (const NamedSize size : {NamedSize::t, NamedSize::s, NamedSize::l})
      rows.push_back(
          {.family = &families::converged,
           .size = size,
           .tier = mode == Mode::laminar && size <= NamedSize::s ? Tier::gate : Tier::full,
           .options = {.mode = mode},
           .counted = size == NamedSize::t});
  }
}

// The other strategies: at sizes that need them, and at sizes that do not.
void add_ways(Rows& rows) {
  struct Way {
    Strategy strategy;
    DataSource source;
    std::vector<NamedSize> sizes;
  };
  const Way ways[] = {
      {Strategy::large, DataSource::resident, {NamedSize::t, NamedSize::l}},
      {Strategy::chunked, DataSource::resident, {NamedSize::t, NamedSize::c}},
      {Strategy::chunked, DataSource::host, {NamedSize::t, NamedSize::c}},
      {Strategy::streaming,
       DataSource::host,
       {NamedSize::t, NamedSize::s, NamedSize::l, NamedSize::c, NamedSize::x, NamedSize::xx}},
      {Strategy::streaming,
       DataSource::generated,
       {NamedSize::t, NamedSize::s, NamedSize::x, NamedSize::xx}},
      {Strategy::streaming,
       DataSource::resident,
       {NamedSize::t, NamedSize::s, NamedSize::l, NamedSize::c}}};
  for (const Way& way : ways)
    for (const Mode mode : modes)
      for (const NamedSize size : way.sizes) {
        const bool brings = mode == Mode::laminar && way.source == DataSource::host;
        const bool gates =
            brings && size == (way.strategy == Strategy::chunked ? NamedSize::t : NamedSize::s);
        Row row = {.family = &families::fit,
                   .size = size,
                   .tier = gates ? Tier::gate : Tier::full,
                   .options = {.mode = mode},
                   .strategy = way.strategy,
                   .source = way.source};
        // Hosts would generate a gigabyte of data first; beyond that a GPU is needed, and where the
        // host has the data, 8 GB of its memory.
        if (size >= NamedSize::x || way.source == DataSource::generated) row.only = gpu;
        if (size == NamedSize::xx) row.only = {"cuda"};
        rows.push_back(row);
        // The rate of whole fits is published for chunked, resident data.
        const bool rated = way.strategy == Strategy::chunked && way.source == DataSource::resident;
        if (size > NamedSize::s && !rated) continue;
        row.tier = Tier::full;
        rows.push_back(as(families::converged, row));
      }
  rows.push_back({.family = &families::ladder, .size = NamedSize::s});
}

// The patterns around fits.
void add_patterns(Rows& rows) {
  for (const int angles : {8, 23, 72})
    for (const int frames : {50, 100, 200})
      rows.push_back({.family = &families::angle_loop,
                      .tier = angles == 23 && frames == 100 ? Tier::gate : Tier::full,
                      .angles = angles,
                      .frames = frames,
                      .counted = angles == 23 && frames == 100});
  for (const auto& [vectors, size, tier] : {std::tuple{8, NamedSize::s0, Tier::gate},
                                            {8, NamedSize::s, Tier::full},
                                            {64, NamedSize::s, Tier::full}})
    rows.push_back({.family = &families::batch_chi2, .size = size, .tier = tier, .count = vectors});
  for (const int chunks : {1, 4, 16})
    rows.push_back({.family = &families::chunk_gather,
                    .size = NamedSize::s0,
                    .tier = chunks == 4 ? Tier::gate : Tier::full,
                    .count = chunks,
                    .counted = chunks == 4});
  for (const int iterations : {50, 1000})
    rows.push_back({.family = &families::round_trip,
                    .size = iterations == 50 ? NamedSize::t : NamedSize::s0,
                    .tier = iterations == 50 ? Tier::gate : Tier::full,
                    .count = iterations,
                    .counted = iterations == 50});
}

// On a device, within budgets, the smallest of which is a fifth of the data of size l.
void add_budgets(Rows& rows) {
  for (const int limit : {8, 32, 128})
    for (const NamedSize size : {NamedSize::t, NamedSize::l})
      for (const Precision precision : {Precision::f64, Precision::f32})
        rows.push_back({.family = &families::memory_budget,
                        .size = size,
                        .options = {.precision = precision},
                        .limit_mebibytes = limit});
  rows.push_back({.family = &families::out_of_memory, .size = NamedSize::s});
}

void add_streams(Rows& rows) {
  for (const double probability : {0., 0.05, 0.3})
    for (const int permanent : {-1, 3}) {
      // A GPU has its 25 gate cases without this one, but runs the others of this family.
      const bool gates = probability == 0.05 && permanent == -1;
      rows.push_back({.family = &families::stream_faults,
                      .tier = gates ? Tier::gate : Tier::full,
                      .probability = probability,
                      .permanent = permanent,
                      .only = gates ? Kinds{"host"} : Kinds{}});
    }
  for (const StreamMode mode : {StreamMode::plain, StreamMode::fast, StreamMode::full})
    for (const NamedSize size : {NamedSize::t, NamedSize::s})
      rows.push_back({.family = &families::stream_overhead,
                      .size = size,
                      .mode = mode,
                      .counted = size == NamedSize::t});
  rows.push_back({.family = &families::stream_resume});
  // With as many angles as batches, a batch is frames / batches rows of every angle: 1 to 32.
  for (const int batches : {8, 64})
    for (const int frames : {64, 256})
      rows.push_back({.family = &families::stream_memory,
                      .tier = batches == 8 && frames == 64 ? Tier::gate : Tier::full,
                      .angles = batches,
                      .frames = frames,
                      .count = batches});
  for (const int parameters : {9, 135})
    for (const int batches : {100, 30000})
      rows.push_back(
          {.family = &families::stream_checkpoint, .count = batches, .parameters = parameters});
  rows.push_back({.family = &families::progress, .size = NamedSize::s, .count = 24});
  // The cost of reporting is independent of the size: counted at a small one.
  for (const Family<Row>* family : {&families::progress, &families::silence})
    rows.push_back({.family = family, .count = 24, .counted = true});
}

void add_protocols(Rows& rows) {
  for (const Mode mode : modes)
    rows.push_back({.family = &families::first_call,
                    .tier = mode == Mode::laminar ? Tier::gate : Tier::full,
                    .options = {.mode = mode}});
  for (const Mode mode : modes)
    for (const NamedSize size : {NamedSize::s, NamedSize::l})
      rows.push_back({.family = &families::memory,
                      .size = size,
                      .tier = mode == Mode::laminar ? tier_of(size) : Tier::full,
                      .options = {.mode = mode}});
  rows.push_back({.family = &families::in_turn});
  for (const Change change : {Change::shape, Change::dtype_mode, Change::tail, Change::constants})
    rows.push_back({.family = &families::shape_change,
                    .tier = change <= Change::dtype_mode ? Tier::gate : Tier::full,
                    .change = change});
}

// The machine that fits run on.
void add_machine(Rows& rows) {
  for (const Family<Row>* family : {&families::clear, &families::guard, &families::status})
    rows.push_back({.family = family});
  for (const int n : {256, 1024, 5000})
    rows.push_back(
        {.family = &families::spectrum, .count = n, .only = n == 5000 ? Kinds{"cuda"} : Kinds{}});
  for (const int threads : {1, 2})
    rows.push_back({.family = &families::threads, .size = NamedSize::s, .count = threads});
}

std::vector<Case> cases(const SuiteOptions& given) {
  Rows rows;
  add_values(rows);
  add_normal_equations(rows);
  add_fits(rows);
  add_ways(rows);
  add_patterns(rows);
  add_streams(rows);
  add_budgets(rows);
  add_machine(rows);
  add_protocols(rows);
  follow(given, rows);
  return cases_of(rows);
}

}  // namespace

Suite suite() {
  return {.name = "xpcs_fit", .options = own_options(), .cases = cases};
}

}  // namespace holdfast
