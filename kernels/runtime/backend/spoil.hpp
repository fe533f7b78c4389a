// SPDX-License-Identifier: Apache-2.0
// For verification: a result that was never written must not look like the previous one.
#pragma once

#include <string_view>

#include "runtime/backend/backend.hpp"

namespace holdfast {

// Overwrites all memory of `site` with one bits: NaN in f32 and f64, -1 in integers. Returns the
// number of bytes. Not counted; a no-op on a device that executes nothing.
std::size_t spoil(Backend& backend, std::string_view site);

// The same for a buffer of `bytes` bytes.
void spoil(Backend& backend, void* memory, std::size_t bytes);

}  // namespace holdfast
