// SPDX-License-Identifier: Apache-2.0
// For tests: the cost of a computation on the dry device.
#pragma once

#include <memory>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {

struct DryRun {
  // `make` takes the backend and returns the computation.
  template <class Make>
  DryRun(int sm, const Make& make)
      : backend(open_backend(text("cuda-dry:sm_", sm))),
        computation(make(*backend)),
        setup(backend->ledger.counts) {}

  // The counts of one steady step, with the computation's own permissions.
  Counts step() {
    const Counts before = backend->ledger.counts;
    backend->ledger.enter(Ledger::Phase::steady, computation->permissions());
    computation->step();
    backend->ledger.enter(Ledger::Phase::building);
    return backend->ledger.counts - before;
  }

  std::unique_ptr<Backend> backend;
  std::unique_ptr<Computation> computation;
  Counts setup;  // before the first step
};

}  // namespace holdfast
