// SPDX-License-Identifier: Apache-2.0
// Real kernels of matrix units that lose what makes them fast.
#include "planted/kernel_plants.hpp"

namespace holdfast::planted {
namespace {

constexpr const char* decoded = "decode/size:medium/data:profile/f32";

TEST(PlantedDeviceCode, OfTheDecoderThatLosesTensorInstructionsIsFoundByItsCause) {
  expect_found(
      "clusterless_kde",
      {{.name = "tensor instructions",
        .file = "warp_product.cuh",
        .where = "        holdfast::mma_bf16(part[m], low[m], y.high[0], y.high[1], no_sums);\n",
        .after =
            "        for (int i = 0; i < 4; ++i)\n"
            "          part[m][i] = __uint_as_float(low[m][i]) * __uint_as_float(y.high[i % 2]);\n",
        .instead = true,
        .of_case = decoded,
        .metric = "tensor_instructions",
        .cause = "tensor "}});
}

TEST(PlantedDeviceCode, OfTheDecoderThatLosesVectorLoadsIsFoundByItsCause) {
  expect_found("clusterless_kde", {{.name = "vector loads",
                                    .file = "marks.cuh",
                                    .where = "    holdfast::copy_async(to + i, from + i);\n",
                                    .after = "    for (int w = 0; w < 4; ++w)\n"
                                             "      reinterpret_cast<int*>(to + i)[w] =\n"
                                             "          reinterpret_cast<const volatile "
                                             "int*>(from + i)[w];\n",
                                    .instead = true,
                                    .of_case = decoded,
                                    .metric = "access_bytes",
                                    .cause = "global_load_4 "}});
}

}  // namespace
}  // namespace holdfast::planted
