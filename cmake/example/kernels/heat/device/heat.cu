// SPDX-License-Identifier: Apache-2.0
// u, change, out: [n, n]; one thread per point. `laplacian` and `update` are the reference's step,
// of 40 bytes per point; `step` is the optimized one, a single launch of 16 bytes per point.
#include "heat/problem/formulas.hpp"

namespace heat = holdfast::heat;

__global__ void laplacian(const double* u, double* change, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) change[i * n + j] = heat::laplacian_at(u, i, j, n);
}

__global__ void update(double* u, const double* change, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) u[i * n + j] += heat::diffusion * change[i * n + j];
}

__global__ void step(const double* u, double* out, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n)
    out[i * n + j] = u[i * n + j] + heat::diffusion * heat::laplacian_at(u, i, j, n);
}
