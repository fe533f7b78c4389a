// SPDX-License-Identifier: Apache-2.0
// The power of a spectrum on a device as published.
#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "xpcs_fit/data/samples.hpp"
#include "xpcs_fit/reference/cuda_parts.hpp"
#include "xpcs_fit/reference/plain_spectrum_kernels.hpp"
#include "xpcs_fit/spectrum.hpp"

namespace holdfast::xpcs_fit {
namespace {

class PlainSpectrum final : public Computation {
 public:
  PlainSpectrum(int n, Backend& backend)
      : n_(n),
        count_(static_cast<std::int64_t>(n) * n),
        kernels_(*backend.compiler),
        transform_(backend, {.kind = Fft::Kind::complex_forward, .rows = n, .columns = n}),
        blas_(backend),
        samples_(backend, samples(n), "inputs"),
        ones_(backend, std::vector<double>(samples_.size(), 1), "ones"),
        wide_(backend, 2 * samples_.size(), "complex samples"),
        spectrum_(backend, wide_.size(), "spectrum"),
        power_(backend, samples_.size(), "power"),
        out_(backend, 1, "result") {}

  void start_again(int input) override { samples_.upload(samples(n_, input)); }

  void step() override {
    const int k = static_cast<int>(count_);
    kernels_.widen(one_thread_each(count_), samples_.data(), count_, wide_.data());
    transform_(wide_.data(), spectrum_.data());
    kernels_.squares(one_thread_each(count_), spectrum_.data(), count_, power_.data());
    blas_({.m = 1, .n = 1, .k = k, .lda = k, .ldb = 1, .ldc = 1}, power_.data(), ones_.data(),
          out_.data());
  }
  std::vector<double> result() override { return out_.to_host(); }

 private:
  int n_;
  std::int64_t count_;
  PlainSpectrumKernels kernels_;
  Transform transform_;
  Blas blas_;
  Buffer<double> samples_, ones_, wide_, spectrum_, power_, out_;
};

}  // namespace

std::unique_ptr<Computation> make_cuda_plain_spectrum(int n, Backend& backend) {
  return std::make_unique<PlainSpectrum>(n, backend);
}

}  // namespace holdfast::xpcs_fit
