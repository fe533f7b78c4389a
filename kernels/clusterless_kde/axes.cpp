// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/axes.hpp"

#include "runtime/words.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr Words<Size, 8> sizes = {
    "size", {"tiny", "small", "medium", "large", "realistic", "tet64", "hpc1d", "hpc2d"}};
constexpr Words<Marks, 3> marks = {"data", {"profile", "cells", "whiten"}};
constexpr Words<Arithmetic, 5> arithmetics = {"arithmetic",
                                              {"f32", "ffma", "bf16x3", "tf32", "f64"}};
constexpr Words<Algorithm, 4> algorithms = {"algo", {"linear", "lse", "clm", "fused"}};
constexpr Words<Distance, 2> distances = {"distance", {"difference", "expanded"}};
constexpr Words<Values, 2> values = {"psi", {"stored", "recomputed"}};

}  // namespace

std::string_view name(Size value) {
  return sizes.of(value);
}
std::string_view name(Marks value) {
  return marks.of(value);
}
std::string_view name(Arithmetic value) {
  return arithmetics.of(value);
}
std::string_view name(Algorithm value) {
  return algorithms.of(value);
}
std::string_view name(Distance value) {
  return distances.of(value);
}
std::string_view name(Values value) {
  return values.of(value);
}

Size size_of(std::string_view word) {
  return sizes.read(word);
}
Marks marks_of(std::string_view word) {
  return marks.read(word);
}
Arithmetic arithmetic_of(std::string_view word) {
  return arithmetics.read(word);
}
Algorithm algorithm_of(std::string_view word) {
  return algorithms.read(word);
}
Distance distance_of(std::string_view word) {
  return distances.read(word);
}
Values values_of(std::string_view word) {
  return values.read(word);
}

}  // namespace holdfast::clusterless_kde
