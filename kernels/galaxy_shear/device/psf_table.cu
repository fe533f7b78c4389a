// SPDX-License-Identifier: Apache-2.0
// The table of a plan: attenuation of the samples of the Fourier plane by optics and pixel. One
// thread per pair c <= r of distances from the axes, in which the table is symmetric.
#include "galaxy_shear/problem/optics.hpp"

// out: [columns, columns]; step: spacing of the Fourier plane.
template <class T>
__global__ void psf_table(holdfast::galaxy_shear::Optics optics, double pixel_scale, double step,
                          int columns, T* out) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c > r || r >= columns) return;
  const T value = T(holdfast::galaxy_shear::response_at(optics, pixel_scale, step * c, step * r));
  out[r * columns + c] = value;
  out[c * columns + r] = value;
}
