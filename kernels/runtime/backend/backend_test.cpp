// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/backend.hpp"

#include <gmock/gmock.h>

#include "testing/error_of.hpp"

namespace holdfast {
namespace {

Error refusal(std::string_view name) {
  return error_of([&] { return open_backend(name); });
}

TEST(Backend, HostHasNoDeviceAndExecutes) {
  const auto backend = open_backend("host");
  EXPECT_EQ(backend->device, nullptr);
  EXPECT_TRUE(backend->executes());
}

TEST(Backend, AnUnknownNameIsRefusedInOneSentence) {
  for (const auto name :
       {"gpu", "", "cuda-dry", "cuda-dry:sm_", "cuda-dry:sm_9x", "cuda:", "cuda:-1", "hosted"}) {
    const auto error = refusal(name);
    EXPECT_EQ(error.fault(), Fault::bad_input) << name;
    EXPECT_THAT(error.what(),
                testing::StartsWith(text("there is no device '", name, "': use host")));
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
  }
}

TEST(Backend, ANameIsCheckedWithoutADevice) {
  for (const auto name : {"host", "cuda", "cuda:4095", "cuda-dry:sm_90"})
    EXPECT_NO_THROW(check_device(name)) << name;
  for (const auto name : {"gpu", "cuda:x", "cuda-dry:sm_42"})
    EXPECT_THROW(check_device(name), Error) << name;
}

TEST(Backend, AnUnknownArchitectureNamesTheKnownOnes) {
  const auto error = refusal("cuda-dry:sm_42");
  EXPECT_EQ(error.fault(), Fault::bad_input);
  EXPECT_THAT(error.what(), testing::HasSubstr("sm_90"));
}

TEST(Backend, AGpuThatThisMachineLacksIsNoDevice) {
  const auto error = refusal("cuda:4095");
  EXPECT_EQ(error.fault(), Fault::no_device);
  EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
}

#ifdef HOLDFAST_CUDA
TEST(Backend, WithoutAGpuTheDryDeviceIsRecommended) {
  const std::string sentence = refusal("cuda:4095").what();
  if (sentence.find("counted from 0") != std::string::npos)
    GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THAT(sentence, testing::HasSubstr("use cuda-dry:sm_90"));
}

TEST(Backend, DryDoesNotExecuteAndNamesItsClass) {
  const auto backend = open_backend("cuda-dry:sm_90");
  EXPECT_FALSE(backend->executes());
  EXPECT_EQ(device_class(*backend), "cuda-dry-sm_90");
}
#else
TEST(Backend, ABuildWithoutTheToolkitSaysSoAndWhatToDo) {
  const auto error = refusal("cuda-dry:sm_90");
  EXPECT_EQ(error.fault(), Fault::no_device);
  EXPECT_THAT(error.what(), testing::HasSubstr("this build has no CUDA toolkit"));
  EXPECT_THAT(error.what(), testing::HasSubstr("bootstrap.sh --cuda"));
}
#endif

TEST(Backend, TheHostClassNamesInstructionSetAndThreads) {
  const auto& limits = host_limits();
  EXPECT_EQ(device_class(*open_backend("host")),
            text("host-x86_64", limits.isa.substr(6), "-", limits.threads, "t"));
}

}  // namespace
}  // namespace holdfast
