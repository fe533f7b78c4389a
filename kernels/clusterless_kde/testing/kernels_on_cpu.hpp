// SPDX-License-Identifier: Apache-2.0
// For tests: an emulated device with the optimized variant's kernels, in the configurations that
// tests use.
#pragma once

#include <memory>

#include "runtime/emulation/emulated_device.hpp"

namespace holdfast::clusterless_kde {

std::unique_ptr<Backend> emulated(Emulation emulation = {});

}  // namespace holdfast::clusterless_kde
