// SPDX-License-Identifier: Apache-2.0
// Changes against the reference, and their measured gains (f32, decode, profile, CPU time on a
// shared 2-core x86-64-v4 virtual machine). All together, interleaved, one thread: 13, 10, 17, 29,
// 59 times from tiny to realistic (6 us, 53 us, 0.6, 7.5, 35 ms), encode 11, 13, 28, 58, 110 times.
// For single changes: time at realistic without the change over that with it.
//
// - Rates and normalisers cancel, so that no sum needs a maximum and the floor is one comparison;
//   two hops through 64 nodes instead of one to 2000 bins: 20.
// - Products in registers, sums in order, nothing packed: 2.2 times OpenBLAS 0.3.21 (230 against
//   104 GFLOP/s at 96 x 64 x 128), and bitwise the same for any blocks and time chunks.
// - Each panel of bins takes the nodes that matter to it, by a bound below rounding: 1.5. The
//   same for tiles of encoding spikes: 1.2.
// - A row's logarithms as one logarithm of a product, exponents kept apart: 1.2.
// - AVX-512 over AVX2: 1.8.
// - Denormals flushed to zero, of which the tails of a product's sums are full: no gain on a CPU
//   with fast denormals, 3 at small and 5 at medium on a Xeon of 2019.
// - Gaussians by a polynomial, whole vectors: 0.14 ns each, 5 ms of 35. In a plane they are
//   computed directly: products of two would save at most 7 % of a decode in the maze.
// - One output, written once, in time order; no array of [n, m] or [n, P] exists.
// - Marks are relative to one of them: 300 units of offset cost no accuracy.
//
// Predicted floor without the bands: 43 ms of products at the rate above, 53 with exponentials and
// logarithms; measured 59. With bands 35: products 21, the rest of the arithmetic 10.
#include <optional>
#include <utility>
#include <vector>

#include "clusterless_kde/host/decode.hpp"
#include "clusterless_kde/host/encode.hpp"
#include "clusterless_kde/host/local.hpp"
#include "clusterless_kde/variants.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {
namespace {

template <class T>
Input rounded(Input input) {
  const auto round = [](std::vector<double>& values) {
    for (double& value : values) value = static_cast<double>(static_cast<T>(value));
  };
  round(input.encoding.positions);
  round(input.decoding.positions);
  round(input.places);
  for (auto* phase : {&input.encoding_spikes, &input.decoding_spikes})
    for (Spikes& spikes : *phase) round(spikes.features);
  return input;
}

template <class T>
class HostOptimized final : public Computation {
 public:
  HostOptimized(Backend& backend, Problem problem)
      : unit_(problem.unit),
        plan_(std::move(problem.plan)),
        options_(problem.options),
        input_(rounded<T>(std::move(problem.input))),
        shape_(shape(input_)),
        sizes_(shape_, plan_, unit_),
        model_(backend, input_, shape_, sizes_),
        encoder_(backend, input_, sizes_, options_, model_) {
    if (unit_ == Unit::decode || unit_ == Unit::total)
      decoder_.emplace(backend, input_, shape_, sizes_, options_, model_);
    if (unit_ == Unit::local) local_.emplace(backend, input_, sizes_, options_, model_);
    if (!encodes()) encoder_();
  }

  void step() override {
    if (encodes()) encoder_();
    if (decoder_) decoder_->step();
    if (local_) local_->step();
  }

  void start_again(int input) override {
    if (input != number_) input_ = other_input(std::move(input_), encodes());
    number_ = input;
  }

  std::vector<double> result() override {
    if (decoder_) return decoder_->result();
    if (local_) return local_->result();
    std::vector<double> both;
    const double norm = static_cast<double>(sizes_.samples) * model_.position_norm;
    for (std::int64_t p = 0; p < sizes_.bins; ++p)
      both.push_back(model_.occupancy.data()[p] / norm);
    for (std::int64_t p = 0; p < sizes_.bins; ++p) both.push_back(-model_.minus_ground.data()[p]);
    return both;
  }

  std::vector<NamedReading> readings() override {
    std::vector<NamedReading> all = {
        {"path", sizes_.two_hop ? 1. : 0.},
        {"q_nodes", static_cast<double>(sizes_.nodes)},
        {"pairs", static_cast<double>(shape_.pairs())},
        {"spikes_dropped", static_cast<double>(dropped_spikes(input_))},
        {"range_fallback", plan_.range_fallback ? 1. : 0.},
    };
    if (!decoder_) return all;
    all.push_back({"n_chunks", static_cast<double>(sizes_.chunks)});
    const Tally tally = decoder_->tally();
    if (options_.cut && tally.all > 0)
      all.push_back({"tiles_visited_fraction",
                     static_cast<double>(tally.visited) / static_cast<double>(tally.all)});
    return all;
  }

 private:
  bool encodes() const { return unit_ == Unit::encode || unit_ == Unit::total; }

  Unit unit_;
  Plan plan_;
  Options options_;
  Input input_;
  int number_ = 0;  // of the input, among inputs of its shape
  Shape shape_;
  HostSizes sizes_;
  Model<T> model_;
  Encoder<T> encoder_;
  std::optional<Decoder<T>> decoder_ = {};
  std::optional<LocalDecoder<T>> local_ = {};
};

}  // namespace

std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem) {
  if (problem.options.arithmetic == Arithmetic::f64 || problem.plan.range_fallback)
    return std::make_unique<HostOptimized<double>>(backend, std::move(problem));
  return std::make_unique<HostOptimized<float>>(backend, std::move(problem));
}

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
