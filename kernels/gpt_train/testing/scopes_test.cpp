// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpt_train/data/golden.hpp"
#include "gpt_train/gpt_train.hpp"
#include "runtime/backend/recording.hpp"

namespace holdfast::gpt_train {
namespace {

// In the order of their opening, indented by depth.
std::vector<std::string> scopes_of(Variant variant, Unit unit = Unit::train_step) {
  const auto backend = open_backend("host");
  const auto computation = make(unit, *backend, variant, golden::micro);
  computation->step();
  Recording recording(*backend);
  computation->step();
  recording.stop();
  std::vector<std::string> scopes;
  for (const ScopeRecord& scope : recording.scopes())
    scopes.push_back(std::string(2 * scope.depth, ' ') + scope.name);
  return scopes;
}

TEST(GptScopes, OfAStepAreItsStagesLayersAndParts) {
  EXPECT_EQ(
      scopes_of(Variant::optimized),
      (std::vector<std::string>{
          "data_loading",     "  fetch_batch", "forward_pass",  "  embedding",   "  layer_0",
          "    attention",    "    gated_mlp", "  layer_1",     "    attention", "    gated_mlp",
          "loss_computation", "  lm_head",     "backward_pass", "  lm_head",     "  layer_1",
          "    gated_mlp",    "    attention", "  layer_0",     "    gated_mlp", "    attention",
          "  embedding",      "update"}));
}

TEST(GptScopes, OfAPartAreThoseThatItHasInAStep) {
  const std::vector<std::string> layer = {"layer_0", "  attention", "  gated_mlp"};
  const std::vector<std::string> layer_back = {"layer_0", "  gated_mlp", "  attention"};
  const std::pair<Unit, std::vector<std::string>> parts[] = {
      {Unit::layer_forward, layer},
      {Unit::layer_backward, layer_back},
      {Unit::attention_forward, {"attention"}},
      {Unit::attention_backward, {"attention"}},
      {Unit::lm_head, {"lm_head"}},
      {Unit::update, {"update"}}};
  for (const auto& [unit, scopes] : parts)
    EXPECT_EQ(scopes_of(Variant::optimized, unit), scopes) << static_cast<int>(unit);
}

// Its backward pass recomputes each layer first.
TEST(GptScopes, OfTheReferenceShowThatALayerIsComputedAgain) {
  const std::vector<std::string> scopes = scopes_of(Variant::reference);
  EXPECT_EQ(std::count(scopes.begin(), scopes.end(), "    attention"), 6);
  EXPECT_EQ(std::count(scopes.begin(), scopes.end(), "    gated_mlp"), 6);
  EXPECT_EQ(std::count(scopes.begin(), scopes.end(), "  lm_head"), 2);
}

}  // namespace
}  // namespace holdfast::gpt_train
