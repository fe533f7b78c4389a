// SPDX-License-Identifier: Apache-2.0
// For the tests of a suite: its metrics for known times, and the cases that they compare.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "families/family.hpp"
#include "harness/measure/account.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {

// Each derived metric of a row if a step of its case takes two seconds, and one of the compared
// case three.
template <class Row>
std::map<std::string, double> beside_three_seconds(const Row& row) {
  std::map<std::string, double> all;
  for (const Derived& one : row.family->derived(row))
    all[one.name] = one.factor * (one.form == Derived::Form::other_over_case ? 3. / 2 : 2. / 3);
  return all;
}

// Each rate of a row whose step takes a second.
template <class Row>
std::map<std::string, double> rates_in_a_second(const Row& row) {
  std::map<std::string, double> all;
  for (const Rate& one : row.family->rates(row)) all[one.name] = one.per_step;
  return all;
}

// Host bytes of a row, and of the row that one of its metrics compares with.
template <class Row>
std::int64_t bytes_of(const Row& row, Variant variant = Variant::optimized) {
  const auto backend = open_backend("host");
  const auto computation = make(row, *backend, variant);
  return backend->ledger.peak_bytes;
}
template <class Row>
std::int64_t bytes_beside(const Row& row, std::string_view name) {
  for (const Derived& one : row.family->derived(row)) {
    if (one.name != name) continue;
    const auto backend = open_backend("host");
    const auto computation = one.other(*backend);
    return backend->ledger.peak_bytes;
  }
  throw Error(Fault::bad_input, text("no metric ", name));
}

// Bytes that a steady step of a row uploads to a device, over the minimum that its case declares.
template <class Row>
double brought_of_what_must_be(const Row& row, Variant variant) {
  const Subject subject = account(steps_of(row), variant, "cuda-dry:sm_90");
  return static_cast<double>(subject.measured.step.h2d_bytes) /
         subject.measured.least_upload_bytes.value();
}

}  // namespace holdfast
