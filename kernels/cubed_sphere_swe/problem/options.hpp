// SPDX-License-Identifier: Apache-2.0
// Sizes, options and the parts of a tendency.
#pragma once

#include "cubed_sphere_swe/problem/operators.hpp"
#include "runtime/base/precision.hpp"

namespace holdfast::cubed_sphere_swe {

struct Size {
  int n = 48;  // cells along a panel's edge, 8 .. 8192
};

enum class Start { seed, face, edge, vertex, tilt, mode1, mode2, random };
enum class MetricSign {
  correct,
  upstream
};  // of Q12; `upstream` replays published logs and nothing else

// How a loop's steps are launched: one by one; one recorded step, replayed; one recorded loop; one
// kernel that stays on the device for all steps (optimized only). The host supports only `host`.
enum class Launch { host, graph_step, graph, persistent };
// Where the mass after each step of a loop is computed: nowhere; on the device, which keeps it; on
// the device, with the host reading it back each time, which is the anti-pattern (unsupported on
// host).
enum class Diagnostics { none, device, host };
enum class RungeKutta { horner, classical };    // optimized variant: without or with accumulator
enum class MetricSource { table, on_the_fly };  // optimized variant on a device
enum class GemmSource { library, tile };  // reference on a device: cuBLAS, or our own tiled kernel

struct Options {
  Start start = Start::random;
  MetricSign q12 = MetricSign::correct;
  Precision precision = Precision::f64;  // of arithmetic and storage
  Launch launch = Launch::host;
  Diagnostics diagnostics = Diagnostics::none;
  RungeKutta runge_kutta = RungeKutta::horner;
  MetricSource metric = MetricSource::table;
  GemmSource gemm = GemmSource::library;
  double dt = 0;    // 0: 1 / (3 n)
  int steps = 100;  // per loop
  bool allow_unstable = false;
};

// The parts of a tendency, each with inputs in place that were computed from the start; the host
// computes u1, u2 and A h.
struct Component {
  enum class Kind {
    operator_apply,  // result(): one field, `op` along x`direction` of the field it applies to: h
                     // for Dvc and Pvc, v1 or v2 for Dcv and Pcv
    project,         // A h
    gradient,        // dv1, dv2 = -g Dvc A h; with one component dv1 alone
    contravariant,   // v^1, v^2
    divergence,      // Dcv u1 + Dcv u2, without the penalty
    sat,             // the divergence, to which each step() adds the penalty again
  };
  Kind kind = Kind::project;
  Operator op = Operator::dvc;  // for operator_apply: dvc, dcv, pvc or pcv
  int direction = 1;            // for operator_apply: 1 or 2
  int components = 2;           // for gradient
};

}  // namespace holdfast::cubed_sphere_swe
