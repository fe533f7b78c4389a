// SPDX-License-Identifier: Apache-2.0
// The reference's attention on a device, including rotation, against the oracle.
#include "gpt_train/reference/plain_attention.hpp"

#include <gmock/gmock.h>

#include "gpt_train/testing/attention_run.hpp"
#include "gpt_train/testing/plain_on_cpu.hpp"
#include "testing/error_of.hpp"

namespace holdfast::gpt_train {
namespace {

constexpr Shape shape = {
    .groups = 2, .repeats = 2, .head = 32, .batch = 2, .columns = 96, .document = 30};

std::vector<Bf16> angles(double (*function)(double)) {
  std::vector<Bf16> all;
  constexpr int pairs = shape.head / 2;
  for (int t = 0; t < shape.columns; ++t)
    for (int j = 0; j < pairs; ++j)
      all.push_back(
          narrowed(static_cast<float>(function(t * std::pow(rope_base, -double(j) / pairs)))));
  return all;
}

struct PlainAttentionRun {
  explicit PlainAttentionRun(Backend& backend)
      : kernels(*backend.compiler),
        blas(backend, planned_gemm_work_area_bytes),
        attention(backend, kernels, blas, shape, true),
        cosines(backend, angles(std::cos), "angles"),
        sines(backend, angles(std::sin), "angles"),
        segments(backend, in.segments, "segments"),
        d_o(backend, as_bf16(in.d_o), "do") {
    const auto upload = [&](Bf16* to, const Values& values) {
      const std::vector<Bf16> numbers = as_bf16(values);
      backend.device->upload(to, numbers.data(), numbers.size() * sizeof(Bf16));
    };
    upload(attention.q(), in.q);
    upload(attention.k(), in.k);
    upload(attention.v(), in.v);
  }
  void step() {
    attention.forward(cosines.data(), sines.data(), segments.data());
    attention.backward(cosines.data(), sines.data(), d_o.data());
  }

  const AttentionInput in = attention_input(shape, 11);
  PlainKernels kernels;
  Blas blas;
  PlainAttention attention;
  Buffer<Bf16> cosines, sines;
  Buffer<int> segments;
  Buffer<Bf16> d_o;
};

// The relative difference by Frobenius norms: the reference rounds scores, shares and slopes in
// memory.
double off(const Values& found, const Values& expected) {
  Values difference = found;
  for (std::size_t i = 0; i < found.size(); ++i) difference[i] -= expected[i];
  return oracle::norm(difference) / oracle::norm(expected);
}

TEST(PlainAttention, AgreesWithTheOracle) {
  EmulatedKernels kernels;
  add_plain(kernels);
  const auto backend = make_emulated_backend(std::move(kernels));
  PlainAttentionRun run(*backend);
  run.step();
  const auto done = oracle::attend(shape, run.in.segments, run.in.q, run.in.k, run.in.v);
  const auto d = oracle::attend_backward(shape, done, run.in.d_o);
  const auto found = [&](const Bf16* from, std::size_t count) {
    std::vector<Bf16> numbers(count);
    backend->device->download(numbers.data(), from, count * sizeof(Bf16));
    return as_values(numbers);
  };
  EXPECT_LT(off(found(run.attention.o(), done.o.size()), done.o), 0.02);
  EXPECT_LT(off(found(run.attention.d_q(), d.q.size()), d.q), 0.02);
  EXPECT_LT(off(found(run.attention.d_k(), d.k.size()), d.k), 0.02);
  EXPECT_LT(off(found(run.attention.d_v(), d.v.size()), d.v), 0.02);
}

TEST(PlainAttention, LaunchesWhatItsHeaderSaysAndHoldsItsSquares) {
  const auto backend = open_backend("cuda-dry:sm_90");
  PlainAttentionRun run(*backend);
  const auto launches = [&](auto&& enqueue) {
    const std::int64_t before = backend->ledger.counts.launches;
    enqueue();
    return backend->ledger.counts.launches - before;
  };
  EXPECT_EQ(launches([&] {
              run.attention.forward(run.cosines.data(), run.sines.data(), run.segments.data());
            }),
            11);
  EXPECT_EQ(launches([&] {
              run.attention.backward(run.cosines.data(), run.sines.data(), run.d_o.data());
            }),
            12);
  EXPECT_EQ(backend->ledger.peak_by_site().at("activations: attention"),
            std::int64_t(PlainAttention::bytes(shape, true)));
  EXPECT_GT(PlainAttention::bytes(shape, true), 5u * 2 * 2 * 4 * 96 * 96);
}

TEST(PlainAttention, RefusesRowsThatAreNoMultipleOfEight) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const PlainKernels kernels(*backend->compiler);
  Blas blas(*backend, planned_gemm_work_area_bytes);
  Shape odd = shape;
  odd.columns = 92;
  EXPECT_THAT(error_of([&] { PlainAttention(*backend, kernels, blas, odd, false); }).what(),
              testing::HasSubstr("seq = 92: the reference on a device squares rows"));
}

}  // namespace
}  // namespace holdfast::gpt_train
