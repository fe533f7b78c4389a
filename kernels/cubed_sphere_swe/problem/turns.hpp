// SPDX-License-Identifier: Apache-2.0
// Private to the variants: switches the inputs of a part of a tendency in place between number 0,
// the original, and number 1, exactly twice that; parts are linear in their inputs.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

namespace holdfast::cubed_sphere_swe {

class Turns {
 public:
  // The factor that turns the present inputs into those of this number.
  double to(int number) {
    const double factor = std::ldexp(1., number - number_);
    number_ = number;
    return factor;
  }

 private:
  int number_ = 0;
};

// For host memory: a buffer, a field or a vector.
template <class Values>
void multiply(Values& values, double factor) {
  auto* const all = values.data();
  using T = std::remove_reference_t<decltype(*all)>;
  for (std::size_t k = 0; k < values.size(); ++k) all[k] *= static_cast<T>(factor);
}

}  // namespace holdfast::cubed_sphere_swe
