// SPDX-License-Identifier: Apache-2.0
// What a model holds on a device besides its tensors, and what of it is a result.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "gpt_train/device/places.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/spoil.hpp"

namespace holdfast::gpt_train {

class ModelMemory {
 public:
  ModelMemory(Backend& backend, const Problem& problem)
      : device_(*backend.device),
        problem_(problem),
        s_(problem.options.shape),
        places(problem),
        activations(backend, std::max(places.bytes, newton_schulz_bytes(problem)), "activations"),
        segments(backend, problem.unit == Unit::update ? 0 : s_.tokens(), "inputs: segments"),
        losses(backend, problem.has_head() ? s_.tokens() : 0, "result: losses"),
        logits(backend, logit_bytes(problem) / sizeof(Bf16), "logits") {}

  template <class T>
  T* at(Part<T> part) const {
    return place_in(activations.data(), part);
  }
  LayerSlot slot(int l) const { return {activations.data(), places, problem_, l}; }
  Bf16* last() const { return last_stream(activations.data(), places, problem_); }
  float* inverse_of_last() const {
    return at(places.inverses) + 2 * held_layers(problem_) * s_.tokens();
  }

  // Of a unit, but for gradients of tensors.
  void tell(std::vector<double>& to) const {
    const int da = s_.query_width(), dk = s_.key_width(), d = s_.width;
    if (problem_.unit == Unit::forward)
      for (const float loss : losses.to_host()) to.push_back(loss);
    if (problem_.unit == Unit::layer_forward) rows(at(places.x) + s_.tokens() * d, d, 0, d, to);
    if (problem_.unit == Unit::attention_forward) rows(at(places.o), da, 0, da, to);
    if (problem_.unit == Unit::attention_backward)
      for (const auto& [first, width] : {std::pair{0, da}, {da, dk}, {da + dk, dk}})
        rows(at(places.d_qkv), da + 2 * dk, first, width, to);
    if (problem_.unit == Unit::layer_backward || problem_.unit == Unit::lm_head)
      rows(at(places.dx), d, 0, d, to);
  }
  // What tell() takes of memory that stages share, as long as no step has written it.
  void spoil_result(Backend& backend) const {
    const auto spoilt = [&](Bf16* rows, int width) {
      spoil(backend, rows, static_cast<std::size_t>(s_.tokens() * width) * sizeof(Bf16));
    };
    const int da = s_.query_width(), d = s_.width;
    if (problem_.unit == Unit::layer_forward) spoilt(at(places.x) + s_.tokens() * d, d);
    if (problem_.unit == Unit::attention_forward) spoilt(at(places.o), da);
    if (problem_.unit == Unit::attention_backward)
      spoilt(at(places.d_qkv), da + 2 * s_.key_width());
    if (problem_.unit == Unit::layer_backward || problem_.unit == Unit::lm_head)
      spoilt(at(places.dx), d);
  }

 private:
  // Columns of n rows.
  void rows(const Bf16* from, int pitch, int first, int width, std::vector<double>& to) const {
    const std::int64_t n = s_.tokens();
    std::vector<Bf16> all(static_cast<std::size_t>(n) * pitch);
    device_.download(all.data(), from, all.size() * sizeof(Bf16));
    for (std::int64_t row = 0; row < n; ++row)
      for (int j = first; j < first + width; ++j) to.push_back(widened(all[row * pitch + j]));
  }

  Device& device_;
  Problem problem_;
  Shape s_;

 public:
  const Activations places;
  Buffer<std::byte> activations;
  Buffer<int> segments;
  Buffer<float> losses;
  Buffer<Bf16> logits;
};

}  // namespace holdfast::gpt_train
