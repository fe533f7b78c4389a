// SPDX-License-Identifier: Apache-2.0
// Moments on the emulated device through two updates with different gradients: isolated updates
// have equal ones, and then neither Lion's signs nor orthogonalised matrices show an error in a
// moment.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gpt_train/data/hash.hpp"
#include "gpt_train/device/model_kernels.hpp"
#include "gpt_train/device/optimizer_kernels.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/testing/kernels_on_cpu.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train {
namespace {

// Nearly normal numbers that are exact in bf16.
std::vector<float> numbers(std::uint64_t stream, std::size_t count) {
  std::vector<float> all;
  for (std::size_t k = 0; k < count; ++k)
    all.push_back(widened(narrowed(static_cast<float>(near_normal(stream, k)))));
  return all;
}

TEST(GptOptimizer, LionsMomentGoesOnBehindItsSignAndTheModelReadsWhatHasMoved) {
  constexpr std::size_t count = 300;
  constexpr float rate = 0.125F;
  const auto backend = emulated();
  const OptimizerKernels kernels(*backend->compiler);
  const Buffer<Schedule> schedule(*backend, std::vector{Schedule{.norm = rate}}, "schedule");
  std::vector<float> p = numbers(1, count), m(count);
  const Buffer<float> parameters(*backend, p, "parameters"), moments(*backend, m, "moments");
  const Buffer<Bf16> copy(*backend, count, "copy");
  for (const std::uint64_t stream : {2, 3}) {
    const std::vector<float> g = numbers(stream, count);
    const Buffer<float> gradient(*backend, g, "gradient");
    kernels.lion(flat_shape(count), schedule.data(), {float(lion_beta), float(lion_decay)},
                 gradient.data(), count, moments.data(), parameters.data(), copy.data());
    const std::vector<float> moved = parameters.to_host(), kept = moments.to_host();
    const std::vector<Bf16> read = copy.to_host();
    for (std::size_t k = 0; k < count; ++k) {
      const double c = (1 - lion_beta) * g[k] + lion_beta * m[k];
      p[k] -= static_cast<float>(rate * ((c > 0) - (c < 0) + lion_decay * p[k]));
      m[k] = static_cast<float>(lion_beta * m[k] + (1 - lion_beta) * g[k]);
      ASSERT_NEAR(moved[k], p[k], 1e-6) << k;
      ASSERT_NEAR(kept[k], m[k], 1e-6) << k;
      ASSERT_EQ(widened(read[k]), widened(narrowed(moved[k]))) << k;
    }
  }
}

// Two matrices of one shape, one of them transposed, the other in rows with gaps.
TEST(GptOptimizer, MuonsMomentsGoOnAndWhatIsMadeOrthogonalLooksAhead) {
  constexpr int m = 24, q = 40, pitch = 100, tiles = 2, scales = 3;
  const std::vector<Member> members = {
      {.rows = m, .columns = q, .pitch = pitch},
      {.offset = m * pitch, .rows = q, .columns = m, .pitch = m, .turned = 1}};
  constexpr std::size_t all = m * pitch + q * m, each = m * q;
  const Schedule rates = {.gain = {0.25F, 0.125F, 0.0625F}};
  const Timescales betas = {.count = scales, .beta = {0.75F, 0.875F, 0.9375F}};
  const auto backend = emulated();
  const OptimizerKernels kernels(*backend->compiler);
  const Buffer<Schedule> schedule(*backend, std::vector{rates}, "schedule");
  const Buffer<Member> listed(*backend, members, "members");
  std::vector<float> expected(scales * all);
  const Buffer<float> moments(*backend, expected, "moments"),
      squares(*backend, scales * 2 * tiles, "squares");
  const Buffer<Bf16> x(*backend, scales * 2 * each, "x");
  for (const std::uint64_t stream : {4, 5}) {
    const std::vector<float> g = numbers(stream, all);
    std::vector<Bf16> narrow;
    for (const float value : g) narrow.push_back(narrowed(value));
    const Buffer<Bf16> gradient(*backend, narrow, "gradient");
    kernels.go_on({.grid = {tiles, 2}, .block = {tile_edge, tile_rows}}, schedule.data(), betas,
                  listed.data(), gradient.data(), moments.data(), all, x.data(), squares.data());
    const std::vector<float> kept = moments.to_host(), sums = squares.to_host();
    const std::vector<Bf16> made = x.to_host();
    for (int scale = 0; scale < scales; ++scale)
      for (std::size_t one = 0; one < members.size(); ++one) {
        const Member& member = members[one];
        const float beta = betas.beta[scale];
        const std::size_t first = scale * members.size() + one;
        double sum = 0;
        for (int i = 0; i < member.rows; ++i)
          for (int j = 0; j < member.columns; ++j) {
            const std::size_t at = member.offset + i * member.pitch + j;
            float& moment = expected[scale * all + at];
            moment = rates.gain[scale] * g[at] + beta * moment;
            const double value = (1 - beta) * g[at] + beta * moment;
            const int place = member.turned ? j * member.rows + i : i * member.columns + j;
            ASSERT_NEAR(kept[scale * all + at], moment, 1e-6) << scale << ' ' << at;
            ASSERT_NEAR(widened(made[first * each + place]), value, 4e-3 * std::abs(value) + 1e-6)
                << scale << ' ' << at;
            sum += value * value;
          }
        EXPECT_NEAR((sums[first * tiles] + sums[first * tiles + 1]) / sum, 1, 1e-5);
      }
  }
}

}  // namespace
}  // namespace holdfast::gpt_train
