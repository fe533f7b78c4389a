// SPDX-License-Identifier: Apache-2.0
// The power of a spectrum on the host. Against the reference: the samples exist already, half the
// frequencies of a real transform stand for all, and their squares are added up as they are read.
// The sums of rows have fixed places.
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "xpcs_fit/data/samples.hpp"
#include "xpcs_fit/spectrum.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {
namespace {

class Spectrum final : public Computation {
 public:
  Spectrum(int n, Backend& backend)
      : n_(n),
        columns_(n / 2 + 1),
        transform_(backend, {.kind = Fft::Kind::real_forward, .rows = n, .columns = n}),
        samples_(backend, samples(n), "inputs"),
        spectrum_(backend, std::size_t{2} * n * columns_, "spectrum"),
        rows_(backend, n, "partial sums"),
        out_(backend, 1, "result") {}

  void start_again(int input) override { samples_.upload(samples(n_, input)); }

  void step() override {
    transform_(samples_.data(), spectrum_.data());
#pragma omp parallel for num_threads(host_limits().threads)
    for (int i = 0; i < n_; ++i) rows_.data()[i] = power_of_row(i);
    double sum = 0;
    for (int i = 0; i < n_; ++i) sum += rows_.data()[i];
    *out_.data() = sum;
  }
  std::vector<double> result() override {
    return out_.to_host();
  }

 private:
  // Column 0, and for an even number the last one, count once, all others twice.
  double power_of_row(int i) const {
    const double* const row = spectrum_.data() + std::int64_t{2} * i * columns_;
    const int twice = n_ % 2 == 0 ? columns_ - 1 : columns_;
    double sum = 0;
    for (int k = 2; k < 2 * twice; ++k) sum += row[k] * row[k];
    sum = 2 * sum + row[0] * row[0] + row[1] * row[1];
    for (int k = 2 * twice; k < 2 * columns_; ++k) sum += row[k] * row[k];
    return sum;
  }

  int n_, columns_;
  Transform transform_;
  Buffer<double> samples_, spectrum_, rows_, out_;
};

}  // namespace

std::unique_ptr<Computation> make_host_spectrum(int n, Backend& backend) {
  return std::make_unique<Spectrum>(n, backend);
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
