// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/testing/kernels_on_cpu.hpp"

#include <utility>

#include "gpt_train/data/hash.hpp"
#include "gpt_train/device/model_kernels.hpp"
#include "gpt_train/device/optimizer_kernels.hpp"
#include "gpt_train/testing/attention_on_cpu.hpp"
#include "gpt_train/testing/plain_on_cpu.hpp"
#include "runtime/emulation/emulation_shim.hpp"

#include "gpt_train/device/numbers.cuh"

namespace on_cpu_gpt_model {
HOLDFAST_EMULATED_SHARED(uint4, row);
#include "gpt_train/device/model.cu"
}  // namespace on_cpu_gpt_model
namespace on_cpu_gpt_optimizer {
#include "gpt_train/device/optimizer.cu"
}  // namespace on_cpu_gpt_optimizer

namespace holdfast::gpt_train {
namespace {

void add_model(EmulatedKernels& kernels) {
  namespace on_cpu = on_cpu_gpt_model;
  const ModelKernels listed;
  kernels.add(listed.draw, &on_cpu::draw);
  kernels.add(listed.draw_stream, &on_cpu::draw_stream);
  kernels.add(listed.segment, &on_cpu::segment);
  kernels.add(listed.embed, &on_cpu::embed);
  kernels.add(listed.normalise, &on_cpu::normalise);
  kernels.add(listed.rotate, &on_cpu::rotate);
  kernels.add(listed.gated, &on_cpu::gated);
  kernels.add(listed.classify, &on_cpu::classify);
  kernels.add(listed.sum_losses, &on_cpu::sum_losses);
  kernels.add(listed.gated_backward, &on_cpu::gated_backward);
  kernels.add(listed.norm_backward, &on_cpu::norm_backward);
  kernels.add(listed.sum_rows, &on_cpu::sum_rows);
  kernels.add(listed.embed_backward, &on_cpu::embed_backward);
}

void add_optimizer(EmulatedKernels& kernels) {
  namespace on_cpu = on_cpu_gpt_optimizer;
  const OptimizerKernels listed;
  kernels.add(listed.adam_rows, &on_cpu::adam_rows);
  kernels.add(listed.adam_head, &on_cpu::adam_all<float>);
  kernels.add(listed.adam_matrices, &on_cpu::adam_all<Bf16>);
  kernels.add(listed.lion, &on_cpu::lion);
  kernels.add(listed.go_on, &on_cpu::go_on);
  kernels.add(listed.invert_norms, &on_cpu::invert_norms);
  kernels.add(listed.scale_all, &on_cpu::scale_all);
  kernels.add(listed.apply, &on_cpu::apply);
}

}  // namespace

std::unique_ptr<Backend> emulated(Emulation emulation) {
  EmulatedKernels kernels;
  add_model(kernels);
  add_optimizer(kernels);
  add_attention(kernels, 32);
  add_plain(kernels);
  return make_emulated_backend(std::move(kernels), emulation);
}

}  // namespace holdfast::gpt_train
