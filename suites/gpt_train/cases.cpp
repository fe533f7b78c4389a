// SPDX-License-Identifier: Apache-2.0
// The cases of kernels/gpt_train: one row per claim, in the order of the list.
#include <algorithm>
#include <optional>

#include "families/given.hpp"
#include "gpt_train/row.hpp"

namespace holdfast {
namespace {

using namespace gpt_train;

using Rows = std::vector<Row>;

// The tiers of a case on a host, in f32, and on a device, in bf16.
struct Tiers {
  std::optional<Tier> host = {}, device = {};
};
constexpr Tiers gate = {Tier::gate, Tier::gate}, full = {Tier::full, Tier::full},
                device_gate = {{}, Tier::gate}, device_full = {{}, Tier::full};

struct Setting {
  bool documents = false;
  Optimizer optimizer = Optimizer::adamw;
  Launch launch = Launch::host;
  bool ahead = false;    // of fetching
  bool counted = false;  // instructions are counted, on a host
};

void add(Rows& rows, const Family<Row>& family, const Tiers& tiers, Model model,
         const Setting& setting = {}) {
  Row row = {.family = &family,
             .model = model,
             .options = {.shape = shape_of(model),
                         .documents = setting.documents,
                         .optimizer = setting.optimizer,
                         .fetching = {.ahead = setting.ahead}}};
  if (tiers.host) {
    row.tier = *tiers.host;
    row.counted = setting.counted;
    rows.push_back(row);
  }
  if (!tiers.device) return;
  row.tier = *tiers.device;
  row.counted = false;
  row.options.precision = Precision::bf16;
  row.options.launch = setting.launch;
  rows.push_back(row);
}

constexpr Model of_devices[] = {Model::llama3_150m, Model::gpt2_124m};

// One forward and backward pass, whole and in its parts. Micro and attention are small enough for
// their instructions to be counted.
void add_passes(Rows& rows) {
  using namespace families;
  add(rows, forward_backward, {.host = Tier::gate}, Model::micro, {.documents = true});
  rows.back().options.pad_tail = 3;
  rows.back().options.precision = Precision::f64;
  rows.back().counted = true;
  add(rows, forward, {Tier::full, Tier::gate}, Model::tiny);
  for (const Model model : of_devices)
    for (const bool documents : {false, true})
      add(rows, forward, device_full, model, {.documents = documents});
  add(rows, forward_backward, {Tier::smoke, Tier::smoke}, Model::tiny);
  add(rows, forward_backward, full, Model::tiny, {.documents = true});
  add(rows, forward_backward, full, Model::small, {.documents = true});
  add(rows, forward_backward, device_gate, Model::llama3_150m);
  add(rows, forward_backward, device_full, Model::llama3_150m, {.documents = true});
  add(rows, forward_backward, device_full, Model::gpt2_124m);
  add(rows, layer_forward, {Tier::full, Tier::gate}, Model::tiny);
  add(rows, layer_backward, gate, Model::tiny);
  for (const Family<Row>* half : {&layer_forward, &layer_backward})
    for (const Model model : of_devices) add(rows, *half, device_full, model);
  for (const Family<Row>* part : {&attention_forward, &attention_backward}) {
    for (const bool documents : {false, true})
      add(rows, *part, documents ? gate : full, Model::tiny,
          {.documents = documents, .counted = documents});
    for (const Model model : of_devices)
      for (const bool documents : {false, true})
        add(rows, *part, device_full, model, {.documents = documents});
  }
  add(rows, lm_head, gate, Model::tiny);
  for (const Model model : of_devices) add(rows, lm_head, device_full, model);
}

constexpr Optimizer all[] = {Optimizer::adamw, Optimizer::muon, Optimizer::multiscale};

// Matrices of the models, of all layers: the gates of tiny, wide and tall, the largest of small,
// and some of larger shapes for devices only.
void add_matrices(Rows& rows) {
  const auto add = [&](Precision precision, int r, int c, int batch) {
    rows.push_back({.family = &families::newton_schulz,
                    .tier = Tier::full,
                    .options = {.precision = precision},
                    .matrices = {r, c, batch, precision}});
  };
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    add(precision, 128, 384, 6);
    add(precision, 384, 128, 6);
    add(precision, 256, 896, 12);
  }
  add(Precision::bf16, 1024, 3584, 24);
  add(Precision::bf16, 768, 768, 48);
  add(Precision::bf16, 768, 2048, 36);
}

// Isolated updates and whole steps: on a device launched by the host, and as one graph.
void add_training(Rows& rows) {
  using namespace families;
  for (const Optimizer each : all) {
    add(rows, optimizer, each == Optimizer::muon ? gate : full, Model::tiny, {.optimizer = each});
    for (const Model model : of_devices)
      add(rows, optimizer, device_full, model, {.optimizer = each});
  }
  for (const bool documents : {false, true})
    for (const Optimizer each : all) {
      const Tiers tiers = documents ? full : gate;
      add(rows, train_step, tiers, Model::tiny, {documents, each});
      add(rows, train_step, {{}, tiers.device}, Model::tiny, {documents, each, Launch::graph});
    }
  for (const Optimizer each : all)
    add(rows, train_step, full, Model::small, {true, each, Launch::graph});
  for (const Optimizer each : all) {
    add(rows, train_step, device_gate, Model::llama3_150m, {false, each, Launch::graph});
    add(rows, train_step, device_full, Model::llama3_150m, {true, each, Launch::graph});
    for (const bool documents : {false, true})
      add(rows, train_step, device_full, Model::gpt2_124m, {documents, each, Launch::graph});
  }
}

void add_protocols(Rows& rows) {
  using namespace families;
  add(rows, in_turn, {Tier::full, Tier::gate}, Model::tiny);
  for (const Optimizer each : all) {
    const bool plain = each == Optimizer::adamw;
    add(rows, memory, plain ? gate : full, Model::tiny, {.optimizer = each});
    add(rows, memory, device_full, Model::small, {.optimizer = each});
    add(rows, memory, plain ? device_gate : device_full, Model::llama3_150m, {.optimizer = each});
    add(rows, memory, device_full, Model::gpt2_124m, {.optimizer = each});
  }
  for (const bool ahead : {false, true}) {
    add(rows, data_pipeline, {ahead ? Tier::gate : Tier::full, Tier::gate}, Model::tiny,
        {.launch = Launch::graph, .ahead = ahead});
    for (const Model model : of_devices)
      add(rows, data_pipeline, device_full, model, {.launch = Launch::graph, .ahead = ahead});
  }
  add(rows, first_call, device_gate, Model::tiny, {.launch = Launch::graph});
  add(rows, shape_change, device_gate, Model::tiny, {.launch = Launch::graph});
}

enum class Fetches { in_step, ahead };
constexpr Words<Fetches, 2> fetch_words = {"fetch", {"step", "ahead"}};

// A row changed by the suite's own options.
Row with(const SuiteOptions& options, Row each) {
  using families::train_step;
  const Given given(options);
  given.number("batch", each.options.shape.batch);
  if (given.number("seq", each.options.shape.columns))  // two tokens are a target
    each.options.pad_tail =
        std::clamp(each.options.shape.columns, 2, 2 + each.options.pad_tail) - 2;
  given.word("opt", optimizer_words, each.options.optimizer);
  given.real("lr", each.options.learning_rate);
  given.real("w0", each.options.warm);
  if (Fetches fetches{}; given.word("fetch", fetch_words, fetches) && each.family == &train_step)
    each.options.fetching.ahead = fetches == Fetches::ahead;
  return each;
}

std::vector<Case> cases(const SuiteOptions& given) {
  Rows rows;
  add_passes(rows);
  add_training(rows);
  add_matrices(rows);
  add_protocols(rows);
  for (Row& each : rows) {
    each = with(given, each);
    validate(each.options);
  }
  return cases_of(rows);
}

}  // namespace

Suite suite() {
  return {.name = "gpt_train",
          .options = {{"batch", "B", "rows of a batch"},
                      {"seq", "T", "tokens of a row, at least 2"},
                      {"opt", "RULE", "optimiser of all trainings: adamw, muon or multiscale"},
                      {"lr", "RATE", "learning rate of every update"},
                      {"w0", "W", "how far warm-up has come, 0 to 1"},
                      {"fetch", "WHEN", "batches of a training: in its step, or ahead of it"}},
          .cases = cases};
}

}  // namespace holdfast
