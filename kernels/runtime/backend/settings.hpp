// SPDX-License-Identifier: Apache-2.0
// What the environment asks of the run-time layer, refused in one sentence where it means nothing.
#pragma once

namespace holdfast {

// Reads every setting of this layer once and throws Error{bad_input} for the first that means
// nothing, so that a typing error is told before anything is measured. open_backend calls it.
void check_settings();

}  // namespace holdfast
