// SPDX-License-Identifier: Apache-2.0
// A unified diff that `git apply` takes.
#pragma once

#include <string>

namespace holdfast::gate {

// `before` empty means a new file. The diff is short where lines that stay have the same order in
// both texts and are mostly unique, as in a baseline file. Empty when nothing differs.
std::string unified_diff(const std::string& path, const std::string& before,
                         const std::string& after);

}  // namespace holdfast::gate
