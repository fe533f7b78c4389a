// SPDX-License-Identifier: Apache-2.0
// For tests: how the warps of emulated kernels access device and shared memory.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "base/text.hpp"
#include "computation.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/emulation/traffic.hpp"

namespace holdfast {

// Of a kernel. More sectors in all are data read again; more over the least that hold the bytes of
// each request are neighbouring threads that access places far apart. Conflicts of banks are
// wavefronts of shared memory over the least.
struct Accesses {
  double sectors = 0, over_least = 1, bank_conflicts = 1;
};

inline Accesses accesses_of(const emulation::Traffic& traffic) {
  const auto ratio = [](std::int64_t all, std::int64_t least) {
    return all == 0 ? 1 : static_cast<double>(all) / static_cast<double>(least);
  };
  return {.sectors = static_cast<double>(traffic.sectors),
          .over_least = ratio(traffic.sectors, traffic.least_sectors),
          .bank_conflicts = ratio(traffic.wavefronts, traffic.least_wavefronts)};
}

inline std::string shown(const Accesses& of) {
  return text("{", of.sectors, ", ", of.over_least, ", ", of.bank_conflicts, "}");
}

// Every kernel of the next step must be accepted, and access no more than that: within a hundredth,
// which is what another compiler may keep in registers or not.
inline void expect_traffic(Backend& emulated, Computation& computation,
                           const std::map<std::string, Accesses>& accepted) {
  const auto more = [](double now, double before) { return now > 1.01 * before; };
  const emulation::TrafficRecord record;
  computation.step();
  emulated.device->synchronize();
  for (const auto& [kernel, traffic] : record.kernels()) {
    const Accesses now = accesses_of(traffic);
    const auto found = accepted.find(kernel);
    const Accesses before = found == accepted.end() ? Accesses{} : found->second;
    if (more(now.sectors, before.sectors) || more(now.over_least, before.over_least) ||
        more(now.bank_conflicts, before.bank_conflicts))
      ADD_FAILURE() << kernel << " accesses more than accepted, " << shown(now) << " after "
                    << shown(before)
                    << ": sectors, these over the least, wavefronts over the least; let "
                       "neighbouring threads access neighbouring places, or accept it here";
  }
  for (const auto& [kernel, accesses] : accepted)
    EXPECT_TRUE(record.kernels().contains(kernel)) << kernel << " accessed nothing";
}

}  // namespace holdfast
