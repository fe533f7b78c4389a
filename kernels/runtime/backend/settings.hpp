// SPDX-License-Identifier: Apache-2.0
// Environment settings of the run-time layer, each rejected in one sentence if invalid.
#pragma once

namespace holdfast {

// Reads every setting of this layer once and throws Error{bad_input} for the first invalid one, so
// that a typing error is reported before anything is measured. Called by open_backend.
void check_settings();

}  // namespace holdfast
