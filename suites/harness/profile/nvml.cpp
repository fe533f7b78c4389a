// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/nvml.hpp"

#include <dlfcn.h>

#include "runtime/base/error.hpp"

#ifdef HOLDFAST_CUDA
#include <cuda_runtime_api.h>
#endif

namespace holdfast {
namespace {

// The used part of NVML's binary interface (NVML API reference, "Device queries"). Its header
// belongs to the driver's development files, which this build does not require.
using Status = int;  // nvmlReturn_t; 0 is success
using Gpu = void*;   // nvmlDevice_t
struct Utilization {
  unsigned gpu = 0, memory = 0;  // percent
};
struct Memory {
  unsigned long long total = 0, free = 0, used = 0;  // bytes
};
struct Process {  // nvmlProcessInfo_t of version 2 and 3
  unsigned pid = 0;
  unsigned long long used = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};
constexpr unsigned most_processes = 64;
constexpr Status insufficient_size = 7;               // there are more; their number is returned
constexpr int uncorrected = 1, volatile_counter = 0;  // nvmlMemoryErrorType_t, nvmlEccCounterType_t
// Bits of nvmlClocksThrottleReasons: a power cap, slowdowns by hardware and heat, a power brake.
constexpr unsigned long long slowed_down = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
constexpr int clock_sm = 1, clock_memory = 2;  // nvmlClockType_t
constexpr int sensor_gpu = 0;                  // nvmlTemperatureSensors_t

struct Close {
  void operator()(void* library) const noexcept { (void)::dlclose(library); }
};

class Nvml final : public GpuSensors {
 public:
  Nvml(const std::string& device, const std::string& library)
      : library_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_)
      throw Error(Fault::no_device, text(library, " cannot be opened (", ::dlerror(),
                                         "); it comes with NVIDIA's driver"));
    find(shutdown_, "nvmlShutdown");
    find(words_, "nvmlErrorString");
    find(utilization_, "nvmlDeviceGetUtilizationRates");
    find(memory_, "nvmlDeviceGetMemoryInfo");
    find(clock_, "nvmlDeviceGetClockInfo");
    find(power_, "nvmlDeviceGetPowerUsage");
    find(temperature_, "nvmlDeviceGetTemperature");
    find_if_any(throttle_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find_if_any(ecc_, "nvmlDeviceGetTotalEccErrors");
    find_if_any(processes_, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (!processes_) find_if_any(processes_, "nvmlDeviceGetComputeRunningProcesses_v2");
    Status (*initialize)() = nullptr;
    find(initialize, "nvmlInit_v2");
    check(initialize(), "start NVML");
    try {
      open_gpu(device);
    } catch (...) {
      (void)shutdown_();
      throw;
    }
  }
  ~Nvml() override { (void)shutdown_(); }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  GpuSample sample() override {
    GpuSample sample;
    Utilization utilization;
    if (utilization_(gpu_, &utilization) == 0) {
      sample.sm_util = utilization.gpu / 100.;
      sample.mem_util = utilization.memory / 100.;
    }
    Memory memory;
    if (memory_(gpu_, &memory) == 0) sample.fb_used_bytes = static_cast<double>(memory.used);
    unsigned value = 0;
    if (clock_(gpu_, clock_sm, &value) == 0) sample.sm_clock_hz = value * 1e6;
    if (clock_(gpu_, clock_memory, &value) == 0) sample.mem_clock_hz = value * 1e6;
    if (power_(gpu_, &value) == 0) sample.power_w = value / 1e3;
    if (temperature_(gpu_, sensor_gpu, &value) == 0) sample.temperature_c = value;
    unsigned long long bits = 0;
    if (throttle_ && throttle_(gpu_, &bits) == 0) sample.throttled = (bits & slowed_down) != 0;
    if (ecc_ && ecc_(gpu_, uncorrected, volatile_counter, &bits) == 0)
      sample.ecc_errors = static_cast<double>(bits);
    sample.other_processes = other_processes();
    return sample;
  }

 private:
  // All but one, taken for this process: in a container its id here differs.
  std::optional<double> other_processes() const {
    if (!processes_) return std::nullopt;
    Process all[most_processes];
    unsigned count = most_processes;
    const Status told = processes_(gpu_, &count, all);
    if (told != 0 && told != insufficient_size) return std::nullopt;
    return count > 0 ? count - 1 : 0;
  }

  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_.get(), name));
    if (!function)
      throw Error(Fault::no_device,
                  text("this NVML has no function ", name, "; a newer driver has"));
  }
  template <class Function>
  void find_if_any(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_.get(), name));
  }
  void check(Status status, std::string_view doing) const {
    if (status != 0) throw Error(Fault::no_device, text("failed to ", doing, ": ", words_(status)));
  }

  // NVML numbers all GPUs of the machine, CUDA only the visible ones: matches them by bus address.
  void open_gpu(const std::string& device) {
#ifdef HOLDFAST_CUDA
    if (device == "cuda" || device.starts_with("cuda:")) {
      char address[32] = {};
      const int ordinal = device == "cuda" ? 0 : std::stoi(device.substr(5));
      if (const auto status = cudaDeviceGetPCIBusId(address, sizeof address, ordinal);
          status != cudaSuccess)
        throw Error(Fault::no_device, text("failed to ask for the bus address of ", device, ": ",
                                           cudaGetErrorString(status)));
      Status (*by_address)(const char*, Gpu*) = nullptr;
      find(by_address, "nvmlDeviceGetHandleByPciBusId_v2");
      return check(by_address(address, &gpu_), text("find the GPU at ", address));
    }
#endif
    Status (*by_index)(unsigned, Gpu*) = nullptr;
    find(by_index, "nvmlDeviceGetHandleByIndex_v2");
    check(by_index(0, &gpu_), text("find a GPU beside ", device));
  }

  std::unique_ptr<void, Close> library_;
  Gpu gpu_ = nullptr;
  Status (*shutdown_)() = nullptr;
  const char* (*words_)(Status) = nullptr;
  Status (*utilization_)(Gpu, Utilization*) = nullptr;
  Status (*memory_)(Gpu, Memory*) = nullptr;
  Status (*clock_)(Gpu, int, unsigned*) = nullptr;
  Status (*power_)(Gpu, unsigned*) = nullptr;
  Status (*temperature_)(Gpu, int, unsigned*) = nullptr;
  Status (*throttle_)(Gpu, unsigned long long*) = nullptr;
  Status (*ecc_)(Gpu, int, int, unsigned long long*) = nullptr;
  Status (*processes_)(Gpu, unsigned*, Process*) = nullptr;
};

}  // namespace

std::unique_ptr<GpuSensors> open_nvml(const std::string& device, const std::string& library) {
  return std::make_unique<Nvml>(device, library);
}

}  // namespace holdfast
