// SPDX-License-Identifier: Apache-2.0
// What only a device without a GPU can refuse before one does, or before it passes uncounted.
#include <gmock/gmock.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/backend/buffer.hpp"
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
