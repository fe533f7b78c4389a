// SPDX-License-Identifier: Apache-2.0
// NVIDIA's programs that print machine code, and where they are on this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

// The programs of that name, nvdisasm or cuobjdump: of the wheel that `bootstrap.sh` installs, of
// PATH, of the toolkit's usual place.
std::vector<std::filesystem::path> found_disassemblers(std::string_view name);

inline constexpr std::string_view disassembler_fix = "./cmake/bootstrap.sh --cuda";

// nvdisasm in the version that is pinned, since counts are compared. Where there is none the path
// is empty and `absent` says why; the version is that of the counts in the cache all the same.
struct Disassembler {
  std::string path = {}, version = {}, absent = {};
  std::string why_uncounted() const;  // and how to have it
};
const Disassembler& pinned_disassembler();

// For a shell, which sees the path in single quotes.
std::string in_quotes(const std::filesystem::path& path);

// What a shell command prints; nothing where it fails.
std::optional<std::string> printed_by(const std::string& command);

}  // namespace holdfast
