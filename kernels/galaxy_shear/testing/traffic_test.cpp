// SPDX-License-Identifier: Apache-2.0
// What the optimized kernels access of device and shared memory, on the emulated device.
#include "galaxy_shear/galaxy_shear.hpp"
#include "galaxy_shear/problem/results.hpp"
#include "galaxy_shear/testing/kernels_on_cpu.hpp"
#include "testing/expect_traffic.hpp"

namespace holdfast::galaxy_shear {
namespace {

void expect_accepted(Unit unit, const Options& options,
                     const std::map<std::string, Accesses>& accepted) {
  const auto backend = emulated(Variant::optimized);
  const auto computation = make(unit, *backend, Variant::optimized, options);
  expect_traffic(*backend, *computation, accepted);
}

TEST(GalaxyTraffic, OfStampsIsAccepted) {
  const Options two = {.fft = 128, .image = 48, .batch = 2};
  expect_accepted(Unit::render, two, {{"render<double, 128, 48, false>", {1496, 1.098, 2.173}}});
  expect_accepted(Unit::render_grad, two,
                  {{"render_grad<double, 128, 48, false>", {1536, 1.096, 2.145}}});
  expect_accepted(Unit::forward, two, {{"forward<double, 128, 48, false>", {1490, 1.099, 2.167}}});
  expect_accepted(Unit::svi_step, two, {{"fit<double, 128, 48, false>", {1512, 1.099, 2.139}}});
}

// A Moffat profile is a table over the Fourier plane.
TEST(GalaxyTraffic, OfStampsWithATableIsAccepted) {
  const Options two = {.fft = 128, .image = 48, .batch = 2, .psf = Psf::moffat};
  expect_accepted(Unit::psf_table, two, {{"psf_table<double>", {2042, 1.873}}});
  expect_accepted(Unit::render, two, {{"render<double, 128, 48, true>", {6482, 1.173, 2.173}}});
  expect_accepted(Unit::svi_step, two, {{"fit<double, 128, 48, true>", {11562, 1.188, 2.139}}});
}

TEST(GalaxyTraffic, OfAnEnsembleAndAPathIsAccepted) {
  const Options small = {.fft = 16, .image = 8};
  expect_accepted(
      Unit::vi_step, small,
      {{"walk<double, 16, 8, false, holdfast::galaxy_shear::Variational>", {142, 1.203, 4.953}}});
  expect_accepted(
      Unit::hmc_sample, small,
      {{"walk<double, 16, 8, false, holdfast::galaxy_shear::Hamiltonian>", {1199, 1.305, 4.956}}});
}

TEST(GalaxyTraffic, OfASceneIsAccepted) {
  expect_accepted(Unit::scene_step, {.fft = 64, .image = 48, .objects = 3},
                  {{"scene_derive<double, 64, 48, false>", {11517, 1.283, 1.815}},
                   {"scene_finish<double>", {326, 1.304}},
                   {"scene_generate<double, 64, 48, false>", {11220, 1.278, 1.427}},
                   {"scene_place<double, 64, 48, false>", {223, 1.073}},
                   {"scene_rows<double, 64, 48, false>", {3249, 1.107, 3.153}}});
}

TEST(GalaxyTraffic, OfASceneWithATableIsAccepted) {
  expect_accepted(
      Unit::scene_step,
      {.fft = 128, .image = 31, .psf = Psf::moffat, .objects = 1, .precision = Precision::f32},
      {{"scene_derive<float, 128, 31, true>", {19367, 1.263, 1.365}},
       {"scene_finish<float>", {202, 1.128}},
       {"scene_generate<float, 128, 31, true>", {19193, 1.266, 1.218}},
       {"scene_place<float, 128, 31, true>", {56, 1.077}},
       {"scene_rows<float, 128, 31, true>", {2039, 1.228, 1.72}}});
}

TEST(GalaxyTraffic, OfAStampOfSeveralBlocksIsAccepted) {
  const auto backend = emulated(Variant::optimized);
  Problem problem = problem_of(Unit::map, {.fft = 128, .image = 48, .batch = 2, .steps = 2}, false);
  problem.split = 2;
  const auto computation = make(*backend, Variant::optimized, problem);
  expect_traffic(*backend, *computation,
                 {{"split_begin<double>", {64, 2}},
                  {"split_finish<double, 2>", {598, 1.993}},
                  {"split_generate<double, 128, 48, false>", {20256, 1.594, 2.062}},
                  {"split_reduce<double, 128, 48, false>", {20544, 1.575, 1.956}},
                  {"split_rows<double, 128, 48, false, 2>", {30592, 1.212, 2.159}}});
}

}  // namespace
}  // namespace holdfast::galaxy_shear
