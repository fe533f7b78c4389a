// SPDX-License-Identifier: Apache-2.0
// The reaction to transfers where there should be none.
#pragma once

namespace holdfast {

// HOLDFAST_TRANSFER_GUARD=log|error: what to do about a transfer in a steady step.
enum class TransferGuard { off, log, error };
TransferGuard transfer_guard();  // throws Error{bad_input} for an invalid value

}  // namespace holdfast
