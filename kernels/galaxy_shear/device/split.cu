// SPDX-License-Identifier: Apache-2.0
// The optimized variant for galaxies whose rows do not fit in a block's shared memory: blocks along
// y share a galaxy, and its rows lie in global memory between three launches (columns of samples to
// rows, rows to pixels and back, rows to sums); a fourth one finishes. The stages are those of
// optimized.cu; sums are added in the order of the parts.
#include "galaxy_shear/device/split_plan.hpp"
#include "galaxy_shear/device/stamp.cuh"

extern __shared__ double shared_memory[];

template <class T, int n, int s, bool table>
using Part = Stamp<T, n, s, table, true>;

// By one thread: sets the shape of the block's galaxy, from the truth or a state's latents.
template <class T, int n, int s, bool table>
__device__ void place(Part<T, n, s, table>& stamp, const galaxy_shear::Model& model,
                      const galaxy_shear::SplitPlan<T>& plan) {
  if (threadIdx.x != 0) return;
  const int b = plan.first + blockIdx.x;
  if (plan.zs) return stamp.set(model, plan.zs + b * 8);
  stamp.shared.point = galaxy_shear::constrained(model, plan.states[b].u);
  stamp.set(model, stamp.shared.point.z);
}

template <class T, int n, int s>
__device__ Complex<T>* rows_of(const galaxy_shear::SplitPlan<T>& plan) {
  return reinterpret_cast<Complex<T>*>(plan.planes) +
         static_cast<long long>(blockIdx.x) * s * (n / 2 + 1);
}
// This block's [7]: twice the loss, then the six sums.
template <class T>
__device__ double* part_of(const galaxy_shear::SplitPlan<T>& plan) {
  return plan.parts + ((plan.first + blockIdx.x) * gridDim.y + blockIdx.y) * 7;
}

// Draws latents if `sample`, else restarts a fit. starts: [batch, 8]; one thread per galaxy.
template <class T>
__global__ void split_begin(galaxy_shear::Model model, galaxy_shear::FitState* states,
                            const double* starts, int batch, int sample) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= batch) return;
  if (sample)
    galaxy_shear::draw_latents(model, b, states[b].u);
  else
    galaxy_shear::begin(model, starts + b * 8, states[b]);
}

template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    split_generate(galaxy_shear::Model model, galaxy_shear::SplitPlan<T> plan) {
  Part<T, n, s, table> stamp(shared_memory, plan.attenuation, plan.roots, rows_of<T, n, s>(plan));
  place(stamp, model, plan);
  stamp.make_waves();
  stamp.generate();
}

// given: the data [batch, s, s] of a fit, or a cotangent [s, s]; images: [batch, s, s].
template <class T, int n, int s, bool table, int pass>
__global__ void __launch_bounds__(THREADS, 2)
    split_rows(galaxy_shear::Model model, galaxy_shear::SplitPlan<T> plan, const T* given,
               T* images) {
  Part<T, n, s, table> stamp(shared_memory, plan.attenuation, plan.roots, rows_of<T, n, s>(plan));
  place(stamp, model, plan);
  __syncthreads();
  const long long own = static_cast<long long>(plan.first + blockIdx.x) * s * s;
  double totals[7] = {};
  if constexpr (pass == galaxy_shear::draws) {
    stamp.template pass_rows<false>([&](int i, int j, T pixel) {
      images[own + i * s + j] = pixel;
      return T(0);
    });
    return;
  } else if constexpr (pass == galaxy_shear::weighs) {
    T light = 0;
    stamp.template pass_rows<true>([&](int i, int j, T pixel) {
      const T weight = given[i * s + j];
      light += weight * pixel;
      return weight;
    });
    totals[0] = light;
  } else {
    totals[0] = stamp.template compare<pass == galaxy_shear::descends>(model, given + own);
  }
  stamp.sum_up(totals);
  if (threadIdx.x == 0) part_of(plan)[0] = stamp.shared.totals[0];
}

template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    split_reduce(galaxy_shear::Model model, galaxy_shear::SplitPlan<T> plan) {
  Part<T, n, s, table> stamp(shared_memory, plan.attenuation, plan.roots, rows_of<T, n, s>(plan));
  place(stamp, model, plan);
  stamp.make_waves();
  double totals[7] = {};
  stamp.reduce(totals);
  stamp.sum_up(totals);
  if (threadIdx.x != 0) return;
  for (int k = 1; k < 7; ++k) part_of(plan)[k] = stamp.shared.totals[k];
}

// A thread per galaxy. out: [batch] sums of pixels, or losses [period or 1, batch]; gradients:
// [batch, 8], of the sums.
template <class T, int pass>
__global__ void split_finish(galaxy_shear::Model model, galaxy_shear::SplitPlan<T> plan, int batch,
                             int parts, double* out, double* gradients, int period) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= batch) return;
  double totals[7] = {};
  for (int part = 0; part < parts; ++part)
    for (int k = 0; k < (pass == galaxy_shear::compares ? 1 : 7); ++k)
      totals[k] += plan.parts[(b * parts + part) * 7 + k];
  const galaxy_shear::Sums sums = {totals[1], totals[2], totals[3],
                                   totals[4], totals[5], totals[6]};
  if constexpr (pass == galaxy_shear::weighs) {
    out[b] = totals[0];
    galaxy_shear::chain(model, plan.zs + b * 8, sums, gradients + b * 8);
  } else {
    galaxy_shear::FitState& state = plan.states[b];
    const galaxy_shear::Point point = galaxy_shear::constrained(model, state.u);
    const double loss = totals[0] / 2 + model.constant + point.prior;
    const int place = (period > 0 ? state.t : 0) * batch + b;
    if constexpr (pass == galaxy_shear::compares) {
      out[place] = loss;
    } else {
      double gradient[8];
      galaxy_shear::chain(model, point.z, sums, gradient);
      out[place] = galaxy_shear::advance(model, point, galaxy_shear::admissible(point.z), loss,
                                         gradient, state);
    }
  }
}
