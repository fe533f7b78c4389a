// SPDX-License-Identifier: Apache-2.0
// For tests: an emulated device that knows the kernels of the reference.
#pragma once

#include <memory>

#include "runtime/emulation/emulated_device.hpp"

namespace holdfast::clusterless_kde {

std::unique_ptr<Backend> emulated_reference(Emulation emulation = {});

}  // namespace holdfast::clusterless_kde
