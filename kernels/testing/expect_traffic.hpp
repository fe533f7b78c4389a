// SPDX-License-Identifier: Apache-2.0
// For tests: how the warps of emulated kernels access device and shared memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

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

inline double ratio_of(std::int64_t all, std::int64_t least) {
  return static_cast<double>(all) / static_cast<double>(std::max<std::int64_t>(least, 1));
}

// Every kernel of the next step must be accepted, and access no more than that: within a hundredth,
// which is what another compiler may keep in registers or not.
inline void expect_traffic(Backend& emulated, Computation& computation,
                           const std::map<std::string, Accesses>& accepted) {
  constexpr double slack = 1.01;
  const emulation::TrafficRecord record;
  computation.step();
  emulated.device->synchronize();
  for (const auto& [kernel, traffic] : record.kernels()) {
    const Accesses now = {
        .sectors = static_cast<double>(traffic.sectors),
        .over_least = ratio_of(traffic.sectors, traffic.least_sectors),
        .bank_conflicts =
            traffic.wavefronts == 0 ? 1 : ratio_of(traffic.wavefronts, traffic.least_wavefronts)};
    const auto found = accepted.find(kernel);
    if (found == accepted.end()) {
      ADD_FAILURE() << "not accepted: {\"" << kernel << "\", {" << now.sectors << ", "
                    << now.over_least << ", " << now.bank_conflicts << "}}";
      continue;
    }
    EXPECT_LE(now.sectors, slack * found->second.sectors) << kernel << " touches more sectors";
    EXPECT_LE(now.over_least, slack * found->second.over_least)
        << kernel << " touches more sectors than its requests need";
    EXPECT_LE(now.bank_conflicts, slack * found->second.bank_conflicts)
        << kernel << " has conflicts of banks in shared memory";
  }
  for (const auto& [kernel, accesses] : accepted)
    EXPECT_TRUE(record.kernels().contains(kernel)) << kernel << " accessed nothing";
}

}  // namespace holdfast
