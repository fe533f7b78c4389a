// SPDX-License-Identifier: Apache-2.0
// For those who verify: a result that was never written must not look like the one before.
#pragma once

#include <string_view>

#include "runtime/backend/backend.hpp"

namespace holdfast {

// Overwrites all that `site` holds with bytes of ones: NaN in f32 and f64, -1 in integers. Returns
// how many bytes that are. Nothing of it is counted; on a device that executes nothing they stay as
// they are.
std::size_t spoil(Backend& backend, std::string_view site);

// The same of so many bytes of a buffer.
void spoil(Backend& backend, void* memory, std::size_t bytes);

}  // namespace holdfast
