// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/builds.hpp"

#include "gate/base/written_file.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

fs::path copied(const fs::path& binary, const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  const fs::path copy = folder / binary.filename();
  try {
    WrittenFile file(copy);
    file.append_copy_of(binary);
    file.publish();
  } catch (const Error& error) {
    throw Error(Fault::bad_input,
                text("cannot copy ", binary.string(), " beside the other build: ", error.what(),
                     "; TMPDIR names a folder that has room for both"));
  }
  fs::permissions(copy, fs::perms::owner_exec | fs::perms::owner_read, fs::perm_options::add);
  return copy;
}

}  // namespace

Builds::Builds(const Build& base, const Build& head)
    : base_{copied(base.binary, folder_.path() / "base"), base.environment, base.names},
      head_{copied(head.binary, folder_.path() / "head"), head.environment, head.names} {
  const std::string wisdom = (folder_.path() / "wisdom").string();
  for (Build* build : {&base_, &head_}) build->environment["HOLDFAST_FFTW_WISDOM"] = wisdom;
}

}  // namespace holdfast::gate
