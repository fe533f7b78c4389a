// SPDX-License-Identifier: Apache-2.0
// Names that stand in paths, keys, commands and reports. Whatever their source, they are valid only
// if each of these can hold them unchanged; a reason is valid only if it has visible text.
#pragma once

#include <string>
#include <string_view>

#include "gate/base/json.hpp"

namespace holdfast::gate {

// The id of a case: "suite/family/key:value/.../dtype", letters, digits and _ . + - : = in each
// part; at most 400 bytes.
bool is_case_id(std::string_view content);

// The reader's string. Throw Error(bad_input), which names file and line, if it is not valid. A
// name is that of a suite, a class of devices, a variant or a metric: letters, digits and _ . + -
// after a first letter, digit or _; at most 100 bytes.
const std::string& name_of(const Reader& reader);
// Without a dot, which divides a suite's name from what its files hold.
const std::string& suite_name_of(const Reader& reader);
const std::string& case_id_of(const Reader& reader, std::string_view suite);

// What --device is given: "host", "cuda", "cuda:1", "cuda-dry:sm_90".
const std::string& device_of(const Reader& reader);

// A pattern of ids or names, which is not longer than an id.
const std::string& glob_of(const Reader& reader);

// The same for a key of an object whose keys are names, and for the key "case id|variant|metric",
// at `reader`.
void require_name(const Reader& reader, std::string_view key);
void require_entry_key(const Reader& reader, std::string_view key);

// The reader's string, a reason. Throws Error(bad_input) if it has no visible text.
const std::string& reason_of(const Reader& reader);

}  // namespace holdfast::gate
