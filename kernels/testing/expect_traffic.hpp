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

// Every kernel of the next step must be accepted and access as much as that, within a hundredth,
// which is what another compiler may keep in registers or not. Less is accepted anew too: else a
// later change may lose it again, and it may be an access that is seen no more (traffic.hpp).
inline void expect_traffic(Backend& emulated, Computation& computation,
                           const std::map<std::string, Accesses>& accepted) {
  constexpr double tolerance = 1.01;
  const auto any = [](const Accesses& a, const Accesses& b, const auto& holds) {
    return holds(a.sectors, b.sectors) || holds(a.over_least, b.over_least) ||
           holds(a.bank_conflicts, b.bank_conflicts);
  };
  const auto more = [](double a, double b) { return a > tolerance * b; };
  const emulation::TrafficRecord record;
  computation.step();
  emulated.device->synchronize();
  for (const auto& [kernel, traffic] : record.kernels()) {
    const Accesses now = accesses_of(traffic);
    const std::string what = ": sectors, these over the least, wavefronts over the least; ";
    const auto found = accepted.find(kernel);
    if (found == accepted.end())
      ADD_FAILURE() << kernel << " is not accepted yet, " << shown(now) << what << "accept it here";
    else if (any(now, found->second, more))
      ADD_FAILURE() << kernel << " accesses more than accepted, " << shown(now) << " after "
                    << shown(found->second) << what
                    << "let neighbouring threads access neighbouring places, or accept it here";
    else if (any(found->second, now, more))
      ADD_FAILURE() << kernel << " accesses less than accepted, " << shown(now) << " after "
                    << shown(found->second) << what
                    << "accept it here, or find what is no longer seen (traffic.hpp)";
  }
  for (const auto& [kernel, accesses] : accepted)
    EXPECT_TRUE(record.kernels().contains(kernel)) << kernel << " accessed nothing";
}

}  // namespace holdfast
