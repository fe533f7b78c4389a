// SPDX-License-Identifier: Apache-2.0
// Real kernels that use more resources, do more work or have worse memory access.
#include "planted/kernel_plants.hpp"

namespace holdfast::planted {
namespace {

// An array whose indices are known only at run time.
constexpr const char* local_array =
    "  T planted[32];\n"
    "#pragma unroll 1\n"
    "  for (int k = 0; k < 32; ++k) planted[k] = h[k];\n"
    "  if (n < 0) dv1[0] = planted[-n % 32];\n";

// Leaves room for five blocks per multiprocessor.
constexpr const char* much_shared_memory =
    "  __shared__ T planted[5120];\n  planted[threadIdx.x] = v1[threadIdx.x];\n"
    "  if (n < 0) divergence[0] = planted[-n % 5120];\n";

constexpr const char* bytes_one_by_one =
    "  const auto* planted = reinterpret_cast<const volatile unsigned char*>(field);\n"
    "#pragma unroll\n"
    "  for (int k = 0; k < 8; ++k)\n"
    "    if (planted[k] == n + 256) out[k] = T(0);\n";

const std::vector<KernelPlant> shallow_water = {
    {.name = "registers",
     .file = "optimized.cu",
     .where = "void project(T* h, const int* neighbours, int n) {\n",
     .after = sixteen_registers("h"),
     .of_case = "project/n:48/f64",
     .metric = "registers_max",
     .kernel = "project<double>",
     .cause = "registers 32 -> "},
    {.name = "local array",
     .file = "optimized_parts.cuh",
     .where = "void gradient(const T* h, T* dv1, T* dv2, int n, T slope) {\n",
     .after = local_array,
     .of_case = "gradient/n:48/comp:both/f64",
     .metric = "local_bytes",
     .kernel = "gradient<double>",
     .cause = "local_bytes 0 B -> 256 B"},
    {.name = "two barriers",
     .file = "optimized_parts.cuh",
     .where = "void divergence(const T* u1, const T* u2, T* sum, int n, T scale) {\n",
     .after = "  __syncthreads();\n  sum[0] = T(0);\n  __syncthreads();\n",
     .of_case = "divergence/n:48/f64",
     .metric = "barriers",
     .kernel = "divergence<double>",
     .cause = "barrier 0 -> 2"},
    {.name = "shared memory",
     .file = "optimized_parts.cuh",
     .where = "  __shared__ T w2[(tile_rows + gradient_reach) * w2_width];\n",
     .before = "  __shared__ T planted[2048];\n  planted[threadIdx.x] = v1[threadIdx.x];\n"
               "  if (n < 0) up1[0] = planted[-n % 2048];\n",
     .of_case = "contravariant/n:48/f64",
     .metric = "block_shared_bytes",
     .kernel = "contravariant<double>",
     .cause = "shared 9344 B -> "},
    {.name = "lower occupancy",
     .file = "optimized_parts.cuh",
     .where = "const int* meets, T* divergence, int n, T strength) {\n",
     .after = much_shared_memory,
     .of_case = "sat/n:48/f64",
     .metric = "occupancy",
     .kernel = "penalise<double>",
     .cause = "occupancy 0.5 -> "},
    {.name = "narrow accesses",
     .file = "optimized_parts.cuh",
     .where = "  const bool along_x1 = direction == 1;\n",
     .after = bytes_one_by_one,
     .of_case = "operator_apply/n:48/op:dvc/dir:1/f64",
     .metric = "access_bytes",
     .kernel = "apply_operator<double>",
     .cause = "global_load_1 0 -> 8"},
    {.name = "wide accesses once more",
     .file = "optimized.cu",
     .where = "  swe::record_mass<MASS_THREADS>(history, ",
     .before = "  for (int k = threadIdx.x; k < m; k += MASS_THREADS)\n"
               "    if (static_cast<const volatile T*>(h)[k] == T(n)) history.masses[0] = 0;\n",
     .of_case = "loop/n:48/steps:100/launch:graph/diag:device/f64",
     .metric = "access_bytes",
     .verdict = "CHANGED",
     .kernel = "mass<double>",
     .cause = "global_load_8 "},
    {.name = "double in single",
     .file = "optimized.cu",
     .where = "  __shared__ TileFields<T> fields;\n  const Tile tile",
     .before = "  if (sizeof(T) == 4 && n < 0) out[0] = T(fma(double(z[0]), 1.1, double(z[1])));\n",
     .of_case = "rk4_step/n:48/f32",
     .metric = "f64_instructions",
     .kernel = "stage<float>",
     .cause = "f64 "},
};

TEST(PlantedDeviceCode, OfTheShallowWaterIsFoundByItsCause) {
  expect_found({"cubed_sphere_swe", shallow_water});
}

}  // namespace
}  // namespace holdfast::planted
