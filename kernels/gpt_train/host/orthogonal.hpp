// SPDX-License-Identifier: Apache-2.0
// Muon's update: updates moments, orthogonalises matrices of one shape together, updates
// parameters. Compiled per instruction set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "arrays/host_loops.hpp"
#include "gpt_train/host/newton_schulz.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/stepped/held.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class Orthogonal {
 public:
  Orthogonal(Backend& backend, const std::vector<Tensor>& tensors)
      : groups_(groups_of(tensors)),
        scratch_(backend, scratch_size(groups_), "scratch: Newton-Schulz") {}

  void operator()(Blas& blas, const Rates& rates, const Held<T>& gradients,
                  std::vector<Held<T>>& moments, Held<T>& parameters) const {
    for (const auto& [sizes, members] : groups_)
      for (std::size_t i = 0; i < rates.timescales.size(); ++i) {
        const auto count = static_cast<std::int64_t>(members.size());
        const std::int64_t at_a_time = slots(sizes, count);
        for (std::int64_t first = 0; first < count; first += at_a_time)
          some(blas, rates, i, sizes, members.data() + first, std::min(at_a_time, count - first),
               gradients, moments[i], parameters);
      }
  }

 private:
  using Groups = std::map<std::pair<int, int>, std::vector<std::size_t>>;  // by least, greatest

  static std::int64_t slots(const std::pair<int, int>& sizes, std::int64_t members) {
    return matrices_at_a_time(sizes.first, sizes.second, members, sizeof(T));
  }

  // One timescale of some matrices of one shape. Adding one timescale's part to a parameter after
  // the other gives the same as adding their sum.
  void some(Blas& blas, const Rates& rates, std::size_t i, const std::pair<int, int>& sizes,
            const std::size_t* members, std::int64_t count, const Held<T>& gradients,
            const Held<T>& moments, Held<T>& parameters) const {
    const auto [m, q] = sizes;
    const std::int64_t each = std::int64_t{m} * q, square = std::int64_t{m} * m;
    T *x = scratch_.data(), *next = x + count * each, *gram = next + count * each,
      *factor = gram + count * square;
    const std::vector<Tensor>& tensors = parameters.tensors();
    arrays::HOLDFAST_ISA::each_long<T>(count, 16 * each, [&](std::int64_t k) {
      const Tensor& tensor = tensors[members[k]];
      gather(rates.timescales[i], tensor, gradients.at(members[k]),
             moments.of(tensor.kind, tensor.layer), gradients.pitch(members[k]), x + k * each);
    });
    make_orthogonal(blas, m, q, static_cast<int>(count), x, next, gram, factor);
    arrays::HOLDFAST_ISA::each_long<T>(count, 16 * each, [&](std::int64_t k) {
      apply(rates, i, tensors[members[k]], x + k * each, parameters.pitch(members[k]),
            parameters.at(members[k]));
    });
  }

  static Groups groups_of(const std::vector<Tensor>& tensors) {
    Groups groups;
    for (std::size_t k = 0; k < tensors.size(); ++k)
      if (tensors[k].role == Role::matrix)
        groups[std::minmax({tensors[k].rows, tensors[k].columns})].push_back(k);
    return groups;
  }
  static std::size_t scratch_size(const Groups& groups) {
    std::int64_t most = 0;
    for (const auto& [sizes, members] : groups) {
      const std::int64_t m = sizes.first, q = sizes.second;
      const auto count = static_cast<std::int64_t>(members.size());
      most = std::max(most, slots(sizes, count) * 2 * (m * q + m * m));
    }
    return most;
  }

  // Updates the moment and writes the matrix to orthogonalise to x, with norm 1.
  static void gather(const Timescale& scale, const Tensor& tensor, const T* gradient, T* moment,
                     int pitch, T* x) {
    const T gain = static_cast<T>(scale.gain), beta = static_cast<T>(scale.beta);
    const T own = static_cast<T>(1 - scale.beta);
    each_place(tensor.rows, tensor.columns, pitch, [=](std::int64_t at, std::int64_t to) {
      const T g = gradient[at], next = gain * g + beta * moment[at];
      moment[at] = next;
      x[to] = own * g + beta * next;
    });
    normalise(x, tensor.size());
  }

  // The first timescale also applies the decay, while parameters still have their old values.
  static void apply(const Rates& rates, std::size_t i, const Tensor& tensor, const T* o, int pitch,
                    T* p) {
    const double rate = rates.muon_rate * muon_stretch(tensor.rows, tensor.columns);
    const T step = static_cast<T>(rate * rates.timescales[i].weight);
    const T kept = static_cast<T>(i == 0 ? 1 - rate * muon_decay : 1);
    each_place(tensor.rows, tensor.columns, pitch,
               [=](std::int64_t at, std::int64_t from) { p[at] = kept * p[at] - step * o[from]; });
  }

  Groups groups_;
  Buffer<T> scratch_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
