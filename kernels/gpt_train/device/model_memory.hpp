// SPDX-License-Identifier: Apache-2.0
// A model's memory on a device besides its tensors, and which of it is a result.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "gpt_train/device/places.hpp"
#include "gpt_train/device/shared_result.hpp"
#include "runtime/backend/buffer.hpp"

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

  // Appends a unit's result, except for gradients of tensors.
  void tell(std::vector<double>& to) const {
    if (problem_.unit == Unit::forward)
      for (const float loss : losses.to_host()) to.push_back(loss);
    gpt_train::tell(device_, shared_result(), s_.tokens(), to);
  }
  SharedResult<Bf16> shared_result() const {
    const int da = s_.query_width(), dk = s_.key_width(), d = s_.width;
    Bf16* const d_qkv = at(places.d_qkv);
    switch (problem_.unit) {
      case Unit::layer_forward:
        return {whole_rows(at(places.x) + s_.tokens() * d, d)};
      case Unit::attention_forward:
        return {whole_rows(at(places.o), da)};
      case Unit::attention_backward:
        return {{d_qkv, da + 2 * dk, 0, da},
                {d_qkv, da + 2 * dk, da, dk},
                {d_qkv, da + 2 * dk, da + dk, dk}};
      case Unit::layer_backward:
      case Unit::lm_head:
        return {whole_rows(at(places.dx), d)};
      default:
        return {};
    }
  }

 private:
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
