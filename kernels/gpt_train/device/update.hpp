// SPDX-License-Identifier: Apache-2.0
// An update on a device: one launch per rule; Muon's matrices in groups of one shape, over all
// layers and timescales at once, with 19 launches each.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "gpt_train/device/newton_schulz.hpp"
#include "gpt_train/device/tensors.hpp"

namespace holdfast::gpt_train {

// The moments of each rule, one after the other; those of matrices timescale by timescale.
struct Moments {
  Part<float> matrices, embedding, head, norms;
  std::size_t bytes = 0;

  Moments(const Shape& shape, Optimizer optimizer) {
    Packing all;
    const auto of = [&](Role role) {
      std::size_t count = 0;
      for (const Tensor& tensor : tensors_of(shape))
        if (tensor.role == role) count += static_cast<std::size_t>(tensor.size());
      return all.add<float>(count * static_cast<std::size_t>(moments_of(role, optimizer)));
    };
    matrices = of(Role::matrix);
    embedding = of(Role::embedding);
    head = of(Role::head);
    norms = of(Role::norm);
    bytes = all.bytes();
  }
};

class DeviceUpdate {
 public:
  // scratch: newton_schulz_bytes(); logits: their memory, free by the time of an update.
  DeviceUpdate(Backend& backend, const Problem& problem, const DeviceTensors& tensors,
               std::byte* scratch, Bf16* logits)
      : device_(*backend.device),
        shape_(problem.options.shape),
        kernels_(*backend.compiler),
        tensors_(tensors),
        parts_(problem.options.shape, problem.options.optimizer),
        moments_(backend, parts_.bytes, "state: moments"),
        scratch_(scratch),
        logits_(logits),
        logit_bytes_(logit_bytes(problem)) {
    const Rates rates = rates_of(problem.options, 0);
    scales_.count = static_cast<int>(rates.timescales.size());
    for (int i = 0; i < scales_.count; ++i) {
      scales_.beta[i] = static_cast<float>(rates.timescales[i].beta);
      scales_.weight[i] = static_cast<float>(rates.timescales[i].weight);
    }
    if (scales_.count > 0) gather(backend);
  }

  void clear() { device_.fill_zero(moments_.data(), moments_.bytes()); }

  void operator()(Blas& blas, const Schedule* schedule) {
    using enum Role;
    const AdamRule adam = {float(beta1), float(beta2), float(adam_epsilon), 0};
    const auto at = [&](Role role) { return tensors_.range(role); };
    const auto [e, e_count] = at(embedding);
    float* const of_e = part(parts_.embedding);
    kernels_.adam_rows(row_shape(shape_.vocabulary), schedule, adam, tensors_.gradients() + e,
                       shape_.vocabulary, shape_.width, float(greatest_row), of_e, of_e + e_count,
                       tensors_.masters(false) + e, tensors_.copies(false) + e);
    const auto [h, h_count] = at(head);
    float* const of_h = part(parts_.head);
    kernels_.adam_head(flat_shape(h_count, 4), schedule, adam, tensors_.gradients() + h, h_count,
                       of_h, of_h + h_count, tensors_.masters(false) + h,
                       tensors_.copies(false) + h);
    const auto [n, n_count] = at(norm);
    kernels_.lion(flat_shape(n_count), schedule, {float(lion_beta), float(lion_decay)},
                  tensors_.gradients() + n, static_cast<int>(n_count), part(parts_.norms),
                  tensors_.masters(false) + n, tensors_.copies(false) + n);
    if (scales_.count == 0) {
      const std::int64_t count = tensors_.matrix_count();
      AdamRule of_matrices = adam;
      of_matrices.of_matrix = 1;
      float* const of_m = part(parts_.matrices);
      kernels_.adam_matrices(flat_shape(count, 4), schedule, of_matrices,
                             tensors_.matrix_gradients(), count, of_m, of_m + count,
                             tensors_.masters(true), tensors_.copies(true));
    }
    for (std::size_t k = 0; k < groups_.size(); ++k) orthogonalise(blas, schedule, k);
  }

 private:
  // The groups' members, as kernels read them.
  void gather(Backend& backend) {
    const std::vector<Tensor> all = tensors_of(shape_);
    groups_ = matrix_groups(all);
    std::vector<Member> members;
    for (const MatrixGroup& group : groups_) {
      first_.push_back(members.size());
      for (const std::size_t index : group.members)
        tensors_.each_matrix([&](const Tensor& tensor, std::int64_t offset, int pitch) {
          if (tensor.name == all[index].name)
            members.push_back({offset, tensor.rows, tensor.columns, pitch,
                               tensor.rows > tensor.columns,
                               float(muon_stretch(tensor.rows, tensor.columns))});
        });
    }
    members_.emplace(backend, members, "members");
  }

  float* part(Part<float> part) const { return place_in(moments_.data(), part); }

  void orthogonalise(Blas& blas, const Schedule* schedule, std::size_t which) {
    const MatrixGroup& group = groups_[which];
    const Member* const own = members_->data() + first_[which];
    const Bf16* const made = make_orthogonal(
        kernels_, blas, group, {{group, scales_.count, logit_bytes_}, scratch_, logits_},
        {schedule, scales_, own, tensors_.matrix_gradients(), part(parts_.matrices),
         tensors_.matrix_count()});
    kernels_.apply(square_shape(group), schedule, scales_, own, float(muon_decay), made,
                   tensors_.masters(true), tensors_.copies(true));
  }

  Device& device_;
  Shape shape_;
  OptimizerKernels kernels_;
  const DeviceTensors& tensors_;
  Moments parts_;
  Buffer<std::byte> moments_;
  std::byte* scratch_;
  Bf16* logits_;
  std::size_t logit_bytes_;
  Timescales scales_ = {};
  std::vector<MatrixGroup> groups_ = {};
  std::vector<std::size_t> first_ = {};  // of a group's members
  std::optional<Buffer<Member>> members_ = {};
};

}  // namespace holdfast::gpt_train
