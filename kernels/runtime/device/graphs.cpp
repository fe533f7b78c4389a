// SPDX-License-Identifier: Apache-2.0
// The verbs of a device that record work and replay it, and track the memory that a graph refers
// to.
#include <cstring>
#include <iterator>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/count/recorder.hpp"
#include "runtime/device/device.hpp"

namespace holdfast {
namespace {

std::string_view shown(const Graph::Node& node) {
  if (node.function) return node.function->expression;
  if (!node.library.empty()) return node.library;
  return node.kind == Graph::Node::Kind::fill ? "a fill" : "a copy";
}

}  // namespace

Graph Device::capture(const std::function<void()>& enqueue) {
  forbid_in_capture("captures a second graph");
  ledger_->graph();
  const Verb verb(ledger_->recorder,
                  [](Recorder& recorder) { return recorder.open(Activity::Kind::capture); });
  Graph graph;
  do_begin_capture();
  graph.releases_seen = releases_;
  graph.scopes_around = open_scopes().size();
  capturing_ = &graph;
  captured_nodes_ = 0;
  released_in_capture_.clear();
  try {
    enqueue();
    refuse_released_in_capture();
  } catch (...) {
    capturing_ = nullptr;
    abandon_capture();
    throw;
  }
  capturing_ = nullptr;
  graph.executable = do_end_capture();
  return graph;
}

// Releasing cannot throw, so what follows it does. The capture of a real device ends with it.
void Device::refuse_released_in_capture() const {
  if (capturing_ && !released_in_capture_.empty()) forbid_in_capture(released_in_capture_);
}

// A stream left in capture mode would refuse everything afterwards; errors in here follow from the
// first one.
void Device::abandon_capture() noexcept {
  try {
    do_end_capture();
  } catch (const std::exception& error) {
    try {
      log(LogLevel::debug, error.what());
    } catch (...) {  // no memory for a log line, and the first error is propagating
    }
  }
}

void Device::replay(const Graph& graph) {
  forbid_in_capture("replays another graph");
  check_uses(graph);
  const Verb verb(ledger_->recorder,
                  [&](Recorder& recorder) { return recorder.open_replay(graph); });
  do_replay(graph);
  ++enqueued_;
  ledger_->counts += graph.counts;
  if (graph.counts.launches > 0) ledger_->counts.hidden_bytes += overlap_.launch();
  ++ledger_->counts.host_launches;
  ledger_->counts.graph_nodes += static_cast<std::int64_t>(graph.nodes.size());
  for (const auto& [function, launched] : graph.launched) {
    function->launches += launched.launches;
    function->argument_sum += launched.argument_sum;
  }
}

bool Device::is_foreign(const Used& used) const {
  if (!checks_pointers() || (!used.memory && used.bytes == 0)) return false;
  const auto after = live_.upper_bound(used.memory);
  if (after == live_.begin()) return true;
  const auto& [begin, held] = *std::prev(after);
  const auto before = static_cast<std::size_t>(static_cast<const std::byte*>(used.memory) -
                                               static_cast<const std::byte*>(begin));
  // What a CPU writes behind an end it finds there, and tells with the name of who did.
  return before > held.bytes || (!executes() && used.bytes > held.bytes - before);
}

void Device::refuse_foreign(std::string_view doing) const {
  throw Error(Fault::broken_rule, text(doing, " memory that nobody holds on ", name(),
                                       ": give it a buffer that is alive, or none"));
}

void Device::refuse_foreign(const Graph::Node& given) const {
  refuse_foreign(text(shown(given), " is given"));
}

void Device::require_held(const Function& function, const LaunchArguments& arguments) const {
  for (const auto& [argument, offset] : arguments.known_pointers) {
    const void* memory = nullptr;
    std::memcpy(static_cast<void*>(&memory),
                static_cast<const std::byte*>(arguments.pointers[argument]) + offset,
                sizeof memory);
    if (is_foreign({memory}))
      refuse_foreign(
          text(function.expression, " is given a pointer in argument ", argument + 1, " to"));
  }
}

void Device::note_use(const void* memory) {
  const auto after = live_.upper_bound(memory);
  if (after == live_.begin()) return;
  const auto& [begin, held] = *std::prev(after);
  if (static_cast<const std::byte*>(memory) >= static_cast<const std::byte*>(begin) + held.bytes)
    return;
  capturing_->uses.try_emplace(held.number,
                               Graph::Use{begin, held.site, capturing_->nodes.size() - 1});
}

void Device::refuse_pinned(const Graph::Node& given) {
  throw Error(Fault::broken_rule,
              text(shown(given),
                   " is given page-locked memory of the host, which neither the ledger nor the "
                   "transfers count: upload it to a buffer"));
}

void Device::check_uses(const Graph& graph) const {
  if (graph.releases_seen == releases_) return;
  for (const auto& [number, use] : graph.uses) {
    const auto held = live_.find(use.memory);
    if (held != live_.end() && held->second.number == number) continue;
    throw Error(Fault::broken_rule,
                text("failed to replay a graph: ", shown(graph.nodes[use.node]), " points into '",
                     use.site, "', which was released since; capture it again"));
  }
  graph.releases_seen = releases_;
}

}  // namespace holdfast
