// SPDX-License-Identifier: Apache-2.0
// For tests: an emulated device that knows kernels of the optimized variant, those of the
// configurations that tests ask for.
#pragma once

#include <memory>

#include "runtime/emulation/emulated_device.hpp"

namespace holdfast::clusterless_kde {

std::unique_ptr<Backend> emulated(Emulation emulation = {});

}  // namespace holdfast::clusterless_kde
