// SPDX-License-Identifier: Apache-2.0
// Static shared memory of emulated kernels: the variables that the shim's __shared__ marks.
#pragma once

namespace holdfast::emulation {

// Fills what the calling CPU thread has of it, of all kernels of this program, with NaN in every
// precision. The program's table of symbols says where it lies, because no code can list variables
// within functions.
void spoil_static_shared();

// Whether the calling CPU thread has a byte of it there.
bool is_static_shared(const void* at);

}  // namespace holdfast::emulation
