// SPDX-License-Identifier: Apache-2.0
// The power of a spectrum as published: array after array around a transform of complex numbers.

__device__ inline long long element() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// out: [count, 2].
__global__ void widen(const double* samples, long long count, double* out) {
  const long long k = element();
  if (k >= count) return;
  out[2 * k] = samples[k];
  out[2 * k + 1] = 0;
}

__global__ void squares(const double* spectrum, long long count, double* power) {
  const long long k = element();
  if (k >= count) return;
  power[k] = spectrum[2 * k] * spectrum[2 * k] + spectrum[2 * k + 1] * spectrum[2 * k + 1];
}
