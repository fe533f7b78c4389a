// SPDX-License-Identifier: Apache-2.0
// The table of optics on the host, a vector of columns at a time. It is symmetric: pairs c <= r of
// distances from the axes suffice. Compiled per instruction set.
#pragma once

#include <cmath>
#include <vector>

#include "galaxy_shear/galaxy_shear.hpp"
#include "host/functions.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

// The sums for a Moffat profile with nu not a half-integer: any_bessel of problem/optics.hpp for a
// vector of arguments.
class BesselSums {
  using V = host::HOLDFAST_ISA::Vector<double>;
  static constexpr int lanes = host::HOLDFAST_ISA::Lanes<double>::count;

 public:
  explicit BesselSums(double nu) : nu_(nu) {
    for (int k = 0; k < terms; ++k) {
      cosh_.push_back(std::cosh(k * step));
      sinh_.push_back(std::sinh(k * step));
    }
  }

  V operator()(V argument) const {
    V sum = host::HOLDFAST_ISA::exp<double>(-argument) * 0.5;
    for (int k = 1; k < terms; ++k) {
      const V exponent = -argument * cosh_[k];
      const double turn = nu_ * k * step;
      const V term = (host::HOLDFAST_ISA::exp<double>(exponent + turn) +
                      host::HOLDFAST_ISA::exp<double>(exponent - turn)) *
                     0.5;
      sum += term;
      bool more = false;
      for (int j = 0; j < lanes; ++j)
        more |= term[j] >= 1e-18 * sum[j] || argument[j] * sinh_[k] <= nu_;
      if (!more) break;
    }
    for (int j = 0; j < lanes; ++j) sum[j] *= std::pow(argument[j], nu_) * step;
    return sum;
  }

 private:
  static constexpr int terms = 512;  // by then cosh is so large that exp gives 0
  static constexpr double step = 1. / 16;
  double nu_;
  std::vector<double> cosh_ = {}, sinh_ = {};
};

template <class T>
class PsfTable final : public Computation {
 public:
  PsfTable(Backend& backend, const Problem& problem)
      : scene_(problem.scene),
        optics_(optics_of(scene_.psf)),
        columns_(scene_.fft / 2 + 1),
        threads_(work_of(Unit::psf_table, {.fft = scene_.fft, .beta = scene_.psf.beta}).flops <
                         flops_worth_sharing
                     ? 1
                     : host_limits().threads),
        sums_(optics_.nu),
        table_(backend, std::size_t(columns_) * columns_, "result") {}

  void step() override {
    const Scope scope("table");
    const bool closed = optics_.gaussian || optics_.nu == std::floor(optics_.nu) + 0.5;
#pragma omp parallel for schedule(dynamic) num_threads(threads_) if (threads_ > 1)
    for (int r = 0; r < columns_; ++r) {
      for (int c = 0; c <= r && closed; ++c)
        put(r, c, response_at(optics_, scene_.pixel_scale, wave(c), wave(r)));
      for (int c = 0; c <= r && !closed; c += lanes) sum_up(r, c);
    }
  }
  std::vector<double> result() override {
    const std::vector<T> table = table_.to_host();
    return {table.begin(), table.end()};
  }

 private:
  static constexpr int lanes = host::HOLDFAST_ISA::Lanes<double>::count;

  double wave(int k) const {
    return two_pi / scene_.fft * k;
  }
  void put(int r, int c, double value) {
    table_.data()[r * columns_ + c] = table_.data()[c * columns_ + r] = static_cast<T>(value);
  }
  // Fills in columns c, c + 1, .. of row r up to the diagonal.
  void sum_up(int r, int c) {
    host::HOLDFAST_ISA::Vector<double> argument;
    for (int j = 0; j < lanes; ++j)
      argument[j] = std::hypot(wave(c + j), wave(r)) / scene_.pixel_scale * optics_.radius;
    const bool centre = r == 0 && c == 0;
    if (centre) argument[0] = 1;  // any valid argument: the value at the centre is 1
    const auto values = sums_(argument);
    for (int j = 0; j < lanes && c + j <= r; ++j) {
      const double psf = centre && j == 0 ? 1 : optics_.scale * values[j];
      put(r, c + j, psf * pixel_at(wave(c + j)) * pixel_at(wave(r)));
    }
  }

  Scene scene_;
  Optics optics_;
  int columns_, threads_;
  BesselSums sums_;
  Buffer<T> table_;
};

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
