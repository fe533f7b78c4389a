// SPDX-License-Identifier: Apache-2.0
// The scheme's conservation laws, the identities behind the optimized variants, and what both
// variants share.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "cubed_sphere_swe/problem/component_inputs.hpp"
#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/operators.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "cubed_sphere_swe/variants.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// Weights of every entry of a field over the panels: `first` along x1, `second` along x2.
std::vector<double> quadrature(const std::vector<double>& first,
                               const std::vector<double>& second) {
  std::vector<double> all;
  for (int panel = 0; panel < panels; ++panel)
    for (const double a : first)
      for (const double b : second) all.push_back(a * b);
  return all;
}

class Invariants : public ::testing::Test {
 protected:
  std::unique_ptr<Backend> backend = open_backend("host");

  State tendency(Variant variant, Size size, const State& start) {
    return state_after(make_rhs(*backend, variant, size, {}, start), size);
  }
  Intermediates inside(int n, const State& start, MetricSign q12 = MetricSign::correct) {
    return isa_v3::reference_intermediates(
        *backend, {.n = n, .dt = 1. / (3 * n), .options = {.q12 = q12}, .start = start});
  }
};

TEST_F(Invariants, UniformHeightStaysAtRest) {
  const Size size = {24};
  State flat = initial_state(size, Start::mode1);
  flat.h.assign(flat.h.size(), 1.);
  for (const Variant variant : variants) {
    const State k = tendency(variant, size, flat);
    EXPECT_LE(largest(k.h), 1e-12);
    EXPECT_LE(std::max(largest(k.v1), largest(k.v2)), 1e-12);
  }
}

TEST_F(Invariants, MassRateIsZero) {
  const Size size = {24};
  for (const Variant variant : variants) {
    const State k = tendency(variant, size, initial_state(size, Start::random));
    std::vector<double> magnitudes = k.h;
    for (double& x : magnitudes) x = std::abs(x);
    EXPECT_LE(std::abs(mass(size, k.h)), 1e-15 * mass(size, magnitudes));
  }
}

TEST_F(Invariants, EnergyRateIsZero) {
  constexpr int n = 24;
  const State y = initial_state({n}, Start::random);
  const auto hv = vertex_weights(n), hc = center_weights(n);
  const auto tables = metric_tables(n, MetricSign::correct);
  const Intermediates fields = inside(n, y);
  const auto at_h = quadrature(hv, hv), at_v1 = quadrature(hc, hv), at_v2 = quadrature(hv, hc);
  for (const Variant variant : variants) {
    const State k = tendency(variant, {n}, y);
    Sum potential, kinetic;
    for (std::size_t i = 0; i < k.h.size(); ++i)
      potential.add(gravity * fields.projected[i] * k.h[i] * tables.j[i % tables.j.size()] *
                    at_h[i]);
    for (std::size_t i = 0; i < k.v1.size(); ++i) {
      const std::size_t m = i % tables.j1.size();
      kinetic.add(mean_depth * k.v1[i] * tables.j1[m] * fields.up1[i] * at_v1[i]);
      kinetic.add(mean_depth * k.v2[i] * tables.j2[m] * fields.up2[i] * at_v2[i]);
    }
    EXPECT_GT(std::abs(potential.value()), 0.1);
    EXPECT_LE(std::abs(potential.value() + kinetic.value()), 1e-14 * std::abs(potential.value()));
  }
}

// The mean of both sides' own extrapolated fluxes, along side A: [12 edges, n+1].
std::vector<double> scalar_consensus(int n, const State& y) {
  const ComponentInputs fluxes = component_inputs(n, MetricSign::correct, y);
  const auto own = [&](int panel, Side s, int k) {
    const auto row = extrapolation(n, outward(s) > 0);
    const double* u =
        (normal_is_x1(s) ? fluxes.u1 : fluxes.u2).data() + std::size_t(panel) * n * (n + 1);
    double value = 0;
    for (int m = 0; m < n; ++m) value += row[m] * u[normal_is_x1(s) ? m * (n + 1) + k : k * n + m];
    return value;
  };
  std::vector<double> star;
  for (const Edge& edge : edges())
    for (int k = 0; k <= n; ++k) {
      const double ss = outward(edge.side_a) * outward(edge.side_b);
      star.push_back((own(edge.panel_a, edge.side_a, k) -
                      ss * own(edge.panel_b, edge.side_b, edge.reversed ? n - k : k)) /
                     2);
    }
  return star;
}

// Identity 1: F* drops out of dh, whatever its value.
TEST_F(Invariants, ConsensusFluxDropsOutOfTheTendency) {
  constexpr int n = 16;
  const State y = initial_state({n}, Start::random);
  const Intermediates fields = inside(n, y);
  const auto tables = metric_tables(n, MetricSign::correct);
  const double strength = penalty * 2 * n / std::numbers::pi;
  // dh with another F* in place of the correct one, whose penalties are in fields.penalised.
  const auto height_tendency = [&](const std::vector<double>& star) {
    std::vector<double> div = fields.penalised;
    for (std::size_t e = 0; e < edges().size(); ++e) {
      const Edge& edge = edges()[e];
      for (int k = 0; k <= n; ++k) {
        const std::size_t at = e * (n + 1) + k;
        const double extra = strength * outward(edge.side_a) * (star[at] - fields.consensus[at]);
        div[border_index(n, edge.panel_a, edge.side_a, k)] += extra;
        div[border_index(n, edge.panel_b, edge.side_b, edge.reversed ? n - k : k)] -= extra;
      }
    }
    for (std::size_t k = 0; k < div.size(); ++k)
      div[k] *= -tables.inverse_j[k % tables.inverse_j.size()];
    return project(n, div);
  };
  const auto expected = tendency(Variant::reference, {n}, y).h;
  const std::vector<double> none(fields.consensus.size()), constant(fields.consensus.size(), 3.);
  const auto upstream = inside(n, y, MetricSign::upstream).consensus;
  for (const auto& star : {fields.consensus, upstream, scalar_consensus(n, y), none, constant})
    EXPECT_LE(difference(height_tendency(star), expected), 1e-13);
  for (const auto& star : {upstream, scalar_consensus(n, y), none})
    EXPECT_GT(difference(star, fields.consensus), 0.1) << "another F*, or nothing was tested";
}

// Identity 3: with the correct metric F* is the mean of both sides' local fluxes, no Cartesian
// algebra.
TEST_F(Invariants, ConsensusFluxIsTheMeanOfLocalFluxes) {
  constexpr int n = 16;
  const State y = initial_state({n}, Start::random);
  const auto to_vertices = dense(Operator::pcv, n);
  const Axis grid = axis(n);
  const auto local_flux = [&](int panel, Side s, int k, double sign) {
    const auto row = extrapolation(n, outward(s) > 0);
    const int end = outward(s) > 0 ? n : 0;
    const double *v1 = y.v1.data() + panel * n * (n + 1), *v2 = y.v2.data() + panel * n * (n + 1);
    double normal = 0, along = 0;
    for (int m = 0; m < n; ++m) {
      normal += row[m] * (normal_is_x1(s) ? v1[m * (n + 1) + k] : v2[k * n + m]);
      along += to_vertices[k * n + m] * (normal_is_x1(s) ? v2[end * n + m] : v1[m * (n + 1) + end]);
    }
    const double t1 = grid.tan_vertices[normal_is_x1(s) ? end : k],
                 t2 = grid.tan_vertices[normal_is_x1(s) ? k : end];
    const auto m = metric(t1, t2, std::sqrt(1 + t1 * t1 + t2 * t2), sign);
    return normal_is_x1(s) ? flux(m, true, normal, along) : flux(m, false, along, normal);
  };
  const auto worst = [&](MetricSign q12) {
    const Intermediates fields = inside(n, y, q12);
    double largest_difference = 0;
    for (std::size_t e = 0; e < edges().size(); ++e)
      for (int k = 0; k <= n; ++k) {
        const Edge& edge = edges()[e];
        const double a = local_flux(edge.panel_a, edge.side_a, k, q12_sign(q12));
        const double b =
            local_flux(edge.panel_b, edge.side_b, edge.reversed ? n - k : k, q12_sign(q12));
        const double mean = (a - outward(edge.side_a) * outward(edge.side_b) * b) / 2;
        largest_difference =
            std::max(largest_difference, std::abs(mean - fields.consensus[e * (n + 1) + k]));
      }
    return largest_difference;
  };
  EXPECT_LE(worst(MetricSign::correct), 1e-13);
  EXPECT_GT(worst(MetricSign::upstream), 1);
}

TEST_F(Invariants, OptimizedAlgebraEqualsTheReference) {
  for (const int n : {8, 9, 24}) {
    const auto reference = make_rk4_step(*backend, Variant::reference, {n});
    const auto optimized = make_rk4_step(*backend, Variant::optimized, {n});
    int steps = 0;
    for (const auto& [until, limit] :
         {std::pair{1, 1e-14}, {7, 2e-14}, {10, 2e-14}, {100, 1e-13}}) {
      for (; steps < until; ++steps) {
        reference->step();
        optimized->step();
      }
      EXPECT_LE(difference(as_state({n}, optimized->result()), as_state({n}, reference->result())),
                limit)
          << n << " " << steps;
    }
  }
}

// Rows of many vectors, shared among threads.
TEST_F(Invariants, OptimizedAlgebraEqualsTheReferenceOnALargeGrid) {
  const Size size = {120};
  const State expected = state_after(make_rk4_step(*backend, Variant::reference, size), size);
  for (const RungeKutta form : {RungeKutta::horner, RungeKutta::classical}) {
    const Options options = {.runge_kutta = form};
    const State step =
        state_after(make_rk4_step(*backend, Variant::optimized, size, options), size);
    EXPECT_LE(difference(step, expected), 1e-14);
  }
}

TEST_F(Invariants, BothInstructionSetsAgree) {
  if (host_limits().isa != "x86-64-v4") GTEST_SKIP() << "this CPU has one of the two";
  for (const int n : {8, 13, 24}) {
    const Problem problem = {.unit = Unit::rk4_step,
                             .n = n,
                             .dt = 1. / (3 * n),
                             .start = initial_state({n}, Start::random)};
    const State v3 = state_after(isa_v3::make_host_optimized(*backend, problem), {n}, 10);
    const State v4 = state_after(isa_v4::make_host_optimized(*backend, problem), {n}, 10);
    EXPECT_LE(difference(v4, v3), 2e-14) << n;
    EXPECT_LE(difference(state_after(isa_v4::make_host_reference(*backend, problem), {n}, 10), v3),
              2e-14)
        << n;
  }
}

TEST_F(Invariants, RunsRepeatToTheLastBit) {
  for (const Variant variant : variants) {
    const State first = state_after(make_rk4_step(*backend, variant, {24}), {24}, 7);
    const State second = state_after(make_rk4_step(*backend, variant, {24}), {24}, 7);
    EXPECT_EQ(first.h, second.h);
    EXPECT_EQ(first.v1, second.v1);
    EXPECT_EQ(first.v2, second.v2);
  }
}

TEST_F(Invariants, ALoopIsItsSteps) {
  for (const Variant variant : variants)
    for (const int steps : {0, 1, 7, 8}) {
      const State loop = state_after(make_loop(*backend, variant, {12}, {.steps = steps}), {12});
      EXPECT_LE(difference(loop, state_after(make_rk4_step(*backend, variant, {12}), {12}, steps)),
                1e-14)
          << steps;
    }
}

TEST_F(Invariants, OneSidedCopiesStayTogether) {
  const Problem problem = {.n = 24,
                           .dt = 1. / 72,
                           .options = {.steps = 1000},
                           .start = initial_state({24}, Start::random)};
  const double usual = isa_v3::one_sided_spread(*backend, problem);
  EXPECT_NEAR(usual, 1.9, 0.1);
  Problem fast = problem;
  fast.dt = 0.55 * std::numbers::pi / 48;
  EXPECT_LT(isa_v3::one_sided_spread(*backend, fast), 10);
}

TEST_F(Invariants, MassStaysToRoundingOverALongRun) {
  const Size size = {24};
  const State start = initial_state(size, Start::face);
  const double before = mass(size, start.h);
  const auto run =
      make_loop(*backend, Variant::optimized, size, {.start = Start::face, .steps = 300});
  for (int block = 0; block < 6; ++block) {  // T = 25
    EXPECT_NEAR(mass(size, as_state(size, result_of(*run)).h), before, 1e-14 * before) << block;
  }
}

// Energy lost until T = 20 dx in `steps` steps, relative.
double energy_lost(Backend& backend, int steps, MetricSign q12, bool projected_start) {
  const Size size = {12};
  State start = panel_bump(size, 0.1, 0.2);
  if (projected_start) start.h = project(size.n, start.h);
  const Options options = {.q12 = q12, .dt = 20 * std::numbers::pi / 24 / steps, .steps = steps};
  const State end = state_after(make_loop(backend, Variant::optimized, size, options, start), size);
  return 1 - energy(size, end, q12) / energy(size, start, q12);
}

TEST_F(Invariants, EnergyDriftsAtTheFifthOrderOfTheTimeStep) {
  const double expected[] = {1.2790e-3, 4.1334e-5, 1.3000e-6, 4.0687e-8};
  double lost[4] = {};
  for (int k = 0; k < 4; ++k) {
    lost[k] = energy_lost(*backend, 50 << k, MetricSign::correct, true);
    EXPECT_NEAR(lost[k] / expected[k], 1, 1e-3);
    if (k > 0) {
      EXPECT_NEAR(std::log2(lost[k - 1] / lost[k]), 5, 0.1);
    }
  }
}

TEST_F(Invariants, UpstreamsEnergyErrorsAreReproduced) {
  const double expected[] = {1.2430e-3, 4.0232e-5, 1.2656e-6, 3.9611e-8};
  for (int k = 0; k < 4; ++k)
    EXPECT_NEAR(energy_lost(*backend, 50 << k, MetricSign::upstream, false) / expected[k], 1, 1e-4);
}

TEST_F(Invariants, StepsBeyondStabilityGrowAndStepsBelowItDoNot) {
  const auto highest = [&](double cfl, int steps) {
    const Options options = {
        .dt = cfl * std::numbers::pi / 48, .steps = steps, .allow_unstable = true};
    return largest(state_after(make_loop(*backend, Variant::optimized, {24}, options), {24}).h);
  };
  EXPECT_GT(highest(0.65, 50), 1e3);
  EXPECT_LT(highest(0.55, 1000), 5);
}

TEST_F(Invariants, ASteadyStepAllocatesNothing) {
  for (const Variant variant : variants) {
    const auto fresh = open_backend("host");
    const auto step = make_rk4_step(*fresh, variant, {12});
    step->step();
    fresh->ledger.enter(Ledger::Phase::steady);
    EXPECT_NO_THROW(step->step());
  }
}

TEST_F(Invariants, PeakMemoryIsTheFormulas) {
  for (const Variant variant : variants)
    for (const int n : {8, 24, 48, 96}) {
      const auto fresh = open_backend("host");
      make_rk4_step(*fresh, variant, {n})->step();
      EXPECT_EQ(fresh->ledger.peak_bytes, formula_peak_bytes(*fresh, variant, {n})) << n;
    }
}

TEST_F(Invariants, WorkDependsOnTheSizeAlone) {
  const Work step = rk4_step_work({384});
  EXPECT_EQ(step.flops, 1656. * 384 * 384);
  EXPECT_EQ(step.bytes, 11. * 8 * 6 * 385 * 1153);
  EXPECT_EQ(loop_work({384}, {.steps = 100}).bytes, 100 * step.bytes);
  EXPECT_EQ(4 * rhs_work({384}).flops, step.flops);
}

TEST_F(Invariants, WorkHasAPhaseForEachTendencyAndThePrecisionThatIsAskedFor) {
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const Options options = {.precision = precision, .steps = 100};
    const Work tendency = rhs_work({48}, options), step = rk4_step_work({48}, options),
               loop = loop_work({48}, options);
    EXPECT_EQ(tendency.phases, 1);
    EXPECT_EQ(step.phases, 4);
    EXPECT_EQ(loop.phases, 400);
    for (const Work& work : {tendency, step, loop}) EXPECT_EQ(work.precision, precision);
    EXPECT_EQ(11 * tendency.bytes, 2 * step.bytes);  // in units of a state
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
