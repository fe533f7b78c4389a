// SPDX-License-Identifier: Apache-2.0
// For tests: the plants of nightly kernel tests. Every change checks that each still has its place.
#pragma once

#include <vector>

#include "planted/kernel_plants.hpp"

namespace holdfast::planted {

inline constexpr const char* decoded = "decode/size:medium/data:profile/f32";

inline PlantedKernels decoder_without_tensor_instructions() {
  return {"clusterless_kde",
          {{.name = "tensor instructions",
            .file = "warp_product.cuh",
            .where = "        holdfast::mma_bf16(part[m], low[m / 2], y[m % 2].high[0], y[m % "
                     "2].high[1], no_sums);\n",
            .after = "        for (int i = 0; i < 4; ++i)\n"
                     "          part[m][i] = __uint_as_float(low[m / 2][i]) *\n"
                     "                       __uint_as_float(y[m % 2].high[i % 2]);\n",
            .instead = true,
            .of_case = decoded,
            .metric = "tensor_instructions",
            .cause = "tensor "}}};
}

inline PlantedKernels decoder_with_idle_tensor_instructions() {
  return {"clusterless_kde",
          {{.name = "idle tensor instructions",
            .file = "warp_product.cuh",
            .where = "        holdfast::mma_bf16(part[m], low[m / 2], y[m % 2].high[0], y[m % "
                     "2].high[1], no_sums);\n",
            .after = "#pragma unroll\n"
                     "      for (int m = 0; m < 2 * tiles; ++m)\n"
                     "        holdfast::mma_bf16(part[m], low[m / 2], y[m % 2].low[0], y[m % "
                     "2].low[1], part[m]);\n",
            .of_case = decoded,
            .metric = "tensor_instructions",
            .verdict = "CHANGED",
            .cause = "tensor "}}};
}

inline PlantedKernels decoder_without_vector_loads() {
  return {"clusterless_kde",
          {{.name = "vector loads",
            .file = "marks.cuh",
            .where = "    holdfast::copy_async(to + i, from + i);\n",
            .after = "    for (int w = 0; w < 4; ++w)\n"
                     "      reinterpret_cast<int*>(to + i)[w] =\n"
                     "          reinterpret_cast<const volatile int*>(from + i)[w];\n",
            .instead = true,
            .of_case = decoded,
            .metric = "access_bytes",
            .cause = "global_load_4 "}}};
}

inline PlantedKernels shear_fit_of_more_registers() {
  return {"galaxy_shear",
          {{.name = "registers",
            .file = "optimized.cu",
            .where = "           T* images) {\n",
            .after = sixteen_registers("images"),
            .of_case = "render/fft:128/image:48/batch:1/psf:gaussian/f64",
            .metric = "registers_max",
            .cause = "render<double, 128, 48, false>: "}}};
}

inline PlantedKernels training_of_more_registers() {
  return {"gpt_train",
          {{.name = "registers",
            .file = "attention.cu",
            .where = "attend(gpt::AttentionForm form, gpt::Heads<const Bf16> in, "
                     "Bf16* o, float* log_sums) {\n",
            .after = sixteen_registers("log_sums", "float"),
            .of_case = "attention/pass:fwd/model:tiny/docs:1/bf16",
            .metric = "registers_max",
            .cause = "attend<32>: "}}};
}

inline PlantedKernels correlations_of_more_registers() {
  return {"xpcs_fit",
          {{.name = "registers",
            .file = "values.cu",
            .where = "                             const xpcs::AngleRow<T>* angles, T* out) {\n",
            .after = sixteen_registers("out"),
            .of_case = "g2/mode:laminar/size:s/f64",
            .metric = "registers_max",
            .cause = "model_values<double, 1>: "}}};
}

inline std::vector<PlantedKernels> nightly_plants() {
  return {decoder_without_tensor_instructions(), decoder_with_idle_tensor_instructions(),
          decoder_without_vector_loads(),        shear_fit_of_more_registers(),
          training_of_more_registers(),          correlations_of_more_registers()};
}

}  // namespace holdfast::planted
