// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/axes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/error.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Axes, EveryNameLeadsBackToItsValue) {
  for (const Start value : {Start::seed, Start::face, Start::edge, Start::vertex, Start::tilt,
                            Start::mode1, Start::mode2, Start::random})
    EXPECT_EQ(start(name(value)), value);
  for (const MetricSign value : {MetricSign::correct, MetricSign::upstream})
    EXPECT_EQ(metric_sign(name(value)), value);
  for (const Launch value : {Launch::host, Launch::graph_step, Launch::graph, Launch::persistent})
    EXPECT_EQ(launch(name(value)), value);
  for (const Diagnostics value : {Diagnostics::none, Diagnostics::device, Diagnostics::host})
    EXPECT_EQ(diagnostics(name(value)), value);
  for (const RungeKutta value : {RungeKutta::horner, RungeKutta::classical})
    EXPECT_EQ(runge_kutta(name(value)), value);
  for (const MetricSource value : {MetricSource::table, MetricSource::on_the_fly})
    EXPECT_EQ(metric_source(name(value)), value);
  for (const GemmSource value : {GemmSource::library, GemmSource::tile})
    EXPECT_EQ(gemm_source(name(value)), value);
  for (const Operator value :
       {Operator::dcv, Operator::dvc, Operator::pcv, Operator::pvc, Operator::adjoint})
    EXPECT_EQ(operator_of(name(value)), value);
  for (const Precision value : {Precision::f32, Precision::f64})
    EXPECT_EQ(precision(name(value)), value);
  using Kind = Component::Kind;
  for (const Kind value : {Kind::operator_apply, Kind::project, Kind::gradient, Kind::contravariant,
                           Kind::divergence, Kind::sat})
    EXPECT_EQ(component_kind(name(value)), value);
}

TEST(Axes, NamesAreThoseOfCaseIds) {
  EXPECT_EQ(name(Launch::graph_step), "graph_step");
  EXPECT_EQ(name(Launch::persistent), "persistent");
  EXPECT_EQ(name(Diagnostics::device), "device");
  EXPECT_EQ(name(RungeKutta::classical), "classical");
  EXPECT_EQ(name(MetricSource::on_the_fly), "on_the_fly");
  EXPECT_EQ(name(GemmSource::tile), "tile");
  EXPECT_EQ(name(Operator::pcv), "pcv");
  EXPECT_EQ(name(Precision::f32), "f32");
  EXPECT_EQ(name(Component::Kind::operator_apply), "operator_apply");
  EXPECT_EQ(name(Start::mode2), "mode2");
  EXPECT_EQ(name(MetricSign::upstream), "upstream");
}

TEST(Axes, AnUnknownValueIsRefusedWithTheKnownOnes) {
  EXPECT_THAT([] { launch("cooperative"); },
              ThrowsMessage<Error>(HasSubstr(
                  "unknown launch 'cooperative'; use one of host, graph_step, graph, persistent")));
  EXPECT_THAT([] { start(""); }, ThrowsMessage<Error>(HasSubstr("unknown start ''")));
  EXPECT_THAT([] { metric_sign("minus"); }, ThrowsMessage<Error>(HasSubstr("unknown sign")));
  EXPECT_THAT([] { diagnostics("None"); }, ThrowsMessage<Error>(HasSubstr("unknown diagnostics")));
  EXPECT_THAT([] { runge_kutta("rk4"); }, ThrowsMessage<Error>(HasSubstr("unknown Runge-Kutta")));
  EXPECT_THAT([] { metric_source("onthefly"); },
              ThrowsMessage<Error>(HasSubstr("unknown metric source")));
  EXPECT_THAT([] { gemm_source("cutlass"); },
              ThrowsMessage<Error>(HasSubstr("unknown matrix product")));
  EXPECT_THAT([] { operator_of("Dvc"); }, ThrowsMessage<Error>(HasSubstr("unknown operator")));
  EXPECT_THAT([] { precision("f16"); },
              ThrowsMessage<Error>(HasSubstr("unknown dtype 'f16'; use one of f32, f64")));
  EXPECT_THAT([] { component_kind("rhs"); }, ThrowsMessage<Error>(HasSubstr("unknown component")));
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
