// SPDX-License-Identifier: Apache-2.0
// Private to the calibrations: where `make` finds them.
#pragma once

#include <memory>

#include "calibration/calibration.hpp"

namespace holdfast::calibration {

using Factory = std::unique_ptr<Calibration>(Backend& backend, const Size& size);

// On either backend: Blas is the same for both.
Factory make_matrix_product;

// Null for a kind that it has not.
Factory make_on_device;

// The same sources, compiled once for each instruction set. Null for a kind that they have not.
namespace isa_v3 {
Factory make_host_memory, make_host_arithmetic;
}
namespace isa_v4 {
Factory make_host_memory, make_host_arithmetic;
}

}  // namespace holdfast::calibration
