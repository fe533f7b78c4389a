// SPDX-License-Identifier: Apache-2.0
// The functions behind the table of detectors: each looks for one symptom, and is silent where the
// numbers for it are unknown.
#pragma once

#include "gate/explain/detectors.hpp"

namespace holdfast::gate::symptoms {

using Look = std::optional<Symptom>(const Sighting& seen, double threshold);

inline constexpr double idle_threshold = 0.2;  // of a step: beyond it the device waits
Look idle_gaps, low_utilisation;
Look transfers_in_the_loop, syncs_in_the_loop;
Look compilations_after_warmup, compile_dominates;
Look slow_gradient, slow_loop;
Look peak_over_estimate, peak_over_work, peak_over_reference;
Look one_kernel_dominates, slow_operation, many_tiny_kernels, many_scatters, many_launches;

}  // namespace holdfast::gate::symptoms
