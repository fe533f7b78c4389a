// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/program_key.hpp"

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "runtime/compile/toolkit.hpp"

namespace holdfast {

Toolchain toolchain() {
  const ToolkitVersions versions = toolkit_versions();
  return {versions.nvrtc, versions.nvjitlink, lowering_options()};
}

// Each part is preceded by its length, so that different programs cannot concatenate to the same
// text.
std::string program_key(const Lowering& lowering, const Toolchain& toolchain) {
  std::string everything;
  const auto add = [&](std::string_view part) { everything += text(part.size(), ":", part, "\n"); };
  const auto add_all = [&](const std::vector<std::string>& parts) {
    add(text(parts.size()));
    for (const auto& part : parts) add(part);
  };
  add(text("holdfast-program/5 sm_", lowering.sm));
  add(toolchain.nvrtc);
  add(toolchain.nvjitlink);
  add_all(toolchain.options);
  add(lowering.name);
  add(lowering.text);
  add(text(lowering.headers.size()));
  for (const auto& header : lowering.headers) {
    add(header.name);
    add(header.text);
  }
  add_all(lowering.definitions);
  add_all(lowering.entries);
  return sha256_digits(everything);
}

}  // namespace holdfast
