// SPDX-License-Identifier: Apache-2.0
// Linear shallow water on the cubed sphere: sizes, options, states and the computations made of them. README.md has
// the mathematics and the notation.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "computation.hpp"
#include "runtime/backend.hpp"

namespace holdfast::cubed_sphere_swe {

struct Size {
  int n = 48;  // cells along a panel's edge, 8 .. 8192
};

enum class Start { seed, face, edge, vertex, tilt, mode1, mode2, random };
enum class MetricSign { correct, upstream };  // of Q12; `upstream` replays published logs and nothing else
enum class Launch { host, graph };            // how a loop's steps reach the device: one by one, or one recorded graph

struct Options {
  Start start = Start::random;
  MetricSign q12 = MetricSign::correct;
  Launch launch = Launch::host;
  double dt = 0;            // 0: 1 / (3 n)
  int steps = 100;          // of a loop
  bool allow_unstable = false;
};

// Throws Error{bad_input} for what cannot be computed, before anything is allocated.
void validate(Size size, const Options& options);
double time_step(Size size, const Options& options);

// h: [6, n+1, n+1] at vertices; v1: [6, n, n+1]; v2: [6, n+1, n]; covariant, row-major, x1 slow.
struct State {
  std::vector<double> h = {}, v1 = {}, v2 = {};
};
State initial_state(Size size, Start start);
State panel_bump(Size size, double amplitude, double width);  // on panel 0, discontinuous at its rim on purpose
void validate(Size size, const State& state);                 // lengths and finiteness

// Per step() of each computation.
Work rhs_work(Size size);
Work rk4_step_work(Size size);
Work loop_work(Size size, const Options& options);

// result(): h, v1, v2 of the tendency or the state, concatenated in this order.
std::unique_ptr<Computation> make_rhs(Backend&, Variant, Size, const Options& = {},
                                      const std::optional<State>& start = {});
std::unique_ptr<Computation> make_rk4_step(Backend&, Variant, Size, const Options& = {},
                                           const std::optional<State>& start = {});
std::unique_ptr<Computation> make_loop(Backend&, Variant, Size, const Options& = {},
                                       const std::optional<State>& start = {});

// High-water mark of device memory of a step or a loop by the formula of the README, for the bound "within 1 %"; a
// tendency alone holds fewer states.
std::int64_t formula_peak_bytes(const Backend&, Variant, Size);

}  // namespace holdfast::cubed_sphere_swe
