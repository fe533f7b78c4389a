// SPDX-License-Identifier: Apache-2.0
// A variant that skips steps once nothing checks them leaves no result that passes for theirs.
#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpt_train/data/golden.hpp"
#include "gpt_train/row.hpp"
#include "harness/measure/again.hpp"

namespace holdfast::gpt_train {
namespace {

constexpr int looked_at = 40;  // more steps than are verified before the timed section

struct Idle {
  const char* name;
  bool (*in)(int call);
};
constexpr Idle idles[] = {
    {"every_second", [](int call) { return call > looked_at && call % 2 == 0; }},
    {"every_other_second", [](int call) { return call > looked_at && call % 2 == 1; }},
    {"every_tenth", [](int call) { return call > looked_at && call % 10 == 0; }},
    {"all", [](int call) { return call > looked_at; }}};

// Idle steps repeat the counts of the last real one, or counts alone would reveal them.
class Idler final : public Computation {
 public:
  Idler(Ledger& ledger, std::unique_ptr<Computation> as_built, const Idle& idle)
      : ledger_(ledger), as_built_(std::move(as_built)), idle_(idle) {}
  void step() override {
    if (idle_.in(++calls_)) {
      ledger_.counts += of_a_step_;
      return;
    }
    const Counts before = ledger_.counts;
    as_built_->step();
    of_a_step_ = ledger_.counts - before;
  }
  std::vector<double> result() override { return as_built_->result(); }
  void start_again(int input) override { as_built_->start_again(input); }

 private:
  Ledger& ledger_;
  std::unique_ptr<Computation> as_built_;
  const Idle& idle_;
  Counts of_a_step_ = {};
  int calls_ = 0;
};

// Returns its last result instead of computing.
class Rememberer final : public Computation {
 public:
  Rememberer(Ledger& ledger, std::unique_ptr<Computation> as_built, const Idle& idle)
      : idler_(ledger, std::move(as_built), idle), idle_(idle) {}
  void step() override {
    idler_.step();
    recalls_ = idle_.in(++calls_);
    if (!recalls_) remembered_ = idler_.result();
  }
  std::vector<double> result() override { return recalls_ ? remembered_ : idler_.result(); }
  void start_again(int input) override { idler_.start_again(input); }

 private:
  Idler idler_;
  const Idle& idle_;
  std::vector<double> remembered_ = {};
  bool recalls_ = false;
  int calls_ = 0;
};

struct EachFamily : testing::TestWithParam<std::pair<const char*, const Family<Row>*>> {
  Row row = {.family = GetParam().second, .model = Model::micro, .options = golden::micro};

  // After as many steps as are checked plus those of a timed section.
  Subject timed(const Steps& steps, Variant variant) {
    Subject subject = account(steps, variant, "host");
    for (int call = 0; call < looked_at; ++call) subject.computation->step();
    return subject;
  }
  template <class Lazy = Idler>
  std::optional<std::string> found(Variant lazy, const Idle& idle, bool beside_reference) {
    Case one = holdfast::case_of(row);
    Steps& steps = std::get<Steps>(one.recipe);
    steps.make = [&, make = steps.make](Backend& backend,
                                        Variant variant) -> std::unique_ptr<Computation> {
      auto as_built = make(backend, variant);
      if (variant != lazy) return as_built;
      return std::make_unique<Lazy>(backend.ledger, std::move(as_built), idle);
    };
    Subject optimized = timed(steps, Variant::optimized);
    std::optional<Subject> reference;
    if (beside_reference) reference = timed(steps, Variant::reference);
    Again done;
    return verify_again(steps, reference ? &*reference : nullptr, optimized,
                        {.seconds = 60, .seed = 1}, done);
  }
};

TEST_P(EachFamily, OfAVariantThatDoesAllOfItsWorkIsRight) {
  const Idle never = {"never", [](int) { return false; }};
  for (const bool beside : {false, true})
    EXPECT_EQ(found(Variant::optimized, never, beside), std::nullopt);
}

TEST_P(EachFamily, OfAVariantThatIdlesIsWrong) {
  for (const Idle& idle : idles)
    for (const bool beside : {false, true})
      EXPECT_THAT(found(Variant::optimized, idle, beside).value_or(""),
                  testing::HasSubstr("verified again after the timed section, the optimized"))
          << idle.name;
}

TEST_P(EachFamily, OfAVariantThatAnswersFromMemoryIsWrong) {
  for (const Idle& idle : idles)
    EXPECT_THAT(found<Rememberer>(Variant::optimized, idle, true).value_or(""),
                testing::HasSubstr("verified again after the timed section, the optimized"))
        << idle.name;
}

TEST_P(EachFamily, OfAReferenceThatIdlesIsWrong) {
  EXPECT_THAT(found(Variant::reference, idles[3], true).value_or(""),
              testing::HasSubstr("verified again after the timed section, the reference"));
}

INSTANTIATE_TEST_SUITE_P(
    Steps, EachFamily,
    testing::Values(std::pair{"forward", &families::forward},
                    std::pair{"forward_backward", &families::forward_backward},
                    std::pair{"layer_forward", &families::layer_forward},
                    std::pair{"layer_backward", &families::layer_backward},
                    std::pair{"attention_forward", &families::attention_forward},
                    std::pair{"attention_backward", &families::attention_backward},
                    std::pair{"lm_head", &families::lm_head}),
    [](const auto& one) { return std::string(one.param.first); });

}  // namespace
}  // namespace holdfast::gpt_train
