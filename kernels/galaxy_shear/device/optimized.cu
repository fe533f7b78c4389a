// SPDX-License-Identifier: Apache-2.0
// The optimized variant: one block per galaxy, one launch per step or per whole fit. Against the
// reference: no pass over a whole plane goes through memory; point-spread function and pixel are a
// table of the plan; phases are products of two rows of waves; only S of N outputs of a transform
// are kept; nothing is taped, since recomputing a sample for the gradient is cheaper than reading
// it back. README.md has the predicted gain of each. T is the type of arrays; a galaxy's scalars
// (problem/formulas.hpp) are always double.
#include "galaxy_shear/device/stamp.cuh"
#include "galaxy_shear/problem/walks.hpp"

extern __shared__ double shared_memory[];

// zs: [batch, 8]; images: [batch, s, s].
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    render(galaxy_shear::Model model, const T* attenuation, const T* roots, const double* zs,
           T* images) {
  Stamp<T, n, s, table> stamp(shared_memory, attenuation, roots);
  if (threadIdx.x == 0) stamp.set(model, zs + blockIdx.x * 8);
  stamp.make_waves();
  stamp.generate();
  T* image = images + static_cast<long long>(blockIdx.x) * s * s;
  stamp.template pass_rows<false>([&](int i, int j, T pixel) {
    image[i * s + j] = pixel;
    return T(0);
  });
}

// cotangent: [s, s], the same for every galaxy; sums: [batch], of cotangent times image; gradients:
// [batch, 8].
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    render_grad(galaxy_shear::Model model, const T* attenuation, const T* roots, const double* zs,
                const T* cotangent, double* sums, double* gradients) {
  Stamp<T, n, s, table> stamp(shared_memory, attenuation, roots);
  const double* z = zs + blockIdx.x * 8;
  if (threadIdx.x == 0) stamp.set(model, z);
  stamp.make_waves();
  stamp.generate();
  T light = 0;
  stamp.template pass_rows<true>([&](int i, int j, T pixel) {
    const T weight = cotangent[i * s + j];
    light += weight * pixel;
    return weight;
  });
  double totals[7] = {};
  totals[0] = light;
  stamp.reduce(totals);
  stamp.sum_up(totals);
  if (threadIdx.x != 0) return;
  sums[blockIdx.x] = stamp.shared.totals[0];
  galaxy_shear::chain(model, z, stamp.sums(), gradients + blockIdx.x * 8);
}

// data: [batch, s, s]; states: [batch], with u drawn if `sample`; losses: [batch].
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    forward(galaxy_shear::Model model, const T* attenuation, const T* roots, const T* data,
            galaxy_shear::FitState* states, double* losses, int sample) {
  Stamp<T, n, s, table> stamp(shared_memory, attenuation, roots);
  const int b = blockIdx.x;
  if (threadIdx.x == 0) {
    if (sample) galaxy_shear::draw_latents(model, b, states[b].u);
    stamp.shared.point = galaxy_shear::constrained(model, states[b].u);
    stamp.set(model, stamp.shared.point.z);
  }
  stamp.make_waves();
  stamp.generate();
  double totals[7] = {};
  totals[0] = stamp.template compare<false>(model, data + static_cast<long long>(b) * s * s);
  stamp.sum_up(totals);
  if (threadIdx.x == 0)
    losses[b] = stamp.shared.totals[0] / 2 + model.constant + stamp.shared.point.prior;
}

// data: [batch, s, s]; starts: [batch, 8]; states: [batch]; losses: [period or 1, batch]. Makes
// `steps` steps of Adam; with a period, a fit restarts after that many steps.
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    fit(galaxy_shear::Model model, const T* attenuation, const T* roots, const T* data,
        const double* starts, galaxy_shear::FitState* states, double* losses, int steps,
        int period) {
  Stamp<T, n, s, table> stamp(shared_memory, attenuation, roots);
  auto& shared = stamp.shared;
  const int b = blockIdx.x;
  const T* observed = data + static_cast<long long>(b) * s * s;
  if (threadIdx.x == 0) shared.state = states[b];
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    if (threadIdx.x == 0) {
      if (period > 0 && shared.state.t == period)
        galaxy_shear::begin(model, starts + b * 8, shared.state);
      shared.point = galaxy_shear::constrained(model, shared.state.u);
      shared.shaped = galaxy_shear::admissible(shared.point.z);
      stamp.set(model, shared.point.z);
    }
    const double loss = stamp.descend(model, observed);
    if (threadIdx.x != 0) continue;
    const int place = (period > 0 ? shared.state.t : 0) * gridDim.x + b;
    double gradient[8];
    galaxy_shear::chain(model, shared.point.z, stamp.sums(), gradient);
    losses[place] =
        galaxy_shear::advance(model, shared.point, shared.shaped, loss, gradient, shared.state);
  }
  if (threadIdx.x == 0) states[b] = shared.state;
}

// data: [batch, s, s]; states, losses: [batch]. A walk of problem/walks.hpp through `evaluations`
// evaluations of loss and gradient.
template <class T, int n, int s, bool table, class Walk>
__global__ void __launch_bounds__(THREADS, 2)
    walk(galaxy_shear::Model model, const T* attenuation, const T* roots, const T* data,
         typename Walk::State* states, double* losses, int evaluations) {
  Stamp<T, n, s, table> stamp(shared_memory, attenuation, roots);
  auto& shared = stamp.shared;
  const int b = blockIdx.x;
#pragma unroll 1
  for (int k = 0; k < evaluations; ++k) {
    if (threadIdx.x == 0) {
      shared.point = Walk::propose(model, b, states[b], shared.state.u);
      shared.shaped = galaxy_shear::admissible(shared.point.z);
      stamp.set(model, shared.point.z);
    }
    const double loss = stamp.descend(model, data + static_cast<long long>(b) * s * s);
    if (threadIdx.x != 0) continue;
    double gradient[8];
    galaxy_shear::chain(model, shared.point.z, stamp.sums(), gradient);
    losses[b] = Walk::take(model, b, shared.point, shared.state.u, shared.shaped, loss, gradient,
                           states[b]);
  }
}
