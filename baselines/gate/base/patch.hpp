// SPDX-License-Identifier: Apache-2.0
// A unified diff that `git apply` takes.
#pragma once

#include <string>

namespace holdfast::gate {

// `before` empty means a new file. Short where the lines that stay are in the same order in both
// texts and mostly unique, as those of a baseline file are. Empty when nothing differs.
std::string unified_diff(const std::string& path, const std::string& before,
                         const std::string& after);

}  // namespace holdfast::gate
