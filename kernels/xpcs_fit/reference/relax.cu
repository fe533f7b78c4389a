// SPDX-License-Identifier: Apache-2.0
// One turn of a relaxation: x, m: [count].
__global__ void relax(const double* m, double by, long long count, double* x) {
  const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < count) x[k] -= by * (x[k] - m[k]);
}
