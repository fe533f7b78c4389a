// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/time_case.hpp"

#include <gmock/gmock.h>

#include "harness/machine/core_share.hpp"
#include "harness/testing/toy.hpp"

namespace holdfast {
namespace {

struct TimeCase : testing::Test {
  ~TimeCase() override { core_share() = CoreShare(); }

  // Times a toy on `device`, of which only the name is there, and then beside `other`.
  Measurement timed(const std::string& device, Derived other) {
    Case toy = toy_case();
    toy.derived = {std::move(other)};
    Subject subject{.backend = open_backend("host")};
    subject.computation = std::make_unique<Toy>(*subject.backend);
    Measurement measurement;
    time_case(toy, device, {.budget = {.seconds = 0, .most_rounds = 3}}, nullptr, subject,
              measurement);
    return measurement;
  }
};

TEST_F(TimeCase, TheOtherSideOfAGpuIsItsHost) {
  std::string other_on;
  const auto measured = timed("cuda", {.name = "gpu_over_host",
                                       .other =
                                           [&](Backend& backend) {
                                             other_on = backend.name;
                                             return std::make_unique<Toy>(backend);
                                           },
                                       .beside_host = true});
  EXPECT_EQ(other_on, "host");
  EXPECT_THAT(measured.derived, testing::Contains(testing::Key("gpu_over_host")));
}

// Cores are shared while the case is timed alone, and free again beside the other side.
TEST_F(TimeCase, OfSeveralTimingsTheOneOnTheMostSharedCoresIsTold) {
  double crowding = 1;
  core_share() = CoreShare([&] { return std::vector{crowding}; });
  (void)core_share().shared();
  crowding = 2;
  const auto measured = timed("host", {.name = "ratio", .other = [&](Backend& backend) {
                                         crowding = 1;
                                         return std::make_unique<Toy>(backend);
                                       }});
  EXPECT_EQ(measured.shared_fraction, 1);
}

}  // namespace
}  // namespace holdfast
