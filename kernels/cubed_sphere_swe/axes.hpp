// SPDX-License-Identifier: Apache-2.0
// The axes of a case id by name: what each enumerator is called, and back. A name that is not in
// its list throws Error{bad_input} "unknown ..." with the list.
#pragma once

#include <string_view>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"

namespace holdfast::cubed_sphere_swe {

std::string_view name(Start value);         // seed, face, edge, vertex, tilt, mode1, mode2, random
std::string_view name(MetricSign value);    // correct, upstream
std::string_view name(Launch value);        // host, graph_step, graph, persistent
std::string_view name(Diagnostics value);   // none, device, host
std::string_view name(RungeKutta value);    // horner, classical
std::string_view name(MetricSource value);  // table, on_the_fly
std::string_view name(GemmSource value);    // library, tile
std::string_view name(Operator value);      // dcv, dvc, pcv, pvc, adjoint
// operator_apply, project, gradient, contravariant, divergence, sat
std::string_view name(Component::Kind value);

Start start(std::string_view name);
MetricSign metric_sign(std::string_view name);
Launch launch(std::string_view name);
Diagnostics diagnostics(std::string_view name);
RungeKutta runge_kutta(std::string_view name);
MetricSource metric_source(std::string_view name);
GemmSource gemm_source(std::string_view name);
Operator operator_of(std::string_view name);
Precision precision(std::string_view name);
Component::Kind component_kind(std::string_view name);

}  // namespace holdfast::cubed_sphere_swe
