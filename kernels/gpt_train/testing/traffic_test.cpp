// SPDX-License-Identifier: Apache-2.0
// What the optimized kernels access of device and shared memory, on the emulated device.
#include "gpt_train/testing/kernels_on_cpu.hpp"
#include "gpt_train/testing/support.hpp"
#include "testing/expect_traffic.hpp"

namespace holdfast::gpt_train {
namespace {

void expect_accepted(Unit unit, Optimizer optimizer,
                     const std::map<std::string, Accesses>& accepted) {
  const auto backend = emulated();
  Options options = on_device(Model::tiny, optimizer, true);
  options.shape = {120, 64, 1, 1, 2, 32, 88, 2, 24, 15};
  const auto computation = make(unit, *backend, Variant::optimized, options);
  expect_traffic(*backend, *computation, accepted);
}

TEST(GptTraffic, OfAPassIsAccepted) {
  expect_accepted(Unit::forward_backward, Optimizer::adamw,
                  {{"attend<32>", {1172, 1.196}},
                   {"attend_back_keys<32>", {1176, 1.196}},
                   {"attend_back_queries<32>", {1900, 1.254}},
                   {"classify", {3344, 1}},
                   {"embed", {864, 1}},
                   {"embed_backward", {890, 1.089}},
                   {"gated", {591, 1.12}},
                   {"gated_backward", {855, 1.08}},
                   {"norm_backward", {4584, 1}},
                   {"normalise", {1248, 1}},
                   {"rotate", {768, 1}},
                   {"segment", {18, 1}},
                   {"sum_losses", {21, 1}},
                   {"sum_rows", {168, 1}},
                   {"tile_segments", {8, 1}}});
}

TEST(GptTraffic, OfUpdatesIsAccepted) {
  expect_accepted(Unit::update, Optimizer::adamw,
                  {{"adam_all<float>", {7380, 1}},
                   {"adam_all<holdfast::Bf16>", {25992, 1}},
                   {"adam_rows", {9360, 1}},
                   {"lion", {138, 1}}});
  expect_accepted(Unit::update, Optimizer::muon,
                  {{"adam_all<float>", {7380, 1}},
                   {"adam_rows", {9360, 1}},
                   {"apply", {11904, 1.028}},
                   {"go_on", {11934, 1.028}},
                   {"invert_norms", {16, 1.143}},
                   {"lion", {138, 1}},
                   {"scale_all", {1938, 1}}});
}

}  // namespace
}  // namespace holdfast::gpt_train
