// SPDX-License-Identifier: Apache-2.0
// Private to the calibrations: where `make` finds them.
#pragma once

#include <memory>

#include "calibration/calibration.hpp"

namespace holdfast::calibration {

// On either backend: Blas is the same for both.
std::unique_ptr<Calibration> make_matrix_product(Backend& backend, const Size& size);

// Null for a kind that it has not.
std::unique_ptr<Calibration> make_on_device(Backend& backend, const Size& size);

// The same sources, compiled once for each instruction set. Null for a kind that they have not.
namespace isa_v3 {
std::unique_ptr<Calibration> make_host_memory(Backend& backend, const Size& size);
std::unique_ptr<Calibration> make_host_arithmetic(Backend& backend, const Size& size);
}  // namespace isa_v3
namespace isa_v4 {
std::unique_ptr<Calibration> make_host_memory(Backend& backend, const Size& size);
std::unique_ptr<Calibration> make_host_arithmetic(Backend& backend, const Size& size);
}  // namespace isa_v4

}  // namespace holdfast::calibration
