// SPDX-License-Identifier: Apache-2.0
#include "testing/dry_run.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/backend/buffer.hpp"

namespace holdfast {
namespace {

constexpr std::size_t words = 70;

class Uploads final : public Computation {
 public:
  explicit Uploads(Backend& backend) : there_(backend, words, "there") {}
  void step() override { there_.upload(std::vector<float>(words)); }
  std::vector<double> result() override { return {}; }

 private:
  Buffer<float> there_;
};

TEST(DryRun, TellsWhatSettingUpCostsAndWhatEachStepCosts) {
  DryRun run(90, [](Backend& backend) { return std::make_unique<Uploads>(backend); });
  EXPECT_EQ(run.setup.allocations, 1);
  EXPECT_EQ(run.setup.h2d_bytes, 0);
  for (int i = 0; i < 2; ++i) {
    const Counts step = run.step();
    EXPECT_EQ(step.allocations, 0);
    EXPECT_EQ(step.h2d_bytes, 4 * words);
  }
}

TEST(DryRun, IsOnTheArchitectureThatIsNamed) {
  const DryRun run(80, [](Backend& backend) { return std::make_unique<Uploads>(backend); });
  EXPECT_EQ(run.backend->device->architecture().sm, 80);
}

}  // namespace
}  // namespace holdfast
