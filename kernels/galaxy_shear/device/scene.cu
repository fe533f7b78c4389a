// SPDX-License-Identifier: Apache-2.0
// The optimized variant of scenes, in five launches: the columns of several galaxies are added up
// before one transform, and one residual's columns serve all of them. One block per state to place,
// per column of samples and per column of the residual, in which each group of threads takes an
// object, so that no stage is the latency of a few blocks. Rows of pixels lie in global memory
// between launches. Sums are added in the order of groups, of pieces and of objects.
// Against six launches of a few blocks each, in us on an H200 (16 objects, N = 128, S = 64, f64):
// before, predicted by counting, and measured by a profile. About 2 of each launch are its start
// and end.
// - scene_place, 5.4, 3.8, 2.9: one thread per latent; roots are not loaded.
// - scene_generate, 28.2, 4.2, 3.5: 65 blocks, not 4; objects side by side; one wait for all waves.
// - scene_rows, 6.9, 6.3, 7.1: data are loaded before the transforms, which gains nothing.
// - scene_derive, 15.5 in two launches, 4.5, 3.3: 65 blocks, not 16, transform what they use.
// - scene_finish, 11.8, 5.2, 5.3: points come from scene_place; sums in strands; one thread per
//   latent.
// A step with its gaps: 75, 30, 27.6.
#include "galaxy_shear/device/scene_plan.hpp"
#include "galaxy_shear/device/stamp.cuh"

extern __shared__ double shared_memory[];

template <class T, int n, int s, bool table>
using SceneStamp = Stamp<T, n, s, table, true>;

template <class T>
__device__ Complex<T>* rows_of(const galaxy_shear::ScenePlan<T>& plan) {
  return reinterpret_cast<Complex<T>*>(plan.rows);
}

// A thread's share of the roots, loaded before anything waits and stored where they are needed.
template <class T, int n>
struct OwnRoots {
  static constexpr int each = (n + THREADS - 1) / THREADS;
  Complex<T> values[each];

  __device__ explicit OwnRoots(const T* roots) {
#pragma unroll
    for (int e = 0; e < each; ++e) {
      const int k = threadIdx.x + e * THREADS;
      values[e] = k < n ? reinterpret_cast<const Complex<T>*>(roots)[k] : Complex<T>{0, 0};
    }
  }
  __device__ void put(Complex<T>* to) const {
#pragma unroll
    for (int e = 0; e < each; ++e)
      if (threadIdx.x + e * THREADS < n) to[threadIdx.x + e * THREADS] = values[e];
  }
};

// inverse_root without its branch for arguments below 1 or infinite, so that samples overlap: a
// single-precision root and a third-order step, exact to the last bit or the one before.
__device__ inline float smooth_root(float t) {
  return inverse_root(t);
}
__device__ inline double smooth_root(double t) {
  const double near = rsqrtf(float(t)), rest = 1 - t * near * near;
  return near + near * rest * (0.5 + 0.375 * rest);
}

// An object as placed by scene_place, for a group of threads. Its waves along y are copied to where
// the group reads them; the group must synchronise before and after the copy.
template <class T, int n, bool table>
struct Placed {
  static constexpr int columns = n / 2 + 1, lanes = n / 8;
  Form<T> form;
  const Complex<T>* along_x;  // [columns]
  const Complex<T>* along_y;
  const T* attenuation;

  __device__ Placed(const galaxy_shear::ScenePlan<T>& plan, int j, Complex<T>* own)
      : form{plan.forms[4ll * j], plan.forms[4ll * j + 1], plan.forms[4ll * j + 2],
             plan.forms[4ll * j + 3]},
        along_x(reinterpret_cast<const Complex<T>*>(plan.waves) + 2ll * j * columns),
        along_y(own),
        attenuation(plan.attenuation) {
#pragma unroll
    for (int k = threadIdx.x % lanes; k < columns; k += lanes) own[k] = along_x[columns + k];
  }

  __device__ T profile(int c, int r) const {
    return smooth_root(stretched(form, c, r));
  }
  // The response at column c, whose wave is x, and row r.
  __device__ Complex<T> turned_response(Complex<T> x, int c, int r) const {
    const int distance = r < 0 ? -r : r;
    const Complex<T> y = along_y[distance];
    const Complex<T> both = x * Complex<T>{y.re, r < 0 ? -y.im : y.im};
    if (!table) return both;
    // Symmetric: the lanes of a group have one c and neighbouring r.
    const T share = attenuation[c * columns + distance];
    return {share * both.re, share * both.im};
  }
};
// The group's room for an object's waves along y, behind the memory of a stamp.
template <class T, int n, int s, bool table>
__device__ Complex<T>* room_for_waves(const SceneStamp<T, n, s, table>& stamp) {
  return reinterpret_cast<Complex<T>*>(&stamp.shared + 1) + stamp.group * (n / 2 + 1);
}

// One block per state, one thread per latent: the state's point. For an object, whose shear is that
// of the first state, also its form and waves.
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    scene_place(galaxy_shear::SceneModel model, galaxy_shear::ScenePlan<T> plan) {
  constexpr int columns = n / 2 + 1, numbers = sizeof(galaxy_shear::Point) / sizeof(double);
  __shared__ double densities[8];
  SceneStamp<T, n, s, table> stamp(shared_memory, plan.attenuation, rows_of(plan));
  galaxy_shear::Point& point = stamp.shared.point;
  const int part = blockIdx.x, k = threadIdx.x;
  const bool object = part > 0;
  const int own = object ? model.object.latents : model.shear.latents;
  const bool of_shear = !object || k >= own;
  const int latent = object && of_shear ? k - own : k;
  const bool used = latent < (of_shear ? model.shear.latents : own);
  const double u = used ? plan.states[of_shear ? 0 : part].u[latent] : 0;
  if (k < 8) {
    point.z[k] = model.object.fixed[k];
    point.slope[k] = point.prior_slope[k] = 0;
  }
  __syncthreads();
  if (used) {
    const galaxy_shear::Prior prior =
        of_shear ? model.shear.priors[latent] : model.object.priors[latent];
    const galaxy_shear::Latent found = galaxy_shear::latent_of(prior, u);
    point.z[of_shear ? model.shear.latent[latent] : model.object.latent[latent]] = found.value;
    if (k < own) {
      point.slope[k] = found.slope;
      point.prior_slope[k] = found.density_slope;
      densities[k] = found.density + prior.constant;
    }
  }
  __syncthreads();
  if (k == 0 && object) {
    stamp.set(model.object, point.z);
    stamp.shared.form.scale = T(point.z[2]);
  }
  if (k == THREADS - 1) {
    double sum = 0;
    for (int one = 0; one < own; ++one) sum += densities[one];
    point.prior = sum;
  }
  stamp.make_waves();
  if (k < numbers)
    reinterpret_cast<double*>(plan.points + part)[k] = reinterpret_cast<const double*>(&point)[k];
  if (!object) return;
  const int j = part - 1;
  auto* waves = reinterpret_cast<Complex<T>*>(plan.waves) + 2ll * j * columns;
  for (int c = k; c < columns; c += THREADS) {
    waves[c] = stamp.shared.wave_x[c];
    waves[columns + c] = stamp.shared.wave_y[c];
  }
  if (k < 4) plan.forms[4 * j + k] = reinterpret_cast<const T*>(&stamp.shared.form)[k];
}

// One block per column, 0 to H; columns 0 and H make real rows.
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2) scene_generate(galaxy_shear::ScenePlan<T> plan) {
  using Own = SceneStamp<T, n, s, table>;
  constexpr int half = Own::half, lanes = Own::lanes, groups = Own::groups;
  Own stamp(shared_memory, plan.attenuation, rows_of(plan));
  const OwnRoots<T, n> roots(plan.roots);
  const int c = Own::part(), lane = stamp.lane;
  Complex<T> v[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = {0, 0};
#pragma unroll 1
  for (int first = 0; first < plan.objects; first += groups) {
    const int j = first + stamp.group;
    const bool busy = j < plan.objects;
    const Placed<T, n, table> object(plan, busy ? j : 0, room_for_waves(stamp));
    const Complex<T> x = object.along_x[c];
    group_barrier<n>();
    // Column H's other side is its conjugate; both sides of row H are added for all columns.
#pragma unroll 1
    for (int side = 1; busy && side >= (c == half ? -1 : 1); side -= 2) {
      const auto add = [&](Complex<T>& to, int r) {
        const T a = object.profile(c, r), light = object.form.scale * (a * a * a);
        const Complex<T> response = object.turned_response(x, c, r);
        to = to + Complex<T>{light * response.re, T(side) * light * response.im};
      };
#pragma unroll
      for (int k = 0; k < 8; ++k) add(v[k], side * (lane + k * lanes - (k < 4 ? 0 : n)));
      if (lane == 0) add(v[4], side * half);
    }
    group_barrier<n>();
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) stamp.shared.scratch[stamp.group][lane + k * lanes] = swapped(v[k]);
  roots.put(stamp.shared.roots);
  __syncthreads();
  const int busy = plan.objects < groups ? plan.objects : groups;
  const T* parts = reinterpret_cast<const T*>(stamp.shared.scratch);
  for (int k = threadIdx.x; k < 2 * n; k += THREADS) {
    T sum = 0;
#pragma unroll 8
    for (int group = 0; group < busy; ++group) sum += parts[group * 2 * n + k];
    reinterpret_cast<T*>(stamp.shared.edge)[k] = sum;
  }
  __syncthreads();
  if (lanes <= 32 && threadIdx.x >= 32) return;  // one group transforms
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = stamp.shared.edge[lane + k * lanes];
  transform<n>(v, stamp.shared.scratch[stamp.group], stamp.shared.roots, lane);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = lane + k * lanes;
    if (i >= s || stamp.group > 0) continue;
    stamp.row(i, c) = c == 0 || c == half ? Complex<T>{v[k].im, 0} : swapped(v[k]);
  }
}

// data: [s, s]; misfits: [parts], twice each part's share of the loss. Transforms rows to pixels
// and back, a pair of rows per group of the blocks.
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2)
    scene_rows(galaxy_shear::SceneModel model, galaxy_shear::ScenePlan<T> plan, const T* data) {
  using Own = SceneStamp<T, n, s, table>;
  constexpr int lanes = Own::lanes;
  const int lane = threadIdx.x % lanes;
  T observed[2][8];  // loaded before the transforms
#pragma unroll
  for (int k = 0; k < 8; ++k)
#pragma unroll
    for (int lower = 0; lower < 2; ++lower) {
      const int i = 2 * (Own::part() * Own::groups + threadIdx.x / lanes) + lower;
      const int j = lane + k * lanes;
      observed[lower][k] = i < s && j < s ? data[i * s + j] : T(0);
    }
  Own stamp(shared_memory, plan.attenuation, plan.roots, rows_of(plan));
  if (threadIdx.x == 0) stamp.shared.form.scale = T(1 / model.object.pixels);
  __syncthreads();
  const T inverse_noise = T(model.object.inverse_noise);
  T squares = 0;
  stamp.template pass_rows<true>([&](int i, int j, T pixel) {
    const T residual = (pixel - observed[i & 1][(j - lane) / lanes]) * inverse_noise;
    squares += residual * residual;
    return residual * inverse_noise;
  });
  double totals[7] = {};
  totals[0] = squares;
  stamp.sum_up(totals);
  if (threadIdx.x == 0) plan.misfits[blockIdx.y] = stamp.shared.totals[0];
}

// Blocks along x: an object per group; along y: columns of the residual, 0 to H, dealt out. Each
// group of a block transforms a column, then every group combines its object with all of these.
template <class T, int n, int s, bool table>
__global__ void __launch_bounds__(THREADS, 2) scene_derive(galaxy_shear::ScenePlan<T> plan) {
  using Own = SceneStamp<T, n, s, table>;
  constexpr int half = Own::half, lanes = Own::lanes, groups = Own::groups;
  Own stamp(shared_memory, plan.attenuation, rows_of(plan));
  const OwnRoots<T, n> roots(plan.roots);
  const int lane = stamp.lane, j = blockIdx.x * groups + stamp.group;
  const bool busy = j < plan.objects;
  double totals[7] = {};
#pragma unroll 1
  for (int first = Own::part(); first <= half; first += Own::parts() * groups) {
    const int own = first + stamp.group * Own::parts();
    const int of_warp = first + threadIdx.x / 32 * 32 / lanes * Own::parts();
    Complex<T> v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int i = lane + k * lanes;
      v[k] = {0, 0};
      if (i < s && own <= half) v[k] = stamp.row(i, own);
    }
    const Placed<T, n, table> object(plan, busy ? j : 0, room_for_waves(stamp));
    Complex<T> x = object.along_x[first];
    roots.put(stamp.shared.roots);
    __syncthreads();
    if (lanes > 32 || of_warp <= half) {
      transform<n>(v, stamp.shared.scratch[stamp.group], stamp.shared.roots, lane);
      group_barrier<n>();
#pragma unroll
      for (int k = 0; k < 8; ++k) stamp.shared.scratch[stamp.group][lane + k * lanes] = v[k];
    }
    __syncthreads();
#pragma unroll 1
    for (int c = first, slot = 0; busy && slot < groups && c <= half; c += Own::parts(), ++slot) {
      const Complex<T>* residual = stamp.shared.scratch[slot];
      Moments<T> part;
      const auto meet = [&](int r, Complex<T> with) {
        const T a = object.profile(c, r), square = a * a;
        accumulate_sample(part, square, a * square,
                          conjugate(with) * object.turned_response(x, c, r), r);
      };
#pragma unroll 4
      for (int k = 0; k < 8; ++k)
        meet(lane + k * lanes - (k < 4 ? 0 : n), residual[lane + k * lanes]);
      if (lane == 0) meet(half, residual[half]);
      Own::add(totals, part, c, c == 0 ? 1 : 2);
      if (c + Own::parts() <= half) x = object.along_x[c + Own::parts()];
    }
    __syncthreads();
  }
  constexpr int neighbours = lanes < 32 ? lanes : 32, warps = lanes / neighbours;
#pragma unroll
  for (int k = 1; k < 7; ++k)
#pragma unroll
    for (int distance = neighbours / 2; distance > 0; distance /= 2)
      totals[k] += __shfl_down_sync(0xffffffffu, totals[k], distance);
  if (!busy || lane % 32 != 0) return;
  const long long piece = Own::part() * warps + lane / 32;
#pragma unroll
  for (int k = 1; k < 7; ++k) plan.sums[(piece * plan.objects + j) * 6 + k - 1] = totals[k];
}

// The sum of `count` numbers in their order, loaded `at_once` at a time.
template <int at_once>
__device__ double sum_of(const double* first, int count, long long stride) {
  double sum = 0;
#pragma unroll 1
  for (int done = 0; done < count; done += at_once) {
    double values[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) values[k] = done + k < count ? first[(done + k) * stride] : 0;
#pragma unroll
    for (int k = 0; k < at_once; ++k) sum += values[k];
  }
  return sum;
}

// One block. For some objects at a time, adds up the pieces of their sums, one strand per thread,
// and makes shares of them, which thread 0 adds up. Then each state advances.
template <class T>
__global__ void __launch_bounds__(galaxy_shear::finishing_threads)
    scene_finish(galaxy_shear::SceneModel model, galaxy_shear::ScenePlan<T> plan, int parts,
                 int pieces, double* loss) {
  constexpr int some = galaxy_shear::objects_at_once;
  constexpr int strands = galaxy_shear::finishing_threads / (6 * some);
  __shared__ double sums[strands][6 * some];
  __shared__ galaxy_shear::Share shares[some];
  __shared__ galaxy_shear::Together all;
  if (threadIdx.x == galaxy_shear::finishing_threads - 1) {
    const double prior = plan.points[0].prior;
    all = galaxy_shear::alone(model, prior, sum_of<4>(plan.misfits, parts, 1) / 2);
  }
#pragma unroll 1
  for (int first = 0; first < plan.objects; first += some) {
    const int rest = plan.objects - first, count = rest < some ? rest : some;
    galaxy_shear::Point point;
    if (threadIdx.x < count) point = plan.points[1 + first + threadIdx.x];
    const int strand = threadIdx.x / (6 * some), which = threadIdx.x % (6 * some);
    if (strand < strands && which < 6 * count) {
      const long long stride = 6ll * plan.objects;
      sums[strand][which] = sum_of<16>(plan.sums + strand * stride + 6 * first + which,
                                       (pieces - strand + strands - 1) / strands, strands * stride);
    }
    __syncthreads();
    if (threadIdx.x < count) {
      double total[6] = {};
      for (int k = 0; k < 6; ++k)
        for (int part = 0; part < strands; ++part) total[k] += sums[part][6 * threadIdx.x + k];
      const int j = first + threadIdx.x;
      shares[threadIdx.x] = galaxy_shear::share_of(
          model, point, {total[0], total[1], total[2], total[3], total[4], total[5]});
      plan.shares[j] = shares[threadIdx.x];
    }
    __syncthreads();
    if (threadIdx.x == 0)
      for (int j = 0; j < count; ++j) galaxy_shear::join(all, shares[j]);
  }
  __syncthreads();
#pragma unroll 1
  for (int first = 0; first <= plan.objects; first += galaxy_shear::finishing_threads / 8) {
    const int part = first + threadIdx.x / 8, latent = threadIdx.x % 8;
    const galaxy_shear::Model& own = part == 0 ? model.shear : model.object;
    const bool moves = part <= plan.objects && latent < own.latents;
    galaxy_shear::Move move;
    if (moves)
      move = galaxy_shear::move_of(own, plan.points[part], all,
                                   part == 0 ? all.gradient : plan.shares[part - 1].gradient,
                                   plan.states[part], latent);
    __syncthreads();
    if (!moves) continue;
    const double now = galaxy_shear::carry_out(move, own, all.loss, latent, plan.states[part]);
    if (part == 0 && latent == 0) *loss = now;
  }
}
