// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/data/data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "gpt_train/data/golden.hpp"
#include "testing/error_of.hpp"

namespace holdfast::gpt_train {
namespace {

double parameter(const Shape& shape, const std::string& name, std::int64_t at) {
  for (const Tensor& tensor : tensors_of(shape))
    if (tensor.name == name) return drawn(tensor, Start::bench)[at];
  return NAN;
}

// Counted pair by pair, as a mask would.
std::int64_t counted_pairs(const Options& options) {
  const Shape& s = options.shape;
  const std::vector<int> segments = targets_of(s, batch_of(options, 0)).segments;
  std::int64_t pairs = 0;
  for (std::int64_t row = 0; row < s.tokens(); row += s.columns)
    for (std::int64_t t = row; t < row + s.columns; ++t)
      for (std::int64_t earlier = row; earlier <= t; ++earlier)
        pairs += segments[earlier] == segments[t];
  return pairs;
}

TEST(GptData, HashesArePublished) {
  EXPECT_EQ(hashed(0, 0, 0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(hashed(1234, 1, 0), 0x9e17e35f6d9238edu);
  EXPECT_EQ(hashed(1234, 1, 1), 0xddc5b3de304de25du);
  EXPECT_EQ(hashed(1234, 2, 0), 0xa98936877209d46fu);
  EXPECT_EQ(hashed(1234, 33, 7), 0x5b585bc5686d4f4eu);
}

TEST(GptData, NearlyNormalNumbersHaveVarianceOne) {
  EXPECT_EQ(
      near_normal(16, 0),
      double(std::int64_t((hashed(seed, 16, 0) & 0xffff) + (hashed(seed, 16, 0) >> 16 & 0xffff) +
                          (hashed(seed, 16, 0) >> 32 & 0xffff) + (hashed(seed, 16, 0) >> 48)) -
             131070) *
          (1 / std::sqrt(1431655765.0)));
}

TEST(GptData, TokensAndDocumentsOfMicroArePublished) {
  const Batch first = batch_of(golden::micro, 0);
  EXPECT_EQ(first.tokens, (std::vector<int>{14, 17, 0,  7,  15, 22, 1,  0,  5,  16, 0,  32,
                                            0,  7,  19, 42, 0,  7,  21, 52, 17, 60, 60, 60}));
  EXPECT_EQ(first.documents, (std::vector<int>{1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3,
                                               1, 2, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0}));
  EXPECT_EQ(targets_of(golden::micro.shape, first).count, 15);
  EXPECT_EQ(pairs_of(golden::micro), 70);
  EXPECT_EQ(batch_of(golden::micro, 1).tokens,
            (std::vector<int>{17, 1,  0,  7, 54, 37, 42, 37, 3,  15, 43, 42,
                              58, 57, 23, 2, 1,  12, 6,  37, 20, 47, 2,  17}));
}

TEST(GptData, ParametersOfMicroArePublished) {
  const Shape& s = golden::micro.shape;
  EXPECT_DOUBLE_EQ(parameter(s, "E", 0), 0.1471302314278939);
  EXPECT_DOUBLE_EQ(parameter(s, "Wq.0", 0), 0.2586672099052729);
  EXPECT_DOUBLE_EQ(parameter(s, "Wf_gate.1", 15 * 20 + 19), 0.20018644475490968);
  EXPECT_DOUBLE_EQ(parameter(s, "W_head", 3 * 61 + 7), 0.037952041014991125);
  EXPECT_DOUBLE_EQ(parameter(s, "g_final", 3), 1.1224455473693968);
}

struct Sums {
  Model model;
  std::int64_t tokens, counts[2], pairs[2];  // without documents, with them
};

TEST(GptData, SumsOfEveryShapeArePublished) {
  for (const Sums& known : {Sums{Model::tiny, 81845, {254, 248}, {16512, 7390}},
                            Sums{Model::small, 2521387, {1020, 1005}, {131584, 52695}},
                            Sums{Model::gpt2_124m, 240053808, {16368, 16313}, {8396800, 3212807}},
                            Sums{Model::llama3_150m, 30819476, {2044, 2034}, {525312, 297758}}})
    for (const bool documents : {false, true}) {
      const Options options = {.shape = shape_of(known.model), .documents = documents};
      const Batch batch = batch_of(options, 0);
      EXPECT_EQ(std::accumulate(batch.tokens.begin(), batch.tokens.end(), std::int64_t{0}),
                known.tokens);
      EXPECT_EQ(targets_of(options.shape, batch).count, known.counts[documents]);
      EXPECT_EQ(pairs_of(options), known.pairs[documents]);
    }
}

TEST(GptData, PairsAreThoseOfTheBatchThatIsNotMadeForThem) {
  for (const Model model : {Model::micro, Model::tiny, Model::small})
    for (const bool documents : {false, true})
      for (const int padded : {0, 1, 11}) {
        const Options options = {
            .shape = shape_of(model), .documents = documents, .pad_tail = padded};
        EXPECT_EQ(pairs_of(options), counted_pairs(options)) << model_words.of(model);
      }
}

TEST(GptData, ManyRowsHaveThePairsThatAreExpected) {
  for (const int document : {1, 5, 64}) {
    Options options = {.shape = shape_of(Model::tiny), .documents = true};
    options.shape.batch = 16000;
    options.shape.document = document;
    EXPECT_NEAR(expected_pairs(options) / double(pairs_of(options)), 1, 0.01) << document;
  }
}

TEST(GptData, ParameterCountsArePublished) {
  EXPECT_EQ(parameter_count(shape_of(Model::tiny)), 656000);
  EXPECT_EQ(parameter_count(shape_of(Model::small)), 7735552);
  EXPECT_EQ(parameter_count(shape_of(Model::gpt2_124m)), 162417408);
  EXPECT_EQ(product_count(shape_of(Model::gpt2_124m)), 123666432);
  EXPECT_EQ(matrix_count(shape_of(Model::gpt2_124m)), 84934656);
  EXPECT_EQ(parameter_count(shape_of(Model::llama3_150m)), 216548352);
  EXPECT_EQ(product_count(shape_of(Model::llama3_150m)), 164888576);
  EXPECT_EQ(matrix_count(shape_of(Model::llama3_150m)), 113246208);
}

TEST(GptData, JoinedMatricesShareRowsAndNothingElse) {
  const Shape& s = golden::micro.shape;
  const std::vector<Tensor> tensors = tensors_of(s);
  for (const Layout layout : {Layout::apart, Layout::joined}) {
    std::vector<int> uses(parameter_count(s));
    const std::vector<Place> places = places_of(tensors, layout);
    for (std::size_t k = 0; k < tensors.size(); ++k)
      for (int i = 0; i < tensors[k].rows; ++i)
        for (int j = 0; j < tensors[k].columns; ++j)
          ++uses.at(places[k].offset + i * places[k].pitch + j);
    EXPECT_EQ(std::accumulate(uses.begin(), uses.end(), 0), parameter_count(s));
    EXPECT_EQ(*std::max_element(uses.begin(), uses.end()), 1);
  }
  const std::vector<Place> joined = places_of(tensors, Layout::joined);
  EXPECT_EQ(joined[5].offset, joined[4].offset + s.query_width());  // k follows q in a row
  EXPECT_EQ(joined[10].offset, joined[9].offset + s.inner);         // gate follows up
}

TEST(GptData, WhatIsNoBatchIsRefusedWithItsPlace) {
  const Shape& s = golden::micro.shape;
  Batch batch = batch_of(golden::micro, 0);
  batch.tokens[13] = 61;
  EXPECT_EQ(refusal_of([&] { targets_of(s, batch); }),
            "token id 61 out of range at [1,1]; ids are 0 .. 60");
  batch.tokens[13] = -1;
  EXPECT_EQ(refusal_of([&] { targets_of(s, batch); }),
            "token id -1 out of range at [1,1]; ids are 0 .. 60");
  batch.tokens.assign(24, 60);
  EXPECT_EQ(refusal_of([&] { targets_of(s, batch); }),
            "no target tokens: every position is padding or ends a document");
  batch.documents.pop_back();
  EXPECT_EQ(refusal_of([&] { targets_of(s, batch); }),
            "a batch of 2 rows of 12 has 24 tokens; given: 24 tokens, 23 documents");
}

}  // namespace
}  // namespace holdfast::gpt_train
