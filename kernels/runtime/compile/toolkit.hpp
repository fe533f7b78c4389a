// SPDX-License-Identifier: Apache-2.0
// Versions of the CUDA parts that this process really runs with; empty where there are none.
#pragma once

#include <string>

namespace holdfast {

struct ToolkitVersions {
  std::string cuda = {};       // "13.0", the runtime
  std::string nvrtc = {};      // "13.0" and its build where the library tells it
  std::string nvjitlink = {};  // "13.0"
  std::string driver = {};     // "13.0", the newest CUDA the driver serves; empty without a driver
};
ToolkitVersions toolkit_versions();

}  // namespace holdfast
