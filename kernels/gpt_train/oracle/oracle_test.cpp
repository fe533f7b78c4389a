// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/oracle/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpt_train/data/golden.hpp"
#include "gpt_train/oracle/answers.hpp"

namespace holdfast::gpt_train::oracle {
namespace {

constexpr auto& micro = golden::micro;

// `allowed` is relative to the expected value.
void expect_relative(double found, double expected, double allowed, const std::string& what) {
  EXPECT_NEAR(found, expected, allowed * std::abs(expected)) << what;
}

std::size_t index_of(const std::string& name, const Shape& shape = micro.shape) {
  const std::vector<Tensor> tensors = tensors_of(shape);
  for (std::size_t k = 0; k < tensors.size(); ++k)
    if (tensors[k].name == name) return k;
  throw std::out_of_range(name);
}

Pass first_pass() {
  return forward_backward(micro.shape, parameters(micro.shape, Start::bench), batch_of(micro, 0));
}

TEST(GptOracle, HasThePublishedForwardPass) {
  const Pass pass = first_pass();
  const auto expect = [](double found, double expected, const char* what) {
    expect_relative(found, expected, 1e-10, what);
  };
  expect(pass.loss.mean, golden::micro_mean, "mean");
  expect(pass.loss.deviation, golden::micro_deviation, "deviation");
  expect(pass.loss.objective, golden::micro_objective, "objective");
  expect(pass.loss.each[2], 3.455084605421658, "l[0,2]");
  expect(pass.loss.logits[0], -0.9872822684964172, "z[0,0,0]");
  expect(pass.loss.logits[3 * 61 + 17], -5.859727413250446, "z[0,3,17]");
  expect(pass.layers[0].attention.log_sums[0], 3.6511434020757165, "layer 0 [0,0,0]");
  expect(pass.layers[1].attention.log_sums[(4 + 3) * 12 + 8], 2.2931374111385834,
         "layer 1 [1,3,8]");
  expect(pass.layers[0].attention.q[(3 * 4 + 1) * 8 + 2], 1.1945701533254267, "q [0,3,1,2]");
  expect(pass.layers[1].attention.o[((12 + 7) * 4 + 3) * 8 + 5], 0.1728545740191622, "o [1,7,3,5]");
  expect(pass.x[23 * 16 + 15], 0.026439503286280974, "x [1,11,15]");
}

TEST(GptOracle, HasThePublishedGradients) {
  const Tensors gradients = first_pass().gradients;
  expect_relative(norm(gradients), golden::micro_gradient_norm, 1e-10, "all");
  expect_relative(gradients[0][7 * 16], 0.5048010107965643, 1e-10, "dE[7,0]");
  const std::pair<const char*, double> known[] = {
      {"E", 5.541235234661731},     {"W_head", 4.5523729257684655}, {"g_final", 8.394506080457434},
      {"Wq.0", 3.058946392263309},  {"Wk.0", 2.517984037773833},    {"Wv.0", 7.647604455388443},
      {"Wo.0", 21.63677116170287},  {"Wd.0", 12.24058152933432},    {"g1.0", 2.477532474318672},
      {"g2.1", 1.0311189958885831}, {"Wq.1", 1.9080973347021533},   {"Wk.1", 2.4162409127335533}};
  for (const auto& [name, expected] : known)
    expect_relative(norm(gradients[index_of(name)]), expected, 1e-10, name);
  const Tensors both = {gradients[index_of("Wf_up.0")], gradients[index_of("Wf_gate.0")]};
  expect_relative(norm(both), 8.16790732913259, 1e-10, "Wf.0");
}

TEST(GptOracle, ThreeUpdatesOfMicroArePublished) {
  for (const golden::ThreeUpdates& known : golden::micro_updates) {
    Options options = micro;
    options.optimizer = known.optimizer;
    State state = begun(options);
    (void)train_step(options, state);
    for (const double loss : known.losses) {
      const Pass pass =
          state.step < 3 ? train_step(options, state)
                         : forward_backward(options.shape, state.parameters, batch_of(options, 3));
      expect_relative(pass.loss.mean, loss, 1e-8, "loss");
    }
    const auto expect_norm = [&](const char* name, double expected) {
      expect_relative(norm(state.parameters[index_of(name)]), expected, 1e-8, name);
    };
    expect_relative(state.parameters[index_of("Wq.0")][0], known.first_query, 1e-8, "Wq.0[0,0]");
    expect_norm("Wk.1", known.key_norm);
    expect_norm("Wd.0", known.down_norm);
    expect_norm("W_head", known.head_norm);
    expect_norm("E", known.embedding_norm);
    expect_norm("g_final", golden::micro_final_norm);
  }
}

TEST(GptOracle, HasThePublishedObjectivesOfTiny) {
  for (const bool documents : {false, true}) {
    const Options tiny = {.documents = documents};
    const Pass pass =
        forward_backward(tiny.shape, parameters(tiny.shape, Start::bench), batch_of(tiny, 0));
    expect_relative(pass.loss.objective, golden::tiny_objectives[documents], 1e-10, "objective");
  }
}

TEST(GptOracle, TheOrthogonalPartOfASmallMatrixIsPublished) {
  Values x(12 * 20);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = near_normal(99, k, 7);
  const Values o = newton_schulz(x, 12, 20);
  expect_relative(o[0], -0.0037813441251614566, 1e-8, "[0,0]");
  expect_relative(o[3 * 20 + 7], -0.21911131930858574, 1e-8, "[3,7]");
  expect_relative(o[239], -0.022624169120272264, 1e-8, "[11,19]");
  expect_relative(norm(o), 3.156225101369039, 1e-8, "norm");
  EXPECT_EQ(norm(newton_schulz(Values(240), 12, 20)), 0);
}

// Fields of two numbers, with norms 5 and 10.
TEST(GptOracle, SeesEachFieldByItsOwnLength) {
  const std::vector<double> expected = {3, 4, 6, 8};
  const auto off = [&](std::size_t k, double more) {
    std::vector<double> found = expected;
    found[k] += more;
    return oracle::distance({2, 2}, found, expected);
  };
  EXPECT_EQ(off(0, 0), 0);
  for (const std::size_t k : {0, 1}) EXPECT_NEAR(off(k, 0.5), 0.1, 1e-12);
  for (const std::size_t k : {2, 3}) EXPECT_NEAR(off(k, -0.5), 0.05, 1e-12);
  for (const std::size_t k : {0, 1, 2, 3}) EXPECT_EQ(off(k, NAN), INFINITY);
  EXPECT_EQ(oracle::distance({2, 2}, {3, 4, 6}, expected), INFINITY);
}

// In the gradients of queries, keys and values, the row of the largest number is negated.
TEST(GptOracle, SeesARowOfEachFieldThatHasRows) {
  const std::vector<double> expected = answer(Unit::attention_backward, micro, 1);
  const Shape& s = micro.shape;
  const auto off = [&](const std::vector<double>& found) {
    return distance_of_rows(Unit::attention_backward, micro, found, expected);
  };
  EXPECT_EQ(off(expected), 0);
  auto field = expected.begin();
  for (const std::int64_t width : {s.query_width(), s.key_width(), s.key_width()}) {
    const auto end = field + s.tokens() * width;
    const auto largest =
        std::max_element(field, end, [](double a, double b) { return std::abs(a) < std::abs(b); });
    const auto row = largest - (largest - field) % width - expected.begin();
    std::vector<double> found = expected;
    for (std::int64_t k = row; k < row + width; ++k) found[k] *= -1;
    EXPECT_GT(off(found), 1);
    field = end;
  }
}

// Two matrices of two rows and three columns; the first row of the second is much smaller.
TEST(GptOracle, SeesARowAndAColumnOfEachMatrix) {
  const Matrices what = {.rows = 2, .columns = 3, .batch = 2};
  const std::vector<double> expected = {1, 1, 1, 1, 1, 1, 0, 1e-3, 0, 3, 4, 0};
  const auto off = [&](std::size_t k, double more) {
    std::vector<double> found = expected;
    found[k] += more;
    return oracle::distance_of_lines(what, found, expected);
  };
  EXPECT_EQ(off(0, 0), 0);
  EXPECT_NEAR(off(5, 0.1), 0.1 / std::sqrt(2), 1e-12) << "the column is the shorter line";
  EXPECT_NEAR(off(7, 0.5), 0.5 / std::sqrt(12.5), 1e-6) << "the row is below the usual size";
  EXPECT_NEAR(off(8, 0.5), 0.5 / (5 / std::sqrt(3)), 1e-6);
}

// Twelve entries of every tensor, spread over it, each moved by 1e-5 in both directions.
TEST(GptOracle, GradientsAreWhatDifferencesSay) {
  const Tensors at = parameters(micro.shape, Start::bench);
  const Tensors gradients = first_pass().gradients;
  const Batch batch = batch_of(micro, 0);
  const auto objective = [&](std::size_t k, std::size_t j, double step) {
    Tensors moved = at;
    moved[k][j] += step;
    return forward_backward(micro.shape, moved, batch).loss.objective;
  };
  for (std::size_t k = 0; k < at.size(); ++k) {
    double largest = 0, worst = 0;
    for (const double value : gradients[k]) largest = std::max(largest, std::abs(value));
    for (int draw = 0; draw < 12; ++draw) {
      const std::size_t j = hashed(5, k, draw) % at[k].size();
      const double slope = (objective(k, j, 1e-5) - objective(k, j, -1e-5)) / 2e-5;
      worst = std::max(worst, std::abs(slope - gradients[k][j]));
    }
    EXPECT_LT(worst / largest, 1e-7) << tensors_of(micro.shape)[k].name;
  }
}

// All tensors at once, along a random direction.
TEST(GptOracle, ADirectionsSlopeIsItsProductWithTheGradient) {
  const Tensors at = parameters(micro.shape, Start::bench);
  const Tensors gradients = first_pass().gradients;
  const Batch batch = batch_of(micro, 0);
  double expected = 0;
  Tensors way = at;
  for (std::size_t k = 0; k < at.size(); ++k)
    for (std::size_t j = 0; j < at[k].size(); ++j) {
      way[k][j] = near_normal(300 + k, j) / 100;
      expected += way[k][j] * gradients[k][j];
    }
  const auto objective = [&](double step) {
    Tensors moved = at;
    for (std::size_t k = 0; k < at.size(); ++k)
      for (std::size_t j = 0; j < at[k].size(); ++j) moved[k][j] += step * way[k][j];
    return forward_backward(micro.shape, moved, batch).loss.objective;
  };
  EXPECT_NEAR((objective(1e-4) - objective(-1e-4)) / 2e-4 / expected, 1, 1e-6);
}

TEST(GptOracle, PaddingLearnsNothing) {
  const Values embedding = first_pass().gradients[0];
  const std::ptrdiff_t padding = micro.shape.vocabulary - 1, d = micro.shape.width;
  for (std::ptrdiff_t j = padding * d; j < (padding + 1) * d; ++j)
    EXPECT_EQ(embedding[std::size_t(j)], 0) << j;
}

TEST(GptOracle, RowsOfABatchMayComeInAnyOrder) {
  const Tensors p = parameters(micro.shape, Start::bench);
  Batch batch = batch_of(micro, 0);
  const double mean = forward_backward(micro.shape, p, batch).loss.mean;
  for (std::vector<int>* each : {&batch.tokens, &batch.documents})
    std::rotate(each->begin(), each->begin() + micro.shape.columns, each->end());
  EXPECT_NEAR(forward_backward(micro.shape, p, batch).loss.mean / mean, 1, 1e-14);
}

TEST(GptOracle, AFreshModelKnowsNothing) {
  const Pass pass =
      forward_backward(micro.shape, parameters(micro.shape, Start::upstream), batch_of(micro, 0));
  EXPECT_NEAR(pass.loss.mean, std::log(61), 1e-12);
  for (std::size_t k = 0; k < pass.gradients.size(); ++k)
    EXPECT_EQ(norm(pass.gradients[k]) == 0, k != index_of("W_head")) << k;
}

TEST(GptOracle, ATokenIsSeenByItsOwnDocumentFromThereOn) {
  const Tensors p = parameters(micro.shape, Start::bench);
  Batch batch = batch_of(micro, 0);
  const Values before = forward_backward(micro.shape, p, batch).loss.logits;
  batch.tokens[4] = 33;  // in the document of columns 4 and 5
  const Values after = forward_backward(micro.shape, p, batch).loss.logits;
  for (int row = 0; row < 24; ++row) {
    const bool same = std::equal(before.begin() + row * 61, before.begin() + (row + 1) * 61,
                                 after.begin() + row * 61);
    EXPECT_EQ(same, row != 4 && row != 5) << row;
  }
}

// From a separate stream.
Values drawn_numbers(std::int64_t count, std::uint64_t stream) {
  Values all;
  for (std::int64_t k = 0; k < count; ++k) all.push_back(near_normal(stream, std::uint64_t(k)));
  return all;
}

// One position counts, so that a row of W_head's gradient is a multiple of its slopes by z.
TEST(GptOracle, SlopesOfARowsCappedLogitsSumToNothing) {
  Shape shape = micro.shape;
  shape.batch = 1, shape.columns = 2;
  const Targets targets = {.targets = {17, 0}, .counted = {1, 0}, .count = 1};
  Tensors gradients = zeros(shape);
  const Loss loss = lm_head(shape, parameters(shape, Start::bench), targets,
                            drawn_numbers(shape.tokens() * shape.width, 401), gradients);
  const Values& slopes = gradients[index_of("W_head", shape)];
  for (int i = 0; i < shape.width; ++i) {
    double sum = 0, size = 0;
    for (int j = 0; j < shape.vocabulary; ++j) {
      const double share = std::tanh(loss.logits[j] / 15);
      const double slope = slopes[i * shape.vocabulary + j] / (1 - share * share);
      sum += slope, size += std::abs(slope);
    }
    EXPECT_GT(size, 0) << i;
    EXPECT_LT(std::abs(sum), 1e-13 * size) << i;
  }
}

// Logits within 15 of 0 are at most 30 apart.
TEST(GptOracle, NoLossIsBeyondWhatCappedLogitsAllow) {
  Tensors p = parameters(micro.shape, Start::bench);
  for (double& each : p[index_of("W_head")]) each *= 100;
  const Loss loss = forward_backward(micro.shape, p, batch_of(micro, 0)).loss;
  EXPECT_GT(*std::max_element(loss.logits.begin(), loss.logits.end()), 100);
  const double most = *std::max_element(loss.each.begin(), loss.each.end());
  EXPECT_GT(most, 15);
  EXPECT_LT(most, 30 + std::log(61));
}

// k or v as every query head reads it.
Values repeated(const Shape& s, const Values& grouped) {
  Values all;
  for (std::int64_t n = 0; n < s.tokens(); ++n)
    for (int h = 0; h < s.heads(); ++h)
      for (int j = 0; j < s.head; ++j)
        all.push_back(grouped[(n * s.groups + h / s.repeats) * s.head + j]);
  return all;
}

// The gradient of a group: the sum over the query heads that read it.
Values summed(const Shape& s, const Values& each) {
  Values sums(s.tokens() * s.key_width());
  for (std::int64_t n = 0; n < s.tokens(); ++n)
    for (int h = 0; h < s.heads(); ++h)
      for (int j = 0; j < s.head; ++j)
        sums[(n * s.groups + h / s.repeats) * s.head + j] += each[(n * s.heads() + h) * s.head + j];
  return sums;
}

TEST(GptOracle, GroupedHeadsAreHeadsOfRepeatedKeysAndValues) {
  const Shape shape = micro.shape;
  Shape wide = shape;
  wide.groups = shape.heads(), wide.repeats = 1;
  const std::vector<int> segments = targets_of(shape, batch_of(micro, 0)).segments;
  const Values q = drawn_numbers(shape.tokens() * shape.query_width(), 402),
               k = drawn_numbers(shape.tokens() * shape.key_width(), 403),
               v = drawn_numbers(shape.tokens() * shape.key_width(), 404),
               d_o = drawn_numbers(shape.tokens() * shape.query_width(), 405);
  const Attention grouped = attend(shape, segments, q, k, v),
                  apart = attend(wide, segments, q, repeated(shape, k), repeated(shape, v));
  EXPECT_EQ(grouped.o, apart.o);
  EXPECT_EQ(grouped.log_sums, apart.log_sums);
  const AttentionGradient back = attend_backward(shape, grouped, d_o),
                          back_apart = attend_backward(wide, apart, d_o);
  EXPECT_EQ(back.q, back_apart.q);
  const Values dk = summed(shape, back_apart.k), dv = summed(shape, back_apart.v);
  for (std::size_t at = 0; at < dk.size(); ++at) {
    EXPECT_NEAR(back.k[at], dk[at], 1e-13) << at;
    EXPECT_NEAR(back.v[at], dv[at], 1e-13) << at;
  }
}

}  // namespace
}  // namespace holdfast::gpt_train::oracle
