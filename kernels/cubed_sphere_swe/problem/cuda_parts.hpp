// SPDX-License-Identifier: Apache-2.0
// Private to the device variants: the parts of a tendency, each alone on the device.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "computation.hpp"
#include "cubed_sphere_swe/problem/problem.hpp"
#include "cubed_sphere_swe/problem/turns.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::cubed_sphere_swe {

template <class T>
std::unique_ptr<Computation> make_reference_part(Backend& backend, const Problem& problem);
template <class T>
std::unique_ptr<Computation> make_optimized_part(Backend& backend, const Problem& problem);

// The inputs, tables and results of a part, each in the order in which they were added.
template <class T>
class PartArrays {
 public:
  explicit PartArrays(Backend& backend) : backend_(backend) {}

  const T* in(const std::vector<double>& values) { return keep(in_, values, "inputs"); }
  const T* table(const std::vector<double>& values, const char* site) {
    return keep(tables_, values, site);
  }
  T* out(std::size_t count) { return out_.emplace_back(backend_, count, "result").data(); }
  T* out(const std::vector<double>& start) {
    start_.assign(start.begin(), start.end());
    return keep(out_, start, "result");
  }
  // Scales the inputs to those of number `input`, and restores a result that started with values,
  // scaled likewise.
  void start_again(int input) {
    const double factor = turns_.to(input);
    const auto turn = [=](Buffer<T>& buffer, std::vector<T> values) {
      multiply(values, factor);
      buffer.upload(values);
      return values;
    };
    for (Buffer<T>& buffer : in_) turn(buffer, buffer.to_host());
    if (!start_.empty()) start_ = turn(out_[0], start_);
  }

  std::vector<double> result() const {
    std::vector<double> all;
    for (const Buffer<T>& field : out_) {
      const std::vector<T> values = field.to_host();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

 private:
  T* keep(std::vector<Buffer<T>>& among, const std::vector<double>& values, const char* site) {
    return among.emplace_back(backend_, std::vector<T>(values.begin(), values.end()), site).data();
  }

  Backend& backend_;
  std::vector<Buffer<T>> in_ = {}, tables_ = {}, out_ = {};
  std::vector<T> start_ = {};
  Turns turns_ = {};
};

}  // namespace holdfast::cubed_sphere_swe
