// SPDX-License-Identifier: Apache-2.0
// Private to the variants: inputs that take turns where they lie, of parts of a tendency, which are
// linear in them: number 0 is what a part began with, number 1 twice that, to the last bit.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

namespace holdfast::cubed_sphere_swe {

class Turns {
 public:
  // What makes the inputs that are there those of this number.
  double to(int number) {
    const double factor = std::ldexp(1., number - number_);
    number_ = number;
    return factor;
  }

 private:
  int number_ = 0;
};

// In host memory: a buffer, a field or a vector.
template <class Values>
void multiply(Values& values, double factor) {
  auto* const all = values.data();
  using T = std::remove_reference_t<decltype(*all)>;
  for (std::size_t k = 0; k < values.size(); ++k) all[k] *= static_cast<T>(factor);
}

}  // namespace holdfast::cubed_sphere_swe
