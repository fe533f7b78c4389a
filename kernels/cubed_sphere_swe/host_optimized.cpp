// SPDX-License-Identifier: Apache-2.0
// What changed against host_reference.cpp, and what it was measured to bring (f64, on a shared
// 2-core x86-64-v4 virtual machine). All of it together, interleaved, on two threads: 13.6x faster
// at n = 96 (median of three runs, 13.6 to 14.8), nearly all of it from the first change. For
// others: CPU time of one thread without the change over with it, at n = 24, 48, 96, 192.
//
// - Banded rows, not dense products: 69 operations per point and tendency, not 16 (n + 1).
// - Penalties folded into the divergence, for F* drops out (README, identities 1 and 2).
// - Projection made while reading, no pass of its own: 1.08, 1.06, 1.04, 1.02.
// - Horner's form of RK4: 11 states moved per step, not 16; three states kept, not six.
// - Whole vectors only: the closures at a row's ends have coefficient vectors of their own.
//   AVX-512 over AVX2: 1.00, 1.08, 1.11, 1.10.
// - Intermediate fields in rings of eight rows per thread, not whole panels: 0.98, 1.00, 0.98,
//   0.90. It costs time beyond the cache and is kept for its memory: 27 rows per thread, not
//   three panels.
// - One parallel region per step() and parts that any thread may take, no barriers: with seven
//   times as many runnable threads as cores the median step at n = 48 took 2.2 ms, not 5.0; the
//   first quartile is the same. A call too short to be worth waking a thread stays on one.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/host_rows.hpp"
#include "cubed_sphere_swe/host_schedule.hpp"
#include "cubed_sphere_swe/operators.hpp"
#include "cubed_sphere_swe/sphere.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "runtime/buffer.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {
namespace {

// Eight scratch rows that hold rows k of a field with the latest eight k.
class Ring {
 public:
  Ring(double* memory, int pitch) : memory_(memory + guard), pitch_(pitch) {}
  double* operator[](int k) const { return memory_ + (k & 7) * pitch_; }

 private:
  double* memory_;
  int pitch_;
};
constexpr int scratch_rows = 3 * 8 + 3;

// Pointers to one state in a buffer: h [6, n+1, n+1], v1 [6, n, n+1], v2 [6, n+1, n].
struct Fields {
  double *h = nullptr, *v1 = nullptr, *v2 = nullptr;
  Fields(double* memory, int n)
      : h(memory + guard), v1(h + height_count(n)), v2(v1 + velocity_count(n)) {}
};

// What a stage is told: out = base + factor * L(z), or factor * L(z) without a base.
struct Stage {
  Fields z, base, out;
  double factor = 0;
  bool has_base = true;
};

// Everything a stage reads and no stage writes.
class Tables {
 public:
  Tables(Backend& backend, int size, const MetricTables& metrics)
      : n(size),
        dx(axis(n).dx),
        jq11(backend, metrics.jq11, "metric"),
        jq22(backend, metrics.jq22, "metric"),
        jq12(backend, metrics.jq12, "metric"),
        inverse_j(backend, metrics.inverse_j, "metric"),
        neighbour(backend, neighbours(n), "neighbours"),
        adjoint(scaled(Operator::adjoint), n + 1, n, operators.adjoint[4]),
        to_vertices(scaled(Operator::pcv), n + 1, n, operators.pcv[4]),
        gradient(scaled(Operator::dvc), n, n + 1, operators.dvc[3]),
        to_centers(scaled(Operator::pvc), n, n + 1, operators.pvc[3]) {}

  int n;
  double dx;
  Buffer<double> jq11, jq22, jq12, inverse_j;
  Buffer<std::int32_t> neighbour;
  ToVertices adjoint, to_vertices;  // per unit spacing
  ToCenters gradient, to_centers;

 private:
  std::vector<double> scaled(Operator which) const {
    std::vector<double> matrix = dense(which, n);
    if (which == Operator::adjoint || which == Operator::dvc)
      for (double& value : matrix) value *= dx;
    return matrix;
  }
};

// One thread's sweep through a block of rows of one panel, all fields at once.
class Sweep {
 public:
  Sweep(const Tables& tables, const Stage& stage, int panel, double* scratch)
      : tables_(tables),
        stage_(stage),
        n_(tables.n),
        panel_(panel),
        pitch_(row_pitch(n_)),
        w2_(scratch, pitch_),
        u1_(scratch + 8 * pitch_, pitch_),
        hp_(scratch + 16 * pitch_, pitch_),
        w1_(scratch + 24 * pitch_ + guard),
        u2_(w1_ + pitch_),
        base_h_(u2_ + pitch_) {}

  // Rows [begin, end) of h and v2, and those of v1 that exist.
  void operator()(int begin, int end) {
    w2_done_ = u1_done_ = hp_done_ = -1;
    for (int i = begin; i < end; ++i) {
      if (i < n_) gradient1(i);
      gradient2(i);
      flux2(i);
      divergence(i);
    }
  }

 private:
  std::size_t at_h(int i) const {
    return (static_cast<std::size_t>(panel_) * (n_ + 1) + i) * (n_ + 1);
  }
  std::size_t at_v1(int i) const { return (static_cast<std::size_t>(panel_) * n_ + i) * (n_ + 1); }
  std::size_t at_v2(int i) const { return (static_cast<std::size_t>(panel_) * (n_ + 1) + i) * n_; }
  std::size_t vertex_row(int i) const { return static_cast<std::size_t>(i) * (n_ + 1); }
  std::size_t center_row(int i) const { return static_cast<std::size_t>(i) * n_; }

  // Row i of A h.
  void load_projected(const double* h, int i, double* to) const {
    const std::int32_t* table = tables_.neighbour.data();
    const auto own = static_cast<int>(at_h(i));
    const auto border = [&](Side side, int k, int j) {
      const std::size_t row = neighbour_row(n_, panel_, side, k);
      to[j] = projected(h, own + j, table[row], table[row + 1]);
    };
    if (i == 0 || i == n_) {
      for (int j = 0; j <= n_; ++j) border(i == 0 ? Side::west : Side::east, j, j);
      return;
    }
    for_columns(n_ + 1, [&](int j, auto) { store(to + j, load(h + own + j)); });
    border(Side::south, i, 0);
    border(Side::north, i, n_);
  }

  // The first of a block's rows is `first`; rows up to `last` become available.
  void need_hp(int first, int last) {
    for (int k = hp_done_ < 0 ? first : hp_done_ + 1; k <= last; ++k)
      load_projected(stage_.z.h, k, hp_[k]);
    hp_done_ = std::max(hp_done_, last);
  }
  void need_w2(int first, int last) {
    for (int k = w2_done_ < 0 ? first : w2_done_ + 1; k <= last; ++k) cross2(k);
    w2_done_ = std::max(w2_done_, last);
  }
  void need_u1(int first, int last) {
    for (int k = u1_done_ < 0 ? first : u1_done_ + 1; k <= last; ++k) flux1(k);
    u1_done_ = std::max(u1_done_, last);
  }

  // The rows that row i of an operator along x1 reads, and their weights.
  template <class RowAt>
  AcrossRows rows_from(const double (&taps)[5], int start, RowAt row_at) const {
    AcrossRows rows;
    for (int k = 0; k < 5; ++k) {
      rows.tap[k] = taps[k];
      rows.row[k] = row_at(start + k);
    }
    return rows;
  }
  template <class RowAt>
  AcrossRows to_vertex_row(const double (&op)[cv_classes][5], int i, RowAt row_at) const {
    return rows_from(op[cv_class(i, n_)], cv_start(i, n_), row_at);
  }
  template <class RowAt>
  AcrossRows to_center_row(const double (&op)[vc_classes][5], int i, RowAt row_at) const {
    return rows_from(op[vc_class(i, n_)], vc_start(i, n_), row_at);
  }

  // w2 = J Q12 (Pcv v2 along x2)
  void cross2(int i) {
    const double* v2 = stage_.z.v2 + at_v2(i);
    const double* jq12 = tables_.jq12.data() + vertex_row(i);
    double* w2 = w2_[i];
    for_columns(n_ + 1, [&](int j, auto part) {
      store(w2 + j, load(jq12 + j) * apply<part.value>(tables_.to_vertices, v2 + j));
    });
  }

  // u1 = J Q11 v1 + Pvc w2 along x1
  void flux1(int i) {
    need_w2(vc_start(i, n_), vc_start(i, n_) + 4);
    const double* v1 = stage_.z.v1 + at_v1(i);
    const double* jq11 = tables_.jq11.data() + vertex_row(i);
    double* u1 = u1_[i];
    const AcrossRows rows = to_center_row(operators.pvc, i, [&](int k) { return w2_[k]; });
    for_columns(n_ + 1, [&](int j, auto) {
      store(u1 + j, load(jq11 + j) * load(v1 + j) + apply(rows, j));
    });
  }

  // w1 = J Q12 (Pcv v1 along x1); u2 = J Q22 v2 + Pvc w1 along x2
  void flux2(int i) {
    const double* jq12 = tables_.jq12.data() + vertex_row(i);
    const AcrossRows rows =
        to_vertex_row(operators.pcv, i, [&](int k) { return stage_.z.v1 + at_v1(k); });
    for_columns(n_ + 1, [&](int j, auto) { store(w1_ + j, load(jq12 + j) * apply(rows, j)); });
    const double* v2 = stage_.z.v2 + at_v2(i);
    const double* jq22 = tables_.jq22.data() + center_row(i);
    for_columns(n_, [&](int j, auto part) {
      store(u2_ + j,
            load(jq22 + j) * load(v2 + j) + apply<part.value>(tables_.to_centers, w1_ + j));
    });
  }

  // h: A base - factor (H0 / J) (D~ u1 along x1 + D~ u2 along x2)
  void divergence(int i) {
    need_u1(cv_start(i, n_), cv_start(i, n_) + 4);
    const double* inverse_j = tables_.inverse_j.data() + vertex_row(i);
    const double scale = -mean_depth * stage_.factor / tables_.dx;
    const AcrossRows rows = to_vertex_row(operators.adjoint, i, [&](int k) { return u1_[k]; });
    const double* base = hp_[i];
    if (stage_.has_base && stage_.base.h != stage_.z.h) {
      load_projected(stage_.base.h, i, base_h_);
      base = base_h_;
    }
    add_to(base, stage_.out.h + at_h(i), n_ + 1, [&](int j, auto part) {
      return (scale * load(inverse_j + j)) *
             (apply(rows, j) + apply<part.value>(tables_.adjoint, u2_ + j));
    });
  }

  // v1: base - factor g Dvc (A h) along x1
  void gradient1(int i) {
    need_hp(vc_start(i, n_), vc_start(i, n_) + 4);
    const double scale = -gravity * stage_.factor / tables_.dx;
    const AcrossRows rows = to_center_row(operators.dvc, i, [&](int k) { return hp_[k]; });
    add_to(stage_.base.v1 + at_v1(i), stage_.out.v1 + at_v1(i), n_ + 1,
           [&](int j, auto) { return scale * apply(rows, j); });
  }

  // v2: base - factor g Dvc (A h) along x2
  void gradient2(int i) {
    const double scale = -gravity * stage_.factor / tables_.dx;
    const double* hp = hp_[i];
    add_to(stage_.base.v2 + at_v2(i), stage_.out.v2 + at_v2(i), n_,
           [&](int j, auto part) { return scale * apply<part.value>(tables_.gradient, hp + j); });
  }

  // out = base + change, or the change alone; a row of `columns`.
  template <class Change>
  void add_to(const double* base, double* out, int columns, Change change) const {
    if (stage_.has_base)
      for_columns(columns,
                  [&](int j, auto part) { store(out + j, load(base + j) + change(j, part)); });
    else
      for_columns(columns, [&](int j, auto part) { store(out + j, change(j, part)); });
  }

  const Tables& tables_;
  const Stage& stage_;
  int n_, panel_, pitch_;
  Ring w2_, u1_, hp_;
  double *w1_, *u2_, *base_h_;
  int w2_done_ = -1, u1_done_ = -1, hp_done_ = -1;  // last row present
};

class HostOptimized final : public Computation {
 public:
  HostOptimized(Backend& backend, Problem problem)
      : unit_(problem.unit),
        n_(problem.n),
        steps_(problem.unit == Unit::loop ? problem.steps : 1),
        dt_(problem.dt),
        threads_(host_limits().threads),
        shared_((unit_ == Unit::rhs ? rhs_work({n_}) : rk4_step_work({n_})).flops * steps_ >=
                flops_worth_sharing),
        blocks_(blocks_per_panel()),
        offset_(unit_ == Unit::rhs ? std::vector<double>() : border_offset(n_, problem.start.h)),
        tables_(backend, n_, metric_tables(n_, problem.q12)),
        scratch_(backend, static_cast<std::size_t>(threads_) * scratch_rows * row_pitch(n_),
                 "scratch") {
    for (int k = 0; k < (unit_ == Unit::rhs ? 2 : 3); ++k) {
      states_.emplace_back(backend, state_count(n_) + 2 * guard, "state");
      std::fill_n(states_[k].data(), states_[k].size(), 0.);
    }
    std::fill_n(scratch_.data(), scratch_.size(), 0.);
    const Fields y = fields(0);
    std::copy(problem.start.h.begin(), problem.start.h.end(), y.h);
    std::copy(problem.start.v1.begin(), problem.start.v1.end(), y.v1);
    std::copy(problem.start.v2.begin(), problem.start.v2.end(), y.v2);
  }

  void step() override {
    if (unit_ == Unit::rhs)
      tendency();
    else
      advance(steps_);
    if (unit_ == Unit::loop) project_in_place(fields(0).h);
  }

  std::vector<double> result() override {
    const double* first = fields(unit_ == Unit::rhs ? 1 : 0).h;
    std::vector<double> all(first, first + state_count(n_));
    if (unit_ != Unit::rhs) {
      const std::vector<double> h = project(n_, std::span(all).first(height_count(n_)), offset_);
      std::copy(h.begin(), h.end(), all.begin());
    }
    return all;
  }

  // Horner's form of classical RK4, for L is linear: z = y; for m = 4, 3, 2, 1: z = y + (dt / m) L
  // z.
  void advance(int steps) {
    schedule_.restart();
#pragma omp parallel num_threads(threads_) if (shared_)
    {
      const int thread = omp_get_thread_num(), team = omp_get_num_threads();
      Fields y = fields(0), one = fields(1), two = fields(2);
      for (int stage = 0; stage < 4 * steps; stage += 4) {
        const Stage stages[4] = {{y, y, one, dt_ / 4},
                                 {one, y, two, dt_ / 3},
                                 {two, y, one, dt_ / 2},
                                 {one, y, two, dt_}};
        for (int k = 0; k < 4; ++k)
          schedule_.work(stage + k, thread, team,
                         [&](int part) { do_part(stages[k], part, thread); });
        std::swap(y, two);
      }
    }
    if (steps % 2 == 1) std::swap(states_[0], states_[2]);
  }

  std::span<const double> one_sided_height() const {
    return {fields(0).h, height_count(n_)};
  }

 private:
  Fields fields(int k) const {
    return {states_[k].data(), n_};
  }

  // As few blocks as keep all threads equally busy, for each re-computes a few rows of its
  // neighbours.
  int blocks_per_panel() const {
    int blocks = 1;
    while (panels * blocks % threads_ != 0 && n_ / (blocks + 1) >= 8) ++blocks;
    return blocks;
  }

  void do_part(const Stage& stage, int part, int thread) const {
    double* scratch =
        scratch_.data() + static_cast<std::size_t>(thread) * scratch_rows * row_pitch(n_);
    const int block = part % blocks_;
    Sweep(tables_, stage, part / blocks_, scratch)((n_ + 1) * block / blocks_,
                                                   (n_ + 1) * (block + 1) / blocks_);
  }

  void tendency() {
    const Stage stage = {fields(0), fields(0), fields(1), 1., false};
    schedule_.restart();
#pragma omp parallel num_threads(threads_) if (shared_)
    {
      const int thread = omp_get_thread_num();
      schedule_.work(0, thread, omp_get_num_threads(),
                     [&](int part) { do_part(stage, part, thread); });
    }
    project_in_place(fields(1).h);
  }

  // Each pair and triple of copies is read and written by one iteration.
  void project_in_place(double* h) const {
    for (const Edge& edge : edges())
      for (int k = 1; k < n_; ++k) {
        double& a = h[border_index(n_, edge.panel_a, edge.side_a, k)];
        double& b = h[border_index(n_, edge.panel_b, edge.side_b, edge.reversed ? n_ - k : k)];
        a = b = (a + b) / 2;
      }
    for (const Triple& triple : corners()) {
      double& a = h[corner_index(n_, triple[0])];
      double& b = h[corner_index(n_, triple[1])];
      double& c = h[corner_index(n_, triple[2])];
      a = b = c = corner_mean(a, b, c);
    }
  }

  Unit unit_;
  int n_, steps_;
  double dt_;
  int threads_;
  bool shared_;  // whether one step() is enough work for more than one thread
  int blocks_;
  std::vector<double> offset_;  // what the projection took from the start, given back in result()
  Tables tables_;
  Buffer<double> scratch_;
  std::vector<Buffer<double>> states_ = {};  // y and two stages
  Schedule schedule_{panels * blocks_};
};

}  // namespace

std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem) {
  return std::make_unique<HostOptimized>(backend, std::move(problem));
}

double one_sided_spread(Backend& backend, Problem problem) {
  const int n = problem.n, steps = problem.steps;
  problem.unit = Unit::rk4_step;
  HostOptimized computation(backend, std::move(problem));
  computation.advance(steps);
  double spread = 0;
  for (const double difference : border_offset(n, computation.one_sided_height()))
    spread = std::max(spread, std::abs(difference));
  return spread;
}

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
