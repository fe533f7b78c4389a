// SPDX-License-Identifier: Apache-2.0
// The optimized variant of scenes: the columns of several galaxies are added up before one
// transform, and one residual's columns serve all of them. Blocks along y share the image, whose
// rows lie in global memory between launches; a block of its own takes each object's derivatives.
// The stages are those of stamp.cuh; sums are added in the order of parts and of objects.
#include "galaxy_shear/device/scene_plan.hpp"
#include "galaxy_shear/device/stamp.cuh"

extern __shared__ double shared_memory[];

template <class T, int n, int s, bool table>
using SceneStamp = Stamp<T, n, s, table, true>;

// Waves along x and y and the form of object j, from where scene_place left them.
template <class T, int n, int s, bool table>
__device__ void take_object(SceneStamp<T, n, s, table>& stamp,
                            const galaxy_shear::ScenePlan<T>& plan, int j) {
  constexpr int columns = n / 2 + 1;
  const auto* waves = reinterpret_cast<const Complex<T>*>(plan.waves) + 2ll * j * columns;
  __syncthreads();
  for (int k = threadIdx.x; k < columns; k += THREADS) {
    stamp.shared.wave_x[k] = waves[k];
    stamp.shared.wave_y[k] = waves[columns + k];
  }
  if (threadIdx.x < 4)
    reinterpret_cast<T*>(&stamp.shared.form)[threadIdx.x] = plan.forms[4 * j + threadIdx.x];
  __syncthreads();
}

// A block per object: its waves, its form, its flux.
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    scene_place(galaxy_shear::SceneModel model, galaxy_shear::ScenePlan<T> plan) {
  constexpr int columns = n / 2 + 1;
  SceneStamp<T, n, s, table> stamp(shared_memory, plan.attenuation, plan.roots);
  const int j = blockIdx.x;
  if (threadIdx.x == 0) {
    stamp.shared.point = galaxy_shear::object_at(model, plan.states, j);
    stamp.set(model.object, stamp.shared.point.z);
    stamp.shared.form.scale = T(stamp.shared.point.z[2]);
  }
  stamp.make_waves();
  auto* waves = reinterpret_cast<Complex<T>*>(plan.waves) + 2ll * j * columns;
  for (int k = threadIdx.x; k < columns; k += THREADS) {
    waves[k] = stamp.shared.wave_x[k];
    waves[columns + k] = stamp.shared.wave_y[k];
  }
  if (threadIdx.x < 4)
    plan.forms[4 * j + threadIdx.x] = reinterpret_cast<T*>(&stamp.shared.form)[threadIdx.x];
}

template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2) scene_generate(galaxy_shear::ScenePlan<T> plan) {
  using Own = SceneStamp<T, n, s, table>;
  Own stamp(shared_memory, plan.attenuation, plan.roots, reinterpret_cast<Complex<T>*>(plan.rows));
#pragma unroll 1
  for (int first = Own::part() * Own::groups; first < Own::half;
       first += Own::parts() * Own::groups) {
    const int c = first + stamp.group;
    Complex<T> v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = {0, 0};
    for (int k = threadIdx.x; k < n; k += THREADS) stamp.shared.edge[k] = {0, 0};
#pragma unroll 1
    for (int j = 0; j < plan.objects; ++j) {
      take_object(stamp, plan, j);
      const T flux = stamp.shared.form.scale;
      if (first == 0)
        for (int k = threadIdx.x; k < n; k += THREADS) {
          const Complex<T> value = stamp.edge_sample(k);
          stamp.shared.edge[k] =
              stamp.shared.edge[k] + Complex<T>{flux * value.re, flux * value.im};
        }
      if (c > 0 && c < Own::half)
        stamp.column_samples(c, [&](int k, Complex<T> value) {
          v[k] = v[k] + Complex<T>{flux * value.re, flux * value.im};
        });
    }
    __syncthreads();
    if (c == 0) {
#pragma unroll
      for (int k = 0; k < 8; ++k) v[k] = swapped(stamp.shared.edge[stamp.lane + k * Own::lanes]);
    }
    stamp.column_to_rows(v, c);
    __syncthreads();
  }
}

// data: [s, s]. To pixels and back; misfits: [parts], twice each part's of the loss.
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    scene_rows(galaxy_shear::SceneModel model, galaxy_shear::ScenePlan<T> plan, const T* data) {
  SceneStamp<T, n, s, table> stamp(shared_memory, plan.attenuation, plan.roots,
                                   reinterpret_cast<Complex<T>*>(plan.rows));
  if (threadIdx.x == 0) stamp.shared.form.scale = T(1 / model.object.pixels);
  __syncthreads();
  double totals[7] = {};
  totals[0] = stamp.template compare<true>(model.object, data);
  stamp.sum_up(totals);
  if (threadIdx.x == 0) plan.misfits[blockIdx.y] = stamp.shared.totals[0];
}

// The residual's columns, once for all objects: spectrum [H, n].
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2) scene_columns(galaxy_shear::ScenePlan<T> plan) {
  using Own = SceneStamp<T, n, s, table>;
  Own stamp(shared_memory, plan.attenuation, plan.roots, reinterpret_cast<Complex<T>*>(plan.rows));
  __syncthreads();
  auto* spectrum = reinterpret_cast<Complex<T>*>(plan.spectrum);
#pragma unroll 1
  for (int first = Own::part() * Own::groups; first < Own::half;
       first += Own::parts() * Own::groups) {
    const int c = first + stamp.group;
    Complex<T> v[8];
    stamp.rows_to_column(v, c);
    if (c >= Own::half) continue;
#pragma unroll
    for (int k = 0; k < 8; ++k) spectrum[c * n + stamp.lane + k * Own::lanes] = v[k];
  }
}

// A block per object: its six sums, and what they become.
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    scene_derive(galaxy_shear::SceneModel model, galaxy_shear::ScenePlan<T> plan) {
  using Own = SceneStamp<T, n, s, table>;
  Own stamp(shared_memory, plan.attenuation, plan.roots);
  const int j = blockIdx.x;
  take_object(stamp, plan, j);
  const auto* spectrum = reinterpret_cast<const Complex<T>*>(plan.spectrum);
  double totals[7] = {};
  stamp.reduce(totals, [&](Complex<T>(&v)[8], int c) {
#pragma unroll
    for (int k = 0; k < 8; ++k)
      v[k] = c < Own::half ? spectrum[c * n + stamp.lane + k * Own::lanes] : Complex<T>{0, 0};
  });
  stamp.sum_up(totals);
  if (threadIdx.x == 0)
    plan.shares[j] =
        galaxy_shear::share_of(model, galaxy_shear::object_at(model, plan.states, j), stamp.sums());
}

// One block: thread 0 adds up, then each state goes on.
template <class T>
__global__ void scene_finish(galaxy_shear::SceneModel model, galaxy_shear::ScenePlan<T> plan,
                             int parts, double* loss) {
  __shared__ galaxy_shear::Together all;
  if (threadIdx.x == 0) {
    double misfit = 0;
    for (int part = 0; part < parts; ++part) misfit += plan.misfits[part] / 2;
    all = galaxy_shear::together(model, plan.states, plan.shares, plan.objects, misfit);
  }
  __syncthreads();
  for (int part = threadIdx.x; part <= plan.objects; part += blockDim.x) {
    const double now = galaxy_shear::advance_part(model, all, plan.shares, part, plan.states[part]);
    if (part == 0) *loss = now;
  }
}
