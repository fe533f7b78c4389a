// SPDX-License-Identifier: Apache-2.0
// A GPU that records requests and executes nothing: counts, programs and plans are exact without
// hardware.
#pragma once

#include <memory>

#include "runtime/device/device.hpp"

namespace holdfast {

std::unique_ptr<Device> make_dry_device(Ledger& ledger, const Architecture& architecture);

}  // namespace holdfast
