// SPDX-License-Identifier: Apache-2.0
// Real kernels on matrix units that lose what makes them fast.
#include "planted/nightly_plants.hpp"

namespace holdfast::planted {
namespace {

TEST(PlantedDeviceCode, OfTheDecoderThatLosesTensorInstructionsIsFoundByItsCause) {
  expect_found(decoder_without_tensor_instructions());
}

TEST(PlantedDeviceCode, OfTheDecoderWithMoreTensorInstructionsIsNoGain) {
  expect_found(decoder_with_idle_tensor_instructions());
}

TEST(PlantedDeviceCode, OfTheDecoderThatLosesVectorLoadsIsFoundByItsCause) {
  expect_found(decoder_without_vector_loads());
}

}  // namespace
}  // namespace holdfast::planted
