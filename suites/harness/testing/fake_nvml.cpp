// SPDX-License-Identifier: Apache-2.0
// For tests: a library with NVML's functions and one GPU, which does not report its temperature.
// FAKE_GPU=throttled, shared, crowded (more processes than fit into the caller's array) or faulty
// selects a fault.
#include <cstdlib>
#include <string_view>

namespace {

bool is(std::string_view what) {
  const char* setting = std::getenv("FAKE_GPU");
  return setting && setting == what;
}

}  // namespace

extern "C" {

struct RunningProcess {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

struct Rates {
  unsigned gpu, memory;
};
struct Bytes {
  unsigned long long total, free, used;
};

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
const char* nvmlErrorString(int status) {
  return status == 6 ? "Not Found" : "Not Supported";
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int gpu = 0;
  *device = &gpu;
  return index == 0 ? 0 : 6;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**) {
  return 6;
}
int nvmlDeviceGetUtilizationRates(void*, Rates* rates) {
  *rates = {87, 34};
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, Bytes* memory) {
  *memory = {16'000'000'000, 11'000'000'000, 5'000'000'000};
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int clock, unsigned* megahertz) {
  *megahertz = clock == 1 ? 1980 : clock == 2 ? 3201 : 0;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 350500;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned*) {
  return 3;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = is("throttled") ? 0x40 : 0x1;  // hot, or idle
  return 0;
}
int nvmlDeviceGetTotalEccErrors(void*, int, int, unsigned long long* errors) {
  static unsigned long long seen = 3;  // before this run
  *errors = is("faulty") ? ++seen : seen;
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, RunningProcess* all) {
  if (is("crowded")) {
    *count = 100;
    return 7;
  }
  *count = is("shared") ? 2 : 1;
  all[0] = {4242, 1 << 20, 0, 0};
  if (is("shared")) all[1] = {4711, 1 << 30, 0, 0};
  return 0;
}
}
