// SPDX-License-Identifier: Apache-2.0
// Private to the variants: a problem's data in memory that a backend's code can read.
#pragma once

#include <string>
#include <vector>

#include "runtime/backend/buffer.hpp"
#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

// Copies [first, first + count) of the data to `to` and waits. Does nothing where nothing executes.
inline void bring(Device& device, const Input& input, std::int64_t first, std::int64_t count,
                  double* to) {
  device.upload(to, input.sized_only ? nullptr : input.data.data() + first,
                static_cast<std::size_t>(count) * sizeof *to);
}

// `values`, data or weights, as T; empty if they are not needed.
template <class T>
Buffer<T> held(Backend& backend, const Problem& problem, std::vector<double> Input::*values,
               bool wanted, std::string site) {
  const Input& input = *problem.input;
  if (!wanted) return {backend, 0, std::move(site)};
  Buffer<T> all(backend, static_cast<std::size_t>(input.size.points()), std::move(site));
  const std::vector<double>& from = input.*values;
  if (input.sized_only)
    backend.device->upload(all.data(), nullptr, all.bytes());
  else
    all.upload(std::vector<T>(from.begin(), from.end()));
  return all;
}
template <class T>
Buffer<T> held_data(Backend& backend, const Problem& problem, bool wanted = true) {
  return held<T>(backend, problem, &Input::data, wanted, "inputs");
}
template <class T>
Buffer<T> held_weights(Backend& backend, const Problem& problem) {
  return held<T>(backend, problem, &Input::weights, problem.options.weights == Weights::array,
                 "inputs: weights");
}

// The data for host code that also reads them; zeros if there are none.
inline std::vector<double> data_or_zeros(const Problem& problem) {
  const Input& input = *problem.input;
  return input.sized_only ? std::vector<double>(static_cast<std::size_t>(input.size.points()))
                          : input.data;
}

}  // namespace holdfast::xpcs_fit
