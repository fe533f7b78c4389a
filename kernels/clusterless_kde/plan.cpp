// SPDX-License-Identifier: Apache-2.0
// Plans a decode: which formulation, which range of numbers, within how much memory.
#include <algorithm>
#include <optional>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/problem/chunks.hpp"
#include "clusterless_kde/problem/range.hpp"
#include "clusterless_kde/variants.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

std::int64_t estimate(const Backend& backend, const Shape& shape, const Plan& plan) {
#ifdef HOLDFAST_CUDA
  if (backend.device) return cuda_estimate_bytes(shape, plan);
#else
  (void)backend;
#endif
  return host_estimate_bytes(shape, plan);
}

// Plans of one input, in descending order of memory.
class Planner {
 public:
  Planner(const Backend& backend, const Input& input, const Options& options)
      : backend_(backend), shape_(shape(input)), order_(order(input)) {
    const bool single = precision_of(options.arithmetic) == Precision::f32;
    first_.options = options;
    first_.options.chunks = static_cast<int>(std::min<std::int64_t>(options.chunks, shape_.rows));
    first_.range_fallback = single && exceeds_single(input);
    const Precision precision = single && !first_.range_fallback ? Precision::f32 : Precision::f64;
    first_.path = path(shape_, precision);
    if (first_.path == Path::two_hop) first_.node_count = nodes(shape_, precision).count;
    if (options.cut && first_.path == Path::two_hop)
      throw Error(Fault::bad_input,
                  text("a cut leaves out pairs of a spike and a place, and these go through ",
                       first_.node_count, " nodes: decode without the cut"));
  }

  // The plan that the options ask for.
  Plan unbounded() const { return with(first_.options.chunks, first_.options.values, 1); }

  // The first plan that fits, trying in order: as it is; Psi recomputed; then, step by step, twice
  // the time chunks, up to one per row, or twice the batches of electrodes, whichever saves more;
  // on a host, half the tiles and then half the block. The [T, P] of likelihoods goes to a
  // consumer.
  Plan within(std::int64_t budget) {
    first_.options.consume = true;
    Plan plan = unbounded();
    if (plan.estimate_bytes > budget && backend_.device && plan.path == Path::two_hop)
      plan = with(plan.options.chunks, Values::recomputed, 1);
    std::int64_t least = plan.estimate_bytes;
    while (plan.estimate_bytes > budget) {
      const std::optional<Plan> next = smaller(plan);
      if (!next)
        throw Error(Fault::bad_input, text("a budget of ", budget,
                                           " bytes is too small: this decode "
                                           "needs at least ",
                                           least, " bytes"));
      plan = *next;
      least = std::min(least, plan.estimate_bytes);
    }
    return plan;
  }

 private:
  Plan with(int chunks, Values values, int batches) const {
    Plan plan = first_;
    plan.options.chunks = chunks;
    plan.options.values = values;
    plan.electrode_batches = batches;
    plan.chunk_spikes = most_chunk_spikes(order_, chunks, shape_.rows);
    plan.estimate_bytes = estimate(backend_, shape_, plan);
    return plan;
  }

  // The next plan to try; empty if nothing can be divided further.
  std::optional<Plan> smaller(const Plan& plan) const {
    const auto rows = static_cast<int>(shape_.rows);
    const int chunks = plan.options.chunks, batches = plan.electrode_batches;
    const Values values = plan.options.values;
    std::optional<Plan> divided;
    if (chunks < rows) divided = with(std::min(2 * chunks, rows), values, batches);
    if (!backend_.device) return divided ? divided : narrower(plan);
    if (batches >= shape_.electrodes) return divided;
    const Plan batched = with(chunks, values, std::min(2 * batches, shape_.electrodes));
    return divided && divided->estimate_bytes <= batched.estimate_bytes ? divided : batched;
  }

  // Each host thread keeps tiles in memory: places by encoding spikes, and those by a block. Halves
  // the given size, or the widest that could be chosen; encoding tiles stay, because they determine
  // rounding.
  std::optional<Plan> narrower(Plan plan) const {
    constexpr int widest_tile = 256, widest_block = 192, least_tile = 32;
    int &tile = plan.options.position_tile, &block = plan.options.block;
    if (tile == 0 || tile > least_tile)
      tile = std::max((tile > 0 ? tile : widest_tile) / 2, least_tile);
    else if (block != 1)
      block = (block > 0 ? block : widest_block) / 2;
    else
      return std::nullopt;
    plan.estimate_bytes = estimate(backend_, shape_, plan);
    return plan;
  }

  const Backend& backend_;
  Shape shape_;
  Order order_;
  Plan first_ = {};  // shared by all of them
};

}  // namespace

Plan plan(const Backend& backend, const Input& input, const Options& options) {
  Planner planner(backend, input, options);
  return options.budget ? planner.within(*options.budget) : planner.unbounded();
}

}  // namespace holdfast::clusterless_kde
