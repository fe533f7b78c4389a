// SPDX-License-Identifier: Apache-2.0
// Every variant rewrites everything that its case says each step rewrites.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "clusterless_kde/row.hpp"
#include "clusterless_kde/testing/kernels_on_cpu.hpp"
#include "clusterless_kde/testing/reference_on_cpu.hpp"
#include "harness/measure/account.hpp"

namespace holdfast::clusterless_kde {
namespace {

struct Stepped {
  const char* name;
  const Family<Row>* family;
  Path path = Path::dense;
  Options options = {};
};
void PrintTo(const Stepped& one, std::ostream* out) {
  *out << one.name;
}

// Small enough for an emulated device; the other input has more places than nodes, and 400 spikes.
Recipe recipe_of(Path path) {
  if (path == Path::dense) return {.size = Size::tiny, .marks = Marks::cells};
  return {.size = Size::hpc1d,
          .marks = Marks::cells,
          .scale = 100000,
          .bins = 420,
          .encoding_spikes = 400,
          .decoding_spikes = 3};
}

struct EachStep : testing::TestWithParam<Stepped> {
  Row row = {.family = GetParam().family,
             .recipe = recipe_of(GetParam().path),
             .options = GetParam().options};

  // After spoiling, one more step gives the first step's result.
  void expect_rewritten(std::unique_ptr<Backend> backend, Variant variant) {
    ASSERT_EQ(path(shape(row.recipe), precision_of(row.options.arithmetic)), GetParam().path);
    const auto computation = make(row, *backend, variant);
    computation->step();
    const std::vector<double> first = computation->result();
    const std::vector<std::string> sites = rewritten(row, *backend, variant);
    EXPECT_FALSE(sites.empty());
    spoil_each(*backend, sites);
    EXPECT_NE(computation->result(), first);
    computation->step();
    EXPECT_EQ(computation->result(), first);
  }
};

struct EachStepOfTheReference : EachStep {};

TEST_P(EachStep, OnAHostWritesAllThatItSays) {
  expect_rewritten(open_backend("host"), Variant::optimized);
}
TEST_P(EachStepOfTheReference, OnAHostWritesAllThatItSays) {
  expect_rewritten(open_backend("host"), Variant::reference);
}
#ifdef HOLDFAST_CUDA
TEST_P(EachStep, OnADeviceWritesAllThatItSays) {
  expect_rewritten(emulated(), Variant::optimized);
}
TEST_P(EachStepOfTheReference, OnADeviceWritesAllThatItSays) {
  expect_rewritten(emulated_reference(), Variant::reference);
}
#endif

const Stepped plain[] = {{"encode", &families::encode},
                         {"decode", &families::decode},
                         {"total", &families::total},
                         {"local", &families::local}};
const Stepped arranged[] = {
    {"total_in_two_hops", &families::total, Path::two_hop},
    {"total_in_double", &families::total, Path::dense, {.arithmetic = Arithmetic::f64}},
    {"budget", &families::budget, Path::dense, {.budget = 1 << 20}}};

std::string name_of(const testing::TestParamInfo<Stepped>& one) {
  return one.param.name;
}
INSTANTIATE_TEST_SUITE_P(Plain, EachStep, testing::ValuesIn(plain), name_of);
INSTANTIATE_TEST_SUITE_P(Arranged, EachStep, testing::ValuesIn(arranged), name_of);
// A total encodes and decodes.
INSTANTIATE_TEST_SUITE_P(Plain, EachStepOfTheReference, testing::ValuesIn(std::span(plain).last(2)),
                         name_of);

}  // namespace
}  // namespace holdfast::clusterless_kde
