// SPDX-License-Identifier: Apache-2.0
// The text of device code as compiled: embedded in the binary, or a file that HOLDFAST_SOURCES
// substitutes.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

// The text of the source at `path` ("cubed_sphere_swe/device/optimized.cu"):
// HOLDFAST_SOURCES/<path>, else HOLDFAST_SOURCES/<its short name>, else HOLDFAST_SOURCES/<its last
// part>, else `embedded`.
std::string source_text(std::string_view path, std::string_view embedded);

// Throws Error{bad_input} if HOLDFAST_SOURCES names no folder.
void check_sources();

// Whether HOLDFAST_SOURCES is set, so that this process may measure other code than it was built
// from.
bool sources_overridden();

// Warns if HOLDFAST_SOURCES is set and held none of the sources compiled since. Holding only some
// is fine.
void warn_of_unused_sources();

// "optimized.cu" for "cubed_sphere_swe/device/optimized.cu": its name in an #include beside it.
std::string_view bare_name(std::string_view path);

// "cubed_sphere_swe/optimized.cu" for the same: its name in messages and profiles.
std::string short_name(std::string_view path);

}  // namespace holdfast
