// SPDX-License-Identifier: Apache-2.0
// Both variants rewrite everything that the case says each step rewrites; and every unchained
// result is among it.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "cubed_sphere_swe/row.hpp"
#include "cubed_sphere_swe/testing/kernels_on_cpu.hpp"
#include "harness/measure/account.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using Kind = Component::Kind;

struct Stepped {
  const char* name;
  const Family<Row>* family;
  Options options = {};
  Kind kind = Kind::operator_apply;
};
void PrintTo(const Stepped& one, std::ostream* out) {
  *out << one.name;
}

struct EachStep : testing::TestWithParam<Stepped> {
  Row row = {.family = GetParam().family,
             .n = 9,
             .options = GetParam().options,
             .component = {.kind = GetParam().kind}};

  std::vector<double> third_result(Backend& backend, Variant variant, bool spoilt) const {
    const auto computation = make(row, backend, variant);
    for (int i = 0; i < 3; ++i) {
      if (spoilt && i > 0) spoil_each(backend, rewritten(row, backend, variant));
      computation->step();
    }
    return computation->result();
  }
  // Three steps with spoiling in between give the same result as three without.
  void expect_rewritten(Backend& backend, Variant variant) {
    row.options.steps = 3;
    EXPECT_EQ(third_result(backend, variant, true), third_result(backend, variant, false));
  }
};

TEST_P(EachStep, OnAHostWritesAllThatItSays) {
  for (const Variant variant : {Variant::reference, Variant::optimized})
    expect_rewritten(*open_backend("host"), variant);
}

struct EachStepByItself : EachStep {};

// Otherwise a step that does nothing would look like one that repeated the result.
TEST_P(EachStepByItself, OnAHostLeavesNoResultToTheNext) {
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    const auto backend = open_backend("host");
    const auto computation = make(row, *backend, variant);
    computation->step();
    spoil_each(*backend, rewritten(row, *backend, variant));
    for (const double value : computation->result()) ASSERT_NE(value, value);
  }
}

const Stepped chained[] = {
    {"step", &families::rk4_step},
    {"classical", &families::rk4_step, {.runge_kutta = RungeKutta::classical}},
    {"watched_loop", &families::loop, {.diagnostics = Diagnostics::device}},
    {"sat", &families::component, {}, Kind::sat}};
const Stepped alone[] = {{"rhs", &families::rhs},
                         {"operator_apply", &families::component},
                         {"project", &families::component, {}, Kind::project},
                         {"gradient", &families::component, {}, Kind::gradient},
                         {"contravariant", &families::component, {}, Kind::contravariant},
                         {"divergence", &families::component, {}, Kind::divergence}};

std::string name_of(const testing::TestParamInfo<Stepped>& one) {
  return one.param.name;
}
INSTANTIATE_TEST_SUITE_P(Chained, EachStep, testing::ValuesIn(chained), name_of);
INSTANTIATE_TEST_SUITE_P(Alone, EachStep, testing::ValuesIn(alone), name_of);
INSTANTIATE_TEST_SUITE_P(Alone, EachStepByItself, testing::ValuesIn(alone), name_of);

#ifdef HOLDFAST_CUDA
struct EachStepOnADevice : EachStep {};

TEST_P(EachStepOnADevice, WritesAllThatItSays) {
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    if (variant == Variant::reference && row.options.launch == Launch::persistent) continue;
    expect_rewritten(*emulated(variant), variant);
  }
}

const Stepped launched[] = {
    {"graph_step", &families::loop, {.launch = Launch::graph_step}},
    {"graph", &families::loop, {.launch = Launch::graph, .diagnostics = Diagnostics::device}},
    {"persistent",
     &families::loop,
     {.launch = Launch::persistent, .diagnostics = Diagnostics::device}}};

INSTANTIATE_TEST_SUITE_P(Chained, EachStepOnADevice, testing::ValuesIn(chained), name_of);
INSTANTIATE_TEST_SUITE_P(Alone, EachStepOnADevice, testing::ValuesIn(alone), name_of);
INSTANTIATE_TEST_SUITE_P(Launched, EachStepOnADevice, testing::ValuesIn(launched), name_of);
#endif

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
