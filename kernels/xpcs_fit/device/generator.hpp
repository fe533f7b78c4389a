// SPDX-License-Identifier: Apache-2.0
// Private to streams on a device: data generated there, batch by batch.
#pragma once

#include <vector>

#include "xpcs_fit/device/frames.hpp"

namespace holdfast::xpcs_fit {

template <class T>
struct GeneratorKernels : KernelList {
  explicit GeneratorKernels(const Options& options)
      : generate(*this, specialised<T>("generate", options)) {}
  GeneratorKernels(Compiler& compiler, const Options& options) : GeneratorKernels(options) {
    std::vector<Source> headers = point_headers();
    headers.insert(headers.end(), {runtime::sources::random_hpp, sources::noise_hpp});
    compile(compiler, {.code = sources::generate_cu, .headers = headers});
  }

  Listed<Grid, long long, int, double, unsigned long long, const double*, const AngleRow<double>*,
         T*>
      generate;
};

// The model at the truth with noise, as in make_input(); the truth's integrals are computed once.
template <class T>
class Generator {
 public:
  Generator(Backend& backend, const Problem& problem, std::int64_t most_pairs)
      : noise_(problem.input->noise),
        seed_(problem.input->seed),
        blocks_(resident_blocks(backend, most_pairs, 8)),
        frames_(backend, problem),
        kernels_(*backend.compiler, problem.options) {
    const std::vector<double> known = truth(problem.options, problem.input->size.angles);
    const Buffer<double> parameters(backend, known, "truth");
    frames_.enqueue(parameters.data(), static_cast<int>(known.size()));
    backend.device->synchronize();  // before the truth is freed
  }

  // Rows from first_row on; `pairs` points from one angle to the next.
  void enqueue(std::int64_t pairs, int first_row, T* out) const {
    kernels_.generate({.grid = {blocks_}, .block = {pair_threads}}, frames_.grid(), pairs,
                      first_row, noise_, seed_, frames_.frames(), frames_.rows(), out);
  }

 private:
  double noise_;
  std::uint64_t seed_;
  unsigned blocks_;
  DeviceFrames<double> frames_;
  GeneratorKernels<T> kernels_;
};

}  // namespace holdfast::xpcs_fit
