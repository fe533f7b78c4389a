// SPDX-License-Identifier: Apache-2.0
// What the optimized kernels access of device and shared memory, on the emulated device.
#include "clusterless_kde/testing/support.hpp"
#include "testing/expect_traffic.hpp"

namespace holdfast::clusterless_kde {
namespace {

void expect_accepted(Unit unit, const Recipe& recipe, const Options& options,
                     const std::map<std::string, Accesses>& accepted) {
  const auto backend = emulated();
  const auto computation = make_unit(*backend, unit, make_input(recipe), options);
  expect_traffic(*backend, *computation, accepted);
}

TEST(ClusterlessTraffic, OfTheDensePathIsAccepted) {
  expect_accepted(Unit::total, {.size = Size::tiny}, {},
                  {{"column_sums<float, kde::SplitBf16, 1, kde::at_places>", {717, 1.023}},
                   {"finish<float, kde::SplitBf16, 1, kde::at_places>", {250, 1.012}},
                   {"hop_a<float, kde::SplitBf16, 2, 1, kde::formed_places, 128, 2, false, false>",
                    {2115, 1.156}},
                   {"sum_rows<float>", {7141, 1.137}}});
}

// So few spikes would not take this path by themselves.
TEST(ClusterlessTraffic, OfTwoHopsIsAccepted) {
  const auto backend = emulated();
  Problem problem = {
      .unit = Unit::total,
      .input = make_input({.size = Size::medium, .marks = Marks::cells, .scale = 16, .bins = 301})};
  problem.plan = plan(*backend, problem.input, problem.options);
  problem.plan.path = Path::two_hop;
  problem.plan.node_count = 64;
  const auto computation = make_cuda_optimized(*backend, problem);
  expect_traffic(*backend, *computation,
                 {{"column_sums<float, kde::SplitBf16, 1, kde::at_stored_nodes>", {3304, 1.01}},
                  {"finish<float, kde::SplitBf16, 1, kde::at_nodes>", {16086, 1.176}},
                  {"group_sums<float>", {1088, 1}},
                  {"hop_a<float, kde::SplitBf16, 4, 1, kde::stored_nodes, 64, 2, false, false>",
                   {7880, 1.207}},
                  {"hop_b<float, kde::SplitBf16, 64, 2>", {35841, 1.109}}});
}

TEST(ClusterlessTraffic, InDoublePrecisionIsAccepted) {
  expect_accepted(Unit::total, {.size = Size::tiny, .marks = Marks::cells},
                  {.arithmetic = Arithmetic::f64},
                  {{"column_sums<double, double, 1, kde::at_places>", {1193, 1.014}},
                   {"finish<double, double, 1, kde::at_places>", {271, 1}},
                   {"hop_a<double, double, 4, 1, kde::formed_places, 128, 1, false, false>",
                    {5637, 1.4, 1.167}},
                   {"sum_rows<double>", {11116, 1.06}}});
}

// In chunks, each of which a consumer replaces by its best places.
TEST(ClusterlessTraffic, OfAConsumerIsAccepted) {
  expect_accepted(Unit::decode, {.size = Size::tiny}, {.chunks = 2, .consume = true},
                  {{"consume<float>", {1594, 1.099}},
                   {"hop_a<float, kde::SplitBf16, 2, 1, kde::formed_places, 128, 2, false, false>",
                    {3431, 1.091}},
                   {"sum_rows<float>", {6610, 1.056}}});
}

TEST(ClusterlessTraffic, OfLocalLikelihoodsIsAccepted) {
  expect_accepted(
      Unit::local, {.size = Size::tiny}, {},
      {{"local_rows<float, 1>", {1541, 1}}, {"local_spikes<float, 2, 1, true>", {1263, 1}}});
}

}  // namespace
}  // namespace holdfast::clusterless_kde
