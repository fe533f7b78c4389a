// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/problem/problem.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <string>

#include "runtime/base/error.hpp"
#include "testing/error_of.hpp"
#include "xpcs_fit/problem/formulas.hpp"
#include "xpcs_fit/problem/strategy.hpp"
#include "xpcs_fit/problem/words.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

struct Bad {
  std::string sentence;  // begins so
  std::function<void(Input&, Options&)> spoil;
};

TEST(XpcsProblem, RefusesBadInputByName) {
  const Bad rows[] = {
      {"invalid_physics: q is 0", [](Input& in, Options&) { in.physics.q = 0; }},
      {"invalid_physics: gap is -1", [](Input& in, Options&) { in.physics.gap = -1; }},
      {"invalid_physics: dt is nan", [](Input& in, Options&) { in.physics.dt = std::nan(""); }},
      {"empty_data: 3 angles of 1 frames", [](Input& in, Options&) { in.size.frames = 1; }},
      {"shape_mismatch: data holds 191", [](Input& in, Options&) { in.data.pop_back(); }},
      {"shape_mismatch: start has 8", [](Input& in, Options&) { in.box.start.pop_back(); }},
      {"shape_mismatch: upper has 8", [](Input& in, Options&) { in.box.upper.pop_back(); }},
      {"invalid_bounds: lower is not below upper at parameter 2, 3",
       [](Input& in, Options&) {
         in.box.lower[2] = in.box.upper[2];
         in.box.lower[3] = 5;
       }},
      {"nonfinite_start: start of parameter 4",
       [](Input& in, Options&) { in.box.start[4] = INFINITY; }},
      {"shape_mismatch: 0 weights",
       [](Input&, Options& options) { options.weights = Weights::array; }},
      {"invalid_weights: weight 7 is 0",
       [](Input& in, Options& options) {
         options.weights = Weights::array;
         in.weights.assign(in.data.size(), 1);
         in.weights[7] = 0;
       }},
      {"too_few_points: 4 points for 9 parameters",
       [](Input& in, Options&) {
         in.size = {1, 2};
         in.angles.resize(1);
         in.data.resize(4);
       }},
  };
  for (const Bad& row : rows) {
    Problem one = problem({3, 8}, {});
    auto input = std::make_shared<Input>(*one.input);
    row.spoil(*input, one.options);
    one.input = input;
    try {
      validate(one);
      ADD_FAILURE() << row.sentence << " passes";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::bad_input);
      EXPECT_TRUE(std::string(error.what()).starts_with(row.sentence)) << error.what();
    }
  }
}

TEST(XpcsProblem, RefusesWordsThatThereAreNot) {
  const auto refuses = [](const auto& words, const std::string& said) {
    EXPECT_THAT(refusal_of([&] { return words.read("round"); }), testing::HasSubstr(said));
  };
  refuses(mode_words, "mode");
  refuses(loss_words, "loss");
  refuses(scaling_words, "scaling");
  refuses(weights_words, "weights");
  refuses(strategy_words, "strategy");
}

TEST(XpcsProblem, CountsParameters) {
  EXPECT_EQ(parameter_count({.mode = Mode::at_rest}, 10), 5);
  EXPECT_EQ(parameter_count({}, 10), 9);
  EXPECT_EQ(parameter_count({.scaling = Scaling::per_angle}, 64), 135);
  EXPECT_EQ(parameter_names({.scaling = Scaling::per_angle}, 2)[3], "offset_1");
}

TEST(XpcsFormulas, TakeASineAndACosineOfLargePhases) {
  for (double x = -1048576; x < 1048576; x += 37.3) {
    const SineCosine64 both = sine_cosine(x);
    ASSERT_NEAR(both.sine, std::sin(x), 3e-16) << x;
    ASSERT_NEAR(both.cosine, std::cos(x), 3e-16) << x;
    const auto narrow = static_cast<float>(x / 1024);
    ASSERT_NEAR(sine_cosine(narrow).sine, std::sin(narrow), 2e-7) << x;
    ASSERT_NEAR(sine_cosine(narrow).cosine, std::cos(narrow), 2e-7) << x;
  }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
