// SPDX-License-Identifier: Apache-2.0
// What only a device without a GPU can refuse before one does, or before it passes uncounted.
#include <gmock/gmock.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

struct DryRules : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("cuda-dry:sm_90");
  Device& device = *backend->device;
  Ledger& ledger = backend->ledger;
  Function kernel{.expression = "kernel", .registers = 32};
};

TEST_F(DryRules, APointerToMemoryThatTheDeviceDoesNotHoldIsRefused) {
  const Buffer<double> own(*backend, 4, "own");
  auto lost = std::make_unique<Buffer<double>>(*backend, 4, "lost");
  const double *const ends = own.data() + own.size(), *const gone = lost->data();
  lost.reset();
  const std::vector<double> of_host(4);
  struct Rows {
    std::size_t number;  // never taken for a pointer
    const double* begin;
  };
  const auto launched_with = [&](const double* memory) {
    Kernel<int, Rows>(device, kernel)({}, 1, {reinterpret_cast<std::size_t>(gone), memory});
  };
  const double* const right[] = {own.data(), ends, nullptr};
  const double* const wrong[] = {of_host.data(), gone, ends + 1, own.data() - 1};
  for (const double* memory : right) EXPECT_NO_THROW(launched_with(memory));
  EXPECT_EQ(ledger.counts.launches, 3);
  for (const double* memory : wrong)
    EXPECT_THAT(refusal_of([&] { launched_with(memory); }, Fault::broken_rule),
                HasSubstr("kernel is given a pointer in argument 2 to memory that nobody holds"));
  EXPECT_EQ(ledger.counts.launches, 3);
}

TEST_F(DryRules, NoVerbTakesMemoryThatTheDeviceDoesNotHold) {
  Buffer<double> own(*backend, 8, "own");
  auto lost = std::make_unique<Buffer<double>>(*backend, 8, "lost");
  double* const gone = lost->data();
  lost.reset();
  std::vector<double> of_host(8), here(8);
  void* const pinned = device.allocate_pinned(64);
  Blas blas(*backend);
  Transform transform(*backend, {.kind = Fft::Kind::complex_forward, .columns = 2});
  const Gemm product = {.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2};
  double* const a = own.data();
  struct Verb {
    const char* sentence;
    std::function<void(double*)> call;
  };
  const Verb verbs[] = {
      {"a copy is given", [&](double* memory) { device.copy(memory, a, 64); }},
      {"a copy is given", [&](double* memory) { device.copy(a, memory, 64); }},
      {"a fill is given", [&](double* memory) { device.fill_zero(memory, 64); }},
      {"gemm [1, 2, 2, 2] f64 is given", [&](double* memory) { blas(product, memory, a, a); }},
      {"gemm [1, 2, 2, 2] f64 is given", [&](double* memory) { blas(product, a, a, memory); }},
      {"fft complex_forward [1, 1, 2] f64 is given", [&](double* memory) { transform(memory, a); }},
      {"fft complex_forward [1, 1, 2] f64 is given", [&](double* memory) { transform(a, memory); }},
      {"uploads 64 bytes to", [&](double* memory) { device.upload(memory, here.data(), 64); }},
      {"downloads 64 bytes from",
       [&](double* memory) { device.download(here.data(), memory, 64); }},
      {"uploads 64 bytes to", [&](double* memory) { device.upload_later(memory, pinned, 64); }},
      {"downloads 64 bytes from",
       [&](double* memory) { device.download_later(pinned, memory, 64); }},
  };
  for (const Verb& verb : verbs) {
    EXPECT_NO_THROW(verb.call(a)) << verb.sentence;
    const Counts before = ledger.counts;
    for (double* const memory : {of_host.data(), gone, a + 9})
      EXPECT_THAT(refusal_of([&] { verb.call(memory); }, Fault::broken_rule),
                  testing::AllOf(HasSubstr(verb.sentence), HasSubstr("memory that nobody holds")));
    EXPECT_EQ(ledger.counts, before) << verb.sentence;
  }
  EXPECT_THAT(refusal_of([&] { device.copy(a, a + 1, 64); }, Fault::broken_rule),
              HasSubstr("nobody holds"))
      << "seven of its eight are held";
  EXPECT_NO_THROW(device.upload(a, here.data(), 0));
  device.release_pinned(pinned);
}

TEST_F(DryRules, RefusesABlockBeyondItsLaunchBounds) {
  kernel.most_threads = 64;
  device.launch(kernel, {.block = {16, 4}});
  EXPECT_THAT(refusal_of([&] { device.launch(kernel, {.block = {65}}); }, Fault::broken_rule),
              HasSubstr("a block of 65 threads; its __launch_bounds__ allow 64"));
  EXPECT_EQ(ledger.counts.launches, 1);
}

TEST_F(DryRules, ObserversWaitUncountedAndStepsDoNot) {
  device.drain();
  EXPECT_EQ(ledger.counts.syncs, 0);
  ledger.enter(Ledger::Phase::steady);
  device.drain();
  EXPECT_EQ(ledger.counts.syncs, 1);
}

TEST_F(DryRules, AStepThatTimesItselfIsRefused) {
  const auto times_itself = [&] { (void)device.time([] {}); };
  EXPECT_NO_THROW(times_itself());
  EXPECT_THAT(refusal_of([&] { (void)device.time(times_itself); }, Fault::broken_rule),
              HasSubstr("times work in a step, and so waits for it"));
  EXPECT_NO_THROW(times_itself());
  ledger.enter(Ledger::Phase::steady);
  EXPECT_THAT(refusal_of(times_itself, Fault::broken_rule), HasSubstr("times work in a step"));
}

}  // namespace
}  // namespace holdfast
