// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/known_answers.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "harness/testing/answers_folder.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

class KnownAnswers : public testing::Test {
 protected:
  // As each process has one of its own.
  Oracle oracle(const std::string& id = "toy/a/f64") {
    return remembering({.expected =
                            [this](int steps) {
                              ++computed_;
                              return std::vector<double>{1. / 3, 1. * steps};
                            },
                        .golden =
                            [this](Backend&, Variant variant) {
                              ++computed_;
                              return variant == Variant::optimized ? 1e-17 : 2e-17;
                            }},
                       id);
  }
  AnswersFolder folder_ = {};
  int computed_ = 0;
};

TEST_F(KnownAnswers, AnotherProcessReadsWhatTheFirstComputed) {
  const auto first = oracle().expected(7);
  EXPECT_EQ(oracle().expected(7), first);
  EXPECT_EQ(computed_, 1);
}

TEST_F(KnownAnswers, EachCaseAndEachNumberOfStepsIsAQuestionOfItsOwn) {
  const Oracle one = oracle();
  EXPECT_NE(one.expected(7), one.expected(8));
  (void)oracle("toy/b/f64").expected(7);
  EXPECT_EQ(computed_, 3);
}

// They may be told by looking at them, as readings are.
TEST_F(KnownAnswers, PublishedValuesAreLookedAtAlways) {
  const auto backend = open_backend("host");
  EXPECT_EQ(oracle().golden(*backend, Variant::optimized), 1e-17);
  EXPECT_EQ(oracle().golden(*backend, Variant::optimized), 1e-17);
  EXPECT_EQ(computed_, 2);
}

TEST_F(KnownAnswers, AQuestionOfAnOraclesOwnIsAnsweredOnce) {
  const auto compute = [&] { return std::vector<double>{1. * ++computed_}; };
  EXPECT_EQ(kept_answer("which", compute), std::vector<double>{1});
  EXPECT_EQ(kept_answer("which", compute), std::vector<double>{1});
  EXPECT_EQ(kept_answer("another", compute), std::vector<double>{2});
}

TEST_F(KnownAnswers, WhatTakesLongerToWriteThanADeviceTakesIsNotKept) {
  keep_answer("small", {1, 2});
  keep_answer("large", std::vector<double>(most_kept + 1));
  EXPECT_TRUE(is_known("small"));
  EXPECT_FALSE(is_known("large"));
}

TEST_F(KnownAnswers, ASpoiltFileIsComputedAgain) {
  const auto right = oracle().expected(7);
  for (const auto& file : fs::directory_iterator(folder_.path())) {
    std::fstream spoilt(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    spoilt.seekp(-1, std::ios::end);
    spoilt.put('x');
  }
  EXPECT_EQ(oracle().expected(7), right);
  EXPECT_EQ(computed_, 2);
}

TEST_F(KnownAnswers, AFileThatEndsWithItsHashIsComputedAgain) {
  const auto right = oracle().expected(7);
  for (const auto& file : fs::directory_iterator(folder_.path())) {
    std::string hash;
    std::getline(std::ifstream(file.path()), hash);
    fs::resize_file(file.path(), hash.size());
  }
  EXPECT_EQ(oracle().expected(7), right);
  EXPECT_EQ(computed_, 2);
}

TEST_F(KnownAnswers, WithoutAFolderOneOracleRemembersForItself) {
  const Variable none("HOLDFAST_ANSWERS");
  const Oracle one = oracle();
  (void)one.expected(7);
  (void)one.expected(7);
  (void)oracle().expected(7);
  EXPECT_EQ(computed_, 2);
}

}  // namespace
}  // namespace holdfast
