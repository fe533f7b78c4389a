// SPDX-License-Identifier: Apache-2.0
// Private to the calibrations: the factories that `make` chooses from.
#pragma once

#include <memory>

#include "calibration/calibration.hpp"

namespace holdfast::calibration {

using Factory = std::unique_ptr<Calibration>(Backend& backend, const Size& size);

// For either backend: Blas is the same on both.
Factory make_matrix_product;

// Returns null for an unsupported kind.
Factory make_on_device;

// The same sources, compiled once for each instruction set; null for an unsupported kind.
namespace isa_v3 {
Factory make_host_memory, make_host_arithmetic;
}
namespace isa_v4 {
Factory make_host_memory, make_host_arithmetic;
}

}  // namespace holdfast::calibration
