// SPDX-License-Identifier: Apache-2.0
// For tests: a library with NVML's functions and one GPU, which does not tell its temperature.
extern "C" {

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
}
