// SPDX-License-Identifier: Apache-2.0
// A suite for tests, whose steps execute a known number of instructions. PLANTED_PERCENT adds that
// many percent to a step of the optimized variant, PLANTED=unsteady makes steps differ,
// PLANTED=remembers answers every seventh from memory, PLANTED=prepares does a part of its work in
// the first step from a start alone, PLANTED=allocates takes and frees aligned blocks,
// PLANTED=wrong gives a wrong result, PLANTED_STRIDE reads an array at that stride, every number
// once, and PLANTED_BLOCKS holds that many small blocks.
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/case/case.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast {
namespace {

constexpr long rounds = 200'000;  // of two instructions each

void spin(long count) {
  asm volatile("1: subq $1, %0\n\tjnz 1b" : "+r"(count) : : "cc");
}

// The compiler would remove both calls if it saw that the block is unused.
void take_and_free() {
  void* block = std::aligned_alloc(64, 64 << 10);
  asm volatile("" : : "r"(block) : "memory");
  std::free(block);
}

// Any odd stride meets every number, by the same instructions.
double sum_at(std::size_t stride, const std::vector<double>& numbers) {
  double sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) sum += numbers[i * stride % numbers.size()];
  return sum;
}

class Spin : public Computation {
 public:
  Spin(Backend& backend, Variant variant) : state_(backend, 1, "state") {
    state_.data()[0] = 0;
    const char* percent = std::getenv("PLANTED_PERCENT");
    const char* planted = std::getenv("PLANTED");
    rounds_ = variant == Variant::reference ? 3 * rounds : rounds;
    if (percent && variant == Variant::optimized) rounds_ += rounds * std::stol(percent) / 100;
    unsteady_ = planted && std::string_view(planted) == "unsteady";
    remembers_ = planted && std::string_view(planted) == "remembers";
    prepares_ = planted && std::string_view(planted) == "prepares";
    allocates_ = planted && std::string_view(planted) == "allocates";
    wrong_ = planted && std::string_view(planted) == "wrong";
    const char* stride = std::getenv("PLANTED_STRIDE");
    stride_ = stride ? std::stoul(stride) : 0;
    if (stride_ > 0) numbers_.resize(1 << 16);
    const char* blocks = std::getenv("PLANTED_BLOCKS");
    for (long i = blocks ? std::stol(blocks) : 0; i > 0; --i)
      held_.push_back(std::make_unique<SmallBlock>());
  }
  void step() override {
    state_.data()[0] += 10 + sum_at(stride_, numbers_);
    if (!remembers_ || ++steps_ % 7 != 0) spin(rounds_);
    if (std::exchange(prepares_now_, false)) spin(rounds / 10);
    if (unsteady_) rounds_ += rounds / 100;
    for (int i = 0; allocates_ && i < 16; ++i) take_and_free();
  }
  std::vector<double> result() override { return {state_.data()[0] + wrong_}; }
  void start_again(int) override {
    state_.data()[0] = 0;
    prepares_now_ = prepares_;
  }

 private:
  using SmallBlock = std::array<char, 512>;
  std::vector<std::unique_ptr<SmallBlock>> held_ = {};
  Buffer<double> state_;
  std::vector<double> numbers_ = {};
  std::size_t stride_ = 0;
  long rounds_ = 0;
  int steps_ = 0;
  bool unsteady_ = false, remembers_ = false, allocates_ = false, wrong_ = false;
  bool prepares_ = false, prepares_now_ = false;
};

Case spin_case(std::string id, Tier tier) {
  return {.id = std::move(id),
          .tier = tier,
          .devices = {"host"},
          .work = {.flops = 1, .bytes = 8},
          .recipe =
              Steps{.make = [](Backend& backend, Variant variant) -> std::unique_ptr<Computation> {
                      return std::make_unique<Spin>(backend, variant);
                    },
                    .oracle = {.name = "arithmetic",
                               .limit = 1e-15,
                               .expected = [](int steps) -> std::vector<double> {
                                 return {10. * steps};
                               }},
                    .chained = false},
          .counted = true};
}

}  // namespace

Suite suite() {
  return {.name = "counted_suite", .cases = [](const SuiteOptions&) -> std::vector<Case> {
            return {spin_case("counted_suite/spin/n:1/f64", Tier::smoke),
                    spin_case("counted_suite/spin/n:2/f64", Tier::full)};
          }};
}

}  // namespace holdfast
