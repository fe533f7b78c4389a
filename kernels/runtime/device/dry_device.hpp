// SPDX-License-Identifier: Apache-2.0
// A GPU that writes down what it is asked to do and does nothing: counts, programs and plans are
// exact without one.
#pragma once

#include <memory>

#include "runtime/device/device.hpp"

namespace holdfast {

std::unique_ptr<Device> make_dry_device(Ledger& ledger, const Architecture& architecture);

}  // namespace holdfast
