// SPDX-License-Identifier: Apache-2.0
// The words of this workload's options, as cases and command lines spell them.
#pragma once

#include "galaxy_shear/problem/options.hpp"
#include "runtime/base/words.hpp"

namespace holdfast::galaxy_shear {

inline constexpr Words<Psf, 2> psf_words = {"point-spread function", {"gaussian", "moffat"}};
inline constexpr Words<Launch, 3> launch_words = {"launch", {"host", "graph", "persistent"}};

}  // namespace holdfast::galaxy_shear
