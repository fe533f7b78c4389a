// SPDX-License-Identifier: Apache-2.0
// Versions of the CUDA components loaded in this process; empty if absent.
#pragma once

#include <string>

namespace holdfast {

struct ToolkitVersions {
  std::string cuda = {};       // "13.0", the runtime
  std::string nvrtc = {};      // "13.0", with its build if the library reports it
  std::string nvjitlink = {};  // "13.0"
  std::string driver = {};     // "13.0", the newest CUDA the driver serves; empty without a driver
};
ToolkitVersions toolkit_versions();

}  // namespace holdfast
