// SPDX-License-Identifier: Apache-2.0
// A relaxation of TURNS turns, as in a program traced with that constant: another number of turns
// is another program. x, m: [count].
__global__ void turns(const double* m, double by, long long count, double* x) {
  const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const double to = m[k];
  double own = x[k];
#pragma unroll
  for (int turn = 0; turn < TURNS; ++turn) own -= by * (own - to);
  x[k] = own;
}
