// SPDX-License-Identifier: Apache-2.0
// The power of a spectrum on the host as published: drawn anew, widened, squared and added up array
// after array.
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "xpcs_fit/data/samples.hpp"
#include "xpcs_fit/reference/host_sum.hpp"
#include "xpcs_fit/spectrum.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {
namespace {

class PlainSpectrum final : public Computation {
 public:
  PlainSpectrum(int n, Backend& backend)
      : count_(static_cast<std::int64_t>(n) * n),
        transform_(backend, {.kind = Fft::Kind::complex_forward, .rows = n, .columns = n}),
        samples_(backend, static_cast<std::size_t>(count_), "samples"),
        wide_(backend, 2 * samples_.size(), "complex samples"),
        spectrum_(backend, wide_.size(), "spectrum"),
        power_(backend, samples_.size(), "power"),
        out_(backend, 1, "result") {}

  void start_again(int input) override { seed_ = seed_of_samples(input); }

  void step() override {
    each([this](std::int64_t k) {
      samples_.data()[k] = noise(static_cast<std::uint64_t>(k), seed_, noise_of_data);
    });
    each([this](std::int64_t k) {
      wide_.data()[2 * k] = samples_.data()[k];
      wide_.data()[2 * k + 1] = 0;
    });
    transform_(wide_.data(), spectrum_.data());
    each([this](std::int64_t k) {
      const double re = spectrum_.data()[2 * k], im = spectrum_.data()[2 * k + 1];
      power_.data()[k] = re * re + im * im;
    });
    *out_.data() = ordered_sum(count_, [this](std::int64_t k) { return power_.data()[k]; });
  }
  std::vector<double> result() override { return out_.to_host(); }

 private:
  template <class Do>
  void each(const Do& act) {
#pragma omp parallel for num_threads(host_limits().threads)
    for (std::int64_t k = 0; k < count_; ++k) act(k);
  }

  std::uint64_t seed_ = seed_of_samples(0);
  std::int64_t count_;
  Transform transform_;
  Buffer<double> samples_, wide_, spectrum_, power_, out_;
};

}  // namespace

std::unique_ptr<Computation> make_host_plain_spectrum(int n, Backend& backend) {
  return std::make_unique<PlainSpectrum>(n, backend);
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
