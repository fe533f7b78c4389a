// SPDX-License-Identifier: Apache-2.0
// Device code as it is compiled: the text that the binary carries, or the file that
// HOLDFAST_SOURCES puts in its place.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

// The text of the source that lies at `path` ("cubed_sphere_swe/device/optimized.cu"):
// HOLDFAST_SOURCES/<path>, else HOLDFAST_SOURCES/<its short name>, else HOLDFAST_SOURCES/<its last
// part>, else `embedded`.
std::string source_text(std::string_view path, std::string_view embedded);

// Whether HOLDFAST_SOURCES is set: what this process measures is not what it was built from.
bool sources_overridden();

// Where HOLDFAST_SOURCES is set and nothing that was compiled since lay there. Some may: a folder
// need not hold all.
void warn_of_unused_sources();

// "optimized.cu" of "cubed_sphere_swe/device/optimized.cu": how an #include beside it spells it.
std::string_view bare_name(std::string_view path);

// "cubed_sphere_swe/optimized.cu" of the same: how messages and profiles call it.
std::string short_name(std::string_view path);

}  // namespace holdfast
