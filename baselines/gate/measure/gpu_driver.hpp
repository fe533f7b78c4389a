// SPDX-License-Identifier: Apache-2.0
// What the NVIDIA driver of this machine says, asked without linking against it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::gate {

struct GpuDriver {
  bool installed = false;                // libcuda.so.1 can be loaded
  std::string problem = {};              // why there is no GPU to use; empty where there is one
  std::string version = {};              // of CUDA that the driver serves, "13.0"
  std::vector<std::string> gpus = {};    // names, by ordinal
  std::vector<std::string> places = {};  // on the PCI bus, "0000:3b:00.0"; empty where unknown
};

GpuDriver ask_gpu_driver();

}  // namespace holdfast::gate
