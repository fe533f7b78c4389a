// SPDX-License-Identifier: Apache-2.0
// The power of a spectrum on a device: a real transform and two launches.
#include "runtime/backend/fft.hpp"
#include "xpcs_fit/data/samples.hpp"
#include "xpcs_fit/device/frames.hpp"
#include "xpcs_fit/device/spectrum_kernels.hpp"
#include "xpcs_fit/spectrum.hpp"

namespace holdfast::xpcs_fit {
namespace {

class Spectrum final : public Computation {
 public:
  Spectrum(int n, Backend& backend)
      : n_(n),
        blocks_(resident_blocks(backend, std::int64_t{n} * (n / 2 + 1), 8)),
        kernels_(*backend.compiler),
        transform_(backend, {.kind = Fft::Kind::real_forward, .rows = n, .columns = n}),
        samples_(backend, samples(n), "inputs"),
        spectrum_(backend, std::size_t{2} * n * (n / 2 + 1), "spectrum"),
        partial_(backend, blocks_, "partial sums"),
        out_(backend, 1, "result") {}

  void start_again(int input) override { samples_.upload(samples(n_, input)); }

  void step() override {
    transform_(samples_.data(), spectrum_.data());
    kernels_.weighted_power({.grid = {blocks_}, .block = {pair_threads}}, spectrum_.data(), n_,
                            partial_.data());
    kernels_.total({.block = {pair_threads}}, partial_.data(), static_cast<int>(blocks_),
                   out_.data());
  }
  std::vector<double> result() override { return out_.to_host(); }

 private:
  int n_;
  unsigned blocks_;
  SpectrumKernels kernels_;
  Transform transform_;
  Buffer<double> samples_, spectrum_, partial_, out_;
};

}  // namespace

std::unique_ptr<Computation> make_cuda_spectrum(int n, Backend& backend) {
  return std::make_unique<Spectrum>(n, backend);
}

}  // namespace holdfast::xpcs_fit
