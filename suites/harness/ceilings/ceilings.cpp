// SPDX-License-Identifier: Apache-2.0
#include "harness/ceilings/ceilings.hpp"

#include <algorithm>

namespace holdfast {
namespace {

using Floor = Ceilings::Floor;

struct Share {
  const Ceilings::Level* level = nullptr;
  double fraction = 0;  // of the footprint
};

// The fraction of a footprint that each level holds.
std::vector<Share> shares(const std::vector<Ceilings::Level>& levels, double footprint_bytes) {
  std::vector<Share> shares;
  double rest = 1;
  for (const Ceilings::Level& level : levels) {
    const bool last = &level == &levels.back();
    const bool holds_all = footprint_bytes * rest <= level.capacity_bytes;
    const double fraction = last || holds_all ? rest : level.capacity_bytes / footprint_bytes;
    shares.push_back({&level, fraction});
    rest -= fraction;
    if (rest <= 0) break;
  }
  return shares;
}

Floor memory_floor(const Ceilings& ceilings, double bytes, double footprint_bytes) {
  Floor floor;
  double longest = 0;
  for (const auto& [level, fraction] : shares(ceilings.levels, footprint_bytes)) {
    const double seconds = bytes * fraction / level->bytes_per_second;
    floor.seconds += seconds;
    if (seconds <= longest) continue;
    longest = seconds;
    floor.bound = level->name;
  }
  return floor;
}

Floor rate_floor(double amount, std::optional<double> per_second, const char* bound) {
  if (!per_second || amount <= 0) return {};
  return {amount / *per_second, bound};
}

// A matrix product may exceed the multiply-add rate: no step can beat both.
std::optional<double> best_flop_rate(const Ceilings::Peak& peak) {
  return std::max({peak.flop_per_second, peak.gemm_flop_per_second, peak.split_flop_per_second});
}

// Host threads can hand over work without a full barrier, so a phase costs nothing there.
Floor latency_floor(const Ceilings& ceilings, double phases) {
  std::optional<double> least;
  for (const auto& way :
       {ceilings.launch_seconds, ceilings.graph_node_seconds, ceilings.grid_barrier_seconds})
    if (way && (!least || *way < *least)) least = way;
  if (!least || phases <= 0) return {};
  return {phases * *least, "latency"};
}

struct Name {
  const char* name;
  std::optional<double> Ceilings::*value;
};
constexpr Name names[] = {
    {"memory_copy_bytes_per_s", &Ceilings::memory_copy_bytes_per_second},
    {"h2d_bytes_per_s", &Ceilings::h2d_bytes_per_second},
    {"launch_s", &Ceilings::launch_seconds},
    {"graph_node_s", &Ceilings::graph_node_seconds},
    {"grid_barrier_s", &Ceilings::grid_barrier_seconds},
    {"barrier_s", &Ceilings::barrier_seconds},
};

}  // namespace

double Ceilings::bandwidth(double footprint_bytes) const {
  const double seconds_per_byte = memory_floor(*this, 1, footprint_bytes).seconds;
  return seconds_per_byte > 0 ? 1 / seconds_per_byte : 0;
}

const Ceilings::Peak& Ceilings::peak_of(Precision precision) const {
  if (precision == Precision::bf16) return bf16;
  return precision == Precision::f64 ? f64 : f32;
}

Floor Ceilings::floor(const Work& work, double footprint_bytes) const {
  const Peak& peak = peak_of(work.precision);
  const auto specials =
      work.precision == Precision::bf16 ? f32.specials_per_second : peak.specials_per_second;
  const Floor floors[] = {memory_floor(*this, work.bytes, footprint_bytes),
                          rate_floor(work.flops, best_flop_rate(peak), "flops"),
                          rate_floor(work.specials, specials, "specials"),
                          latency_floor(*this, work.phases)};
  return *std::max_element(std::begin(floors), std::end(floors),
                           [](const Floor& a, const Floor& b) { return a.seconds < b.seconds; });
}

std::map<std::string, std::optional<double>> Ceilings::named() const {
  std::map<std::string, std::optional<double>> out;
  for (const char* level : {"l1", "l2", "l3", "memory"}) {
    out[std::string(level) + "_bytes_per_s"] = std::nullopt;
    out[std::string(level) + "_footprint_bytes"] = std::nullopt;
  }
  for (const Level& level : levels) {
    out[level.name + "_bytes_per_s"] = level.bytes_per_second;
    out[level.name + "_footprint_bytes"] = level.footprint_bytes;
  }
  for (const auto& [precision, peak] : {std::pair{"f64", &f64}, std::pair{"f32", &f32}}) {
    out[std::string(precision) + "_flop_per_s"] = peak->flop_per_second;
    out[std::string(precision) + "_gemm_flop_per_s"] = peak->gemm_flop_per_second;
    out[std::string(precision) + "_specials_per_s"] = peak->specials_per_second;
  }
  out["f32_split_flop_per_s"] = f32.split_flop_per_second;
  out["bf16_gemm_flop_per_s"] = bf16.gemm_flop_per_second;
  for (const auto& [name, value] : names) out[name] = this->*value;
  return out;
}

}  // namespace holdfast
