// SPDX-License-Identifier: Apache-2.0
// For tests: an emulated device with the reference's kernels.
#pragma once

#include <memory>

#include "runtime/emulation/emulated_device.hpp"

namespace holdfast::clusterless_kde {

std::unique_ptr<Backend> emulated_reference(Emulation emulation = {});

}  // namespace holdfast::clusterless_kde
