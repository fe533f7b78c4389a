// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/gpu_driver.hpp"

#include <dlfcn.h>

#include "gate/base/error.hpp"

namespace holdfast::gate {
namespace {

// The CUDA that the suites are linked with, and the first driver that serves it: an older one finds
// its GPUs, but CUDA's libraries refuse it.
constexpr int oldest_cuda = 13, oldest_driver = 580;

// The driver's C interface, as far as it is asked here; a status of 0 is success.
class Driver {
 public:
  explicit Driver(void* library) : library_(library) {}

  template <class... Parameters, class... Arguments>
  int call(const char* name, int (*)(Parameters...), Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Parameters...)>(::dlsym(library_, name));
    constexpr int not_found = 500;  // CUDA_ERROR_NOT_FOUND
    return function ? function(arguments...) : not_found;
  }

  std::string sentence(int status) const {
    const char* words = nullptr;
    call("cuGetErrorString", static_cast<int (*)(int, const char**)>(nullptr), status, &words);
    return words ? words : text("error ", status);
  }

 private:
  void* library_;
};

template <class... Parameters>
using Signature = int (*)(Parameters...);

}  // namespace

GpuDriver ask_gpu_driver() {
  GpuDriver answer;
  void* library = ::dlopen(
      "libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);  // kept loaded: the driver tolerates unloading badly
  if (!library) {
    answer.problem = "libcuda.so.1 is not installed";
    return answer;
  }
  answer.installed = true;
  const Driver driver(library);
  if (const int status = driver.call("cuInit", Signature<unsigned>(), 0u); status != 0) {
    answer.problem = text("cuInit says: ", driver.sentence(status));
    return answer;
  }
  int version = 0;
  if (driver.call("cuDriverGetVersion", Signature<int*>(), &version) == 0)
    answer.version = text(version / 1000, '.', version % 1000 / 10);
  int count = 0;
  driver.call("cuDeviceGetCount", Signature<int*>(), &count);
  for (int i = 0; i < count; ++i) {
    int device = 0;
    char name[256] = "";
    driver.call("cuDeviceGet", Signature<int*, int>(), &device, i);
    driver.call("cuDeviceGetName", Signature<char*, int, int>(), name,
                static_cast<int>(sizeof name), device);
    answer.gpus.emplace_back(name);
    char place[32] = "";
    driver.call("cuDeviceGetPCIBusId", Signature<char*, int, int>(), place,
                static_cast<int>(sizeof place), device);
    answer.places.emplace_back(place);
  }
  if (answer.gpus.empty())
    answer.problem = "the driver knows no GPU";
  else if (!answer.version.empty() && version < oldest_cuda * 1000)
    answer.problem = text("the driver serves CUDA ", answer.version, ", and this build needs ",
                          oldest_cuda, ": install NVIDIA's driver ", oldest_driver, " or newer");
  return answer;
}

}  // namespace holdfast::gate
