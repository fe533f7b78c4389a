// SPDX-License-Identifier: Apache-2.0
// The optimized variant on a device: the step of each computation. Two or three launches encode,
// two or three decode a time chunk, each further batch of electrodes adds one to both, and two
// compute the local likelihood.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "clusterless_kde/device/cuda_decode.hpp"
#include "clusterless_kde/device/cuda_local.hpp"
#include "clusterless_kde/device/cuda_model.hpp"
#include "clusterless_kde/problem/range.hpp"
#include "clusterless_kde/variants.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::clusterless_kde {
namespace {

// Readings of the plan that all computations report.
std::vector<NamedReading> plan_readings(const Input& input, const Shape& shape, const Plan& plan) {
  return {{"path", plan.path == Path::two_hop ? 1. : 0.},
          {"q_nodes", static_cast<double>(plan.node_count)},
          {"pairs", static_cast<double>(shape.pairs())},
          {"spikes_dropped", static_cast<double>(dropped_spikes(input))},
          {"range_fallback", plan.range_fallback ? 1. : 0.}};
}

template <class T, class V>
class Encode final : public Computation {
 public:
  Encode(Backend& backend, Problem problem)
      : problem_(std::move(problem)),
        shape_(shape(problem_.input)),
        model_(backend, shape_, problem_.plan),
        encoder_(backend, shape_, problem_.plan) {}

  void step() override { encoder_.encode(problem_.input, model_); }
  void start_again(int input) override { problem_.turn_to(input); }
  std::vector<double> result() override { return model_.densities(problem_.input); }
  std::vector<NamedReading> readings() override {
    return plan_readings(problem_.input, shape_, problem_.plan);
  }

 private:
  Problem problem_;
  Shape shape_;
  CudaModel<T, V> model_;
  CudaEncoder<T, V> encoder_;
};

// decode uses a model made beforehand; total encodes in each step.
template <class T, class V>
class Decode final : public Computation {
 public:
  Decode(Backend& backend, Problem problem)
      : problem_(std::move(problem)),
        shape_(shape(problem_.input)),
        model_(backend, shape_, problem_.plan),
        encoder_(std::in_place, backend, shape_, problem_.plan) {
    if (problem_.unit == Unit::decode) {
      encoder_->encode(problem_.input, model_);
      encoder_.reset();
    }
    decoder_.emplace(backend, problem_.input, shape_, problem_.plan, model_);
  }

  void step() override {
    if (encoder_) {
      const Scope scope("encode");
      encoder_->encode(problem_.input, model_);
    }
    const Scope scope("decode");
    decoder_->step();
  }
  void start_again(int input) override { problem_.turn_to(input); }
  std::vector<double> result() override { return decoder_->result(); }
  std::vector<NamedReading> readings() override {
    auto readings = plan_readings(problem_.input, shape_, problem_.plan);
    readings.push_back({"n_chunks", static_cast<double>(problem_.plan.options.chunks)});
    readings.push_back({"electrode_batches", static_cast<double>(problem_.plan.electrode_batches)});
    for (const NamedReading& reading : decoder_->readings()) readings.push_back(reading);
    return readings;
  }

 private:
  Problem problem_;
  Shape shape_;
  CudaModel<T, V> model_;
  std::optional<CudaEncoder<T, V>> encoder_;
  std::optional<CudaDecoder<T, V>> decoder_ = {};
};

template <class T>
class Local final : public Computation {
 public:
  Local(Backend& backend, Problem problem)
      : problem_(std::move(problem)), local_(backend, problem_.input, problem_.options) {}

  void step() override { local_.step(); }
  void start_again(int input) override { problem_.turn_to(input); }
  std::vector<double> result() override { return local_.result(); }
  // Without bins there is no path; reports the nodes if densities go through them.
  std::vector<NamedReading> readings() override {
    Plan plan = problem_.plan;
    plan.node_count = local_.node_count();
    plan.path = plan.node_count > 0 ? Path::two_hop : Path::dense;
    return plan_readings(problem_.input, shape(problem_.input), plan);
  }

 private:
  Problem problem_;
  CudaLocal<T> local_;
};

template <class T, class V>
std::unique_ptr<Computation> make_unit(Backend& backend, Problem problem) {
  switch (problem.unit) {
    case Unit::encode:
      return std::make_unique<Encode<T, V>>(backend, std::move(problem));
    case Unit::local:
      return std::make_unique<Local<T>>(backend, std::move(problem));
    case Unit::decode:
    case Unit::total:
      break;
  }
  return std::make_unique<Decode<T, V>>(backend, std::move(problem));
}

template <class T, class V>
std::int64_t decode_bytes(const Shape& shape, const Plan& plan) {
  return CudaModel<T, V>::bytes(shape, plan) +
         std::max(CudaEncoder<T, V>::bytes(shape, plan), CudaDecoder<T, V>::bytes(shape, plan));
}

}  // namespace

std::unique_ptr<Computation> make_cuda_optimized(Backend& backend, Problem problem) {
  Plan& plan = problem.plan;
  if (problem.unit == Unit::local && precision_of(plan.options.arithmetic) == Precision::f32)
    plan.range_fallback = path_exceeds_single(problem.input);
  switch (device_arithmetic(problem.plan)) {
    case Arithmetic::f64:
      return make_unit<double, double>(backend, std::move(problem));
    case Arithmetic::ffma:
      return make_unit<float, float>(backend, std::move(problem));
    case Arithmetic::tf32:
      return make_unit<float, Tf32>(backend, std::move(problem));
    case Arithmetic::f32:
    case Arithmetic::bf16x3:
      break;
  }
  return make_unit<float, SplitBf16>(backend, std::move(problem));
}

// A decode allocates its buffers after its model is made and the encoder destroyed.
std::int64_t cuda_estimate_bytes(const Shape& shape, const Plan& plan) {
  switch (device_arithmetic(plan)) {
    case Arithmetic::f64:
      return decode_bytes<double, double>(shape, plan);
    case Arithmetic::ffma:
      return decode_bytes<float, float>(shape, plan);
    case Arithmetic::tf32:
      return decode_bytes<float, Tf32>(shape, plan);
    case Arithmetic::f32:
    case Arithmetic::bf16x3:
      break;
  }
  return decode_bytes<float, SplitBf16>(shape, plan);
}

}  // namespace holdfast::clusterless_kde
