// SPDX-License-Identifier: Apache-2.0
// The reference as a computation, over the verbs of host or device.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "clusterless_kde/problem/problem.hpp"
#include "clusterless_kde/reference/eager_program.hpp"
#include "computation.hpp"

namespace holdfast::clusterless_kde {

template <class Verbs>
class EagerReference final : public Computation {
 public:
  using T = Verbs::Value;

  EagerReference(Backend& backend, Problem problem)
      : executes_(backend.executes()),
        problem_(std::move(problem)),
        shape_(clusterless_kde::shape(problem_.input)),
        verbs_(backend, multiplies()),
        seen_(backend, problem_.input, shape_) {
    if (!encodes()) make_model(backend);
    const Unit unit = problem_.unit;
    if (unit != Unit::encode) {
      heard_.emplace(backend, problem_.input, shape_,
                     unit == Unit::local ? Along::trajectory : Along::places);
      out_.emplace(backend, unit == Unit::local ? shape_.rows : shape_.rows * shape_.bins);
    }
    arena_ = std::make_unique<Arena>(backend);
    compute();
    arena_->open();
  }

  void step() override {
    if (encodes()) {
      const Scope scope("upload");
      seen_.upload();
    }
    if (heard_) {
      const Scope scope("upload");
      heard_->upload();
    }
    compute();
  }

  void start_again(int input) override {
    problem_.turn_to(input);
    seen_.round();
    if (heard_) heard_->round();
  }

  std::vector<double> result() override {
    if (out_ && !executes_) return {};  // zeros for a whole recording would fill gigabytes
    if (out_) return widened(out_->to_host());
    std::vector<double> all = widened(seen_.occupancy().to_host());
    const std::vector<double> ground = widened(seen_.ground().to_host());
    all.insert(all.end(), ground.begin(), ground.end());
    return all;
  }

  std::vector<NamedReading> readings() override {
    return {{"rows", static_cast<double>(shape_.rows)},
            {"bins", static_cast<double>(shape_.bins)},
            {"pairs", static_cast<double>(shape_.pairs())},
            {"spikes_dropped", static_cast<double>(dropped_spikes(problem_.input))}};
  }

 private:
  bool encodes() const { return problem_.unit == Unit::encode || problem_.unit == Unit::total; }
  bool multiplies() const { return problem_.unit == Unit::decode || problem_.unit == Unit::total; }
  static std::vector<double> widened(const std::vector<T>& values) {
    return {values.begin(), values.end()};
  }

  EagerProgram<Verbs> program(Arena& arena) {
    return {verbs_, arena, problem_.input, shape_, problem_.options, seen_};
  }

  // Runs once, with its own arena.
  void make_model(Backend& backend) {
    Arena arena(backend);
    program(arena).encode();
    arena.open();
    seen_.upload();
    program(arena).encode();
  }

  void compute() {
    const double pairs = static_cast<double>(shape_.pairs() * shape_.bins);
    const typename Verbs::Step step(multiplies() && !arena_->rehearsing() ? 2 * pairs : 0);
    EagerProgram<Verbs> steps = program(*arena_);
    if (encodes()) {
      const Scope scope("encode");
      steps.encode();
    }
    if (multiplies()) {
      const Scope scope("decode");
      steps.decode(*heard_, *out_);
    }
    if (problem_.unit == Unit::local) {
      const Scope scope("local");
      steps.local(*heard_, *out_);
    }
  }

  bool executes_;
  Problem problem_;
  Shape shape_;
  Verbs verbs_;
  EncodingData<T> seen_;
  std::optional<DecodingData<T>> heard_ = {};
  std::optional<Output<T>> out_ = {};
  std::unique_ptr<Arena> arena_ = {};
};

}  // namespace holdfast::clusterless_kde
