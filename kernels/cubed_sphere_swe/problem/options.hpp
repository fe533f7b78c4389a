// SPDX-License-Identifier: Apache-2.0
// What is computed and how: sizes, options, the parts of a tendency.
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

// How a loop's steps reach the device: one by one; one recorded step, replayed; one recorded loop;
// one kernel that stays on the device for all of them (optimized only). On host there is `host`
// alone.
enum class Launch { host, graph_step, graph, persistent };
// Who forms the mass after each step of a loop: nobody; the device, which keeps it there; the
// device, and the host reads it back each time, which is the anti-pattern (absent on host).
enum class Diagnostics { none, device, host };
enum class RungeKutta {
  horner,
  classical
};  // of the optimized variant: without or with an accumulator
enum class MetricSource { table, on_the_fly };  // of the optimized variant on a device
enum class GemmSource {
  library,
  tile
};  // of the reference on a device: cuBLAS, or a tiled kernel of our own

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
  int steps = 100;  // of a loop
  bool allow_unstable = false;
};

// The parts of a tendency, each with its inputs in place and formed from the start: u1, u2 by the
// host, A h likewise.
struct Component {
  enum class Kind {
    operator_apply,  // result(): one field, `op` along x`direction` of the field it applies to: h
                     // for Dvc and Pvc, v1 or v2 for Dcv and Pcv
    project,         // A h
    gradient,        // dv1, dv2 = -g Dvc A h; with one component dv1 alone
    contravariant,   // v^1, v^2
    divergence,      // Dcv u1 + Dcv u2, without the penalty
    sat,             // the divergence, to which each step() adds the penalty once more
  };
  Kind kind = Kind::project;
  Operator op = Operator::dvc;  // of operator_apply: dvc, dcv, pvc or pcv
  int direction = 1;            // of operator_apply: 1 or 2
  int components = 2;           // of gradient
};

}  // namespace holdfast::cubed_sphere_swe
