// SPDX-License-Identifier: Apache-2.0
// Inputs that fits refuse, row by row: each sentence begins with its code and names the error, and
// nothing is written before it.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <string>

#include "base/files.hpp"
#include "testing/error_of.hpp"
#include "xpcs_fit/problem/strategy.hpp"
#include "xpcs_fit/problem/words.hpp"
#include "xpcs_fit/streams.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Refused {
  std::string sentence;  // only its beginning
  std::function<void(Input&, Options&, StreamOptions&)> spoil;
  std::string backend = "host";
};

// Each row breaks a fit of 3 angles of 8 frames, 192 points and 9 parameters.
const Refused rows[] = {
    {"invalid_physics: q is 0, no positive number",
     [](Input& in, Options&, StreamOptions&) { in.physics.q = 0; }},
    {"invalid_physics: gap is -1, ",
     [](Input& in, Options&, StreamOptions&) { in.physics.gap = -1; }},
    {"invalid_physics: dt is nan, ",
     [](Input& in, Options&, StreamOptions&) { in.physics.dt = std::nan(""); }},
    {"invalid_physics: q is inf, ",
     [](Input& in, Options&, StreamOptions&) { in.physics.q = INFINITY; }},
    {"empty_data: 3 angles of 1 frames",
     [](Input& in, Options&, StreamOptions&) { in.size.frames = 1; }},
    {"empty_data: 0 angles of 8 frames",
     [](Input& in, Options&, StreamOptions&) { in.size.angles = 0; }},
    {"empty_data: data holds no value",
     [](Input& in, Options&, StreamOptions&) { in.data.clear(); }},
    {"shape_mismatch: data holds 191 values, and 3 angles of 8 frames make 192",
     [](Input& in, Options&, StreamOptions&) { in.data.pop_back(); }},
    {"shape_mismatch: 2 angles are given for 3",
     [](Input& in, Options&, StreamOptions&) { in.angles.pop_back(); }},
    {"shape_mismatch: start has 8 values for 9 parameters",
     [](Input& in, Options&, StreamOptions&) { in.box.start.pop_back(); }},
    {"shape_mismatch: lower has 10 values for 9 parameters",
     [](Input& in, Options&, StreamOptions&) { in.box.lower.push_back(0); }},
    {"shape_mismatch: upper has 8 values for 9 parameters",
     [](Input& in, Options&, StreamOptions&) { in.box.upper.pop_back(); }},
    {"shape_mismatch: 0 weights are given for 192 values",
     [](Input&, Options& options, StreamOptions&) { options.weights = Weights::array; }},
    {"invalid_bounds: lower is not below upper at parameter 2, 3, 7",
     [](Input& in, Options&, StreamOptions&) {
       in.box.lower[2] = in.box.upper[2];
       in.box.lower[3] = 5;
       in.box.upper[7] = std::nan("");
     }},
    {"nonfinite_start: start of parameter 4, 8",
     [](Input& in, Options&, StreamOptions&) {
       in.box.start[4] = INFINITY;
       in.box.start[8] = std::nan("");
     }},
    {"nonfinite_start: F at the start is nan",
     [](Input& in, Options&, StreamOptions& stream) {
       in.data[77] = std::nan("");
       stream.settings = {.mode = StreamMode::fast, .checkpoint_frequency = 1000};
     }},
    {"too_few_points: 4 points for 9 parameters",
     [](Input& in, Options&, StreamOptions&) {
       in.size = {1, 2};
       in.angles.resize(1);
       in.data.resize(4);
     }},
    {"invalid_weights: weight 7 is 0, no positive number",
     [](Input& in, Options& options, StreamOptions&) {
       options.weights = Weights::array;
       in.weights.assign(in.data.size(), 1);
       in.weights[7] = 0;
     }},
    {"invalid_option: -1 threads; give 1 or more",
     [](Input&, Options& options, StreamOptions&) { options.threads = -1; }},
    {"invalid_option: a fit that streams is linear",
     [](Input&, Options& options, StreamOptions&) { options.loss = Loss::soft_l1; }},
    {"invalid_option: batches of 0 points; give 1 or more",
     [](Input&, Options&, StreamOptions& stream) { stream.batch = 0; }},
    {"invalid_option: a checkpoint every 0 batches; give 1 or more",
     [](Input&, Options&, StreamOptions& stream) { stream.settings.checkpoint_frequency = 0; }},
    {"invalid_option: a least success rate of 1.5; give 0 to 1",
     [](Input&, Options&, StreamOptions& stream) { stream.settings.least_success_rate = 1.5; }},
    {"checkpoint_io: failed to write into ",
     [](Input&, Options&, StreamOptions& stream) { stream.folder = "/dev/null/within"; }},
#ifdef HOLDFAST_CUDA
    {"budget_too_small: a stream of single rows of 8 frames and 3 angles holds ",
     [](Input&, Options&, StreamOptions& stream) { stream.budget_bytes = 1000; }, "cuda-dry:sm_90"},
#endif
};

TEST(XpcsRefusals, BeginWithTheirCodeNameWhatIsWrongAndLeaveNothingBehind) {
  for (const Refused& row : rows) {
    const NewFolder folder(testing::TempDir() + "xpcs_refusals_");
    Problem one = problem({3, 8}, {});
    const auto input = std::make_shared<Input>(*one.input);
    StreamOptions stream;
    stream.batch = 64;
    stream.folder = folder.path();
    row.spoil(*input, one.options, stream);
    one.input = input;
    const auto backend = open_backend(row.backend);
    EXPECT_THAT(refusal_of([&] { make_stream(*backend, one, stream)->step(); }),
                StartsWith(row.sentence));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << row.sentence;
  }
}

// Neither a residual nor costs of several sets of parameters support a loss or weights.
TEST(XpcsRefusals, AreOfWhatOnlyNormalEquationsHave) {
  const auto backend = open_backend("host");
  for (const Options& options : {Options{.loss = Loss::soft_l1}, {.weights = Weights::array}})
    for (const Variant variant : {Variant::reference, Variant::optimized}) {
      const Problem one = problem({3, 8}, options);
      EXPECT_THAT(refusal_of([&] { return make(Unit::residual, *backend, variant, one); }),
                  StartsWith("invalid_option: a residual is model less data; its loss is linear"));
      EXPECT_THAT(refusal_of([&] { return make(Pattern::costs, 2, *backend, variant, one); }),
                  StartsWith("invalid_option: patterns are measured in f64"));
    }
}

TEST(XpcsRefusals, NameTheWordsThatThereAre) {
  const auto refuses = [](const auto& words, const std::string& said) {
    EXPECT_THAT(refusal_of([&] { return words.read("round"); }), HasSubstr(said));
  };
  refuses(mode_words, "mode");
  refuses(loss_words, "loss");
  refuses(scaling_words, "scaling");
  refuses(weights_words, "weights");
  refuses(strategy_words, "strategy");
}

// Not a refusal: a warning, and the fit begins.
TEST(XpcsWarnings, NameTheParametersThatStartOutsideOfTheirBounds) {
  const Problem flow = changed(problem({3, 8}, {}), [](Input& in) {
    in.box.start[0] = 7;
    in.box.start[4] = -3;
  });
  testing::internal::CaptureStderr();
  validate(flow);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("the start lies outside of its bounds at parameter 0, 4, and begins at"));
}

TEST(XpcsWarnings, NameTheStrategyThatThereIsNot) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(choose_strategy(1000, 9, 64, "fastest"), Strategy::standard);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("there is no strategy 'fastest'"));
}

}  // namespace
}  // namespace holdfast::xpcs_fit
