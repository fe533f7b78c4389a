// SPDX-License-Identifier: Apache-2.0
// A unified diff that `git apply` takes.
#pragma once

#include <string>

namespace holdfast::gate {

// `before` empty means a new file. Lines that stay must stand in the same order in both texts and
// be unique in each, as those of a baseline file are. Empty when nothing differs.
std::string unified_diff(const std::string& path, const std::string& before,
                         const std::string& after);

}  // namespace holdfast::gate
