// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/lock_step.hpp"

#include <array>
#include <charconv>
#include <optional>

#include "harness/machine/cpu_waits.hpp"
#include "harness/machine/measuring_turn.hpp"
#include "harness/machine/own_work.hpp"
#include "harness/machine/threads_apart.hpp"
#include "harness/measure/account.hpp"
#include "harness/measure/measure.hpp"
#include "harness/measure/timing.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

// Long compared with the pipe's latency, short compared with the third of a second that a pair of
// processes lives.
constexpr double paired_sample_seconds = 4e-3;

// With all its digits: a stream prints six, and the gate computes with them.
std::string exactly(double seconds) {
  std::array<char, 32> digits = {};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), seconds).ptr};
}

// One variant, warm, verified, in its steady phase.
class Side {
 public:
  Side(const Steps& steps, Variant variant, const std::string& device)
      : subject_(account(steps, variant, device)),
        timer_(timer(*subject_.backend, *subject_.computation)) {
    verify(steps, subject_, device);
    subject_.backend->ledger.enter(Ledger::Phase::steady, subject_.computation->permissions());
  }

  int suggested_batch() const {
    const MeasuringTurn turn(subject_.backend->name);
    return batch_for(timer_, paired_sample_seconds);
  }

  std::string sample(int batch) const {
    if (subject_.backend->device) {
      const double seconds = timer_(batch) / batch;
      return text(exactly(seconds), ' ', exactly(seconds), " 0");
    }
    const MeasuringTurn turn(subject_.backend->name);
    const ThreadsApart apart;
    // Of this sample's threads: where the other side has a smaller team, its samples end the rest.
    CpuWaits waits;
    const double cpu = working_cpu_seconds(), waited = waits.seconds();
    const double seconds = timer_(batch);
    return text(exactly(seconds / batch), ' ', exactly((working_cpu_seconds() - cpu) / batch), ' ',
                exactly((waits.seconds() - waited) / batch));
  }

 private:
  Subject subject_;
  Timer timer_;
};

// Prepares a side within a measuring turn.
Side made_ready(const Steps& steps, Variant variant, const std::string& device) {
  const MeasuringTurn turn(device);
  return Side(steps, variant, device);
}

int batch_of(std::string_view digits) {
  int batch = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), batch);
  if (fault != std::errc() || end != digits.data() + digits.size() || batch < 1)
    throw Error(Fault::bad_input,
                text("batch ", digits, ": a sample has a whole number of steps, one or more"));
  return batch;
}

}  // namespace

void serve_lock_step(const Case& one, const std::string& device, std::istream& in,
                     std::ostream& out, const std::function<bool()>& disturbed) {
  const auto* steps = std::get_if<Steps>(&one.recipe);
  if (!steps)
    throw Error(Fault::bad_input,
                text(one.id, " is no repeated step, so it cannot be timed a sample at a time"));
  if (!open_backend(device)->executes())
    throw Error(Fault::bad_input,
                text(device,
                     " executes nothing, so nothing can be timed on it; its counts are "
                     "exact and need no second look"));
  const Side optimized = made_ready(*steps, Variant::optimized, device);
  int batch = optimized.suggested_batch();
  // The control, made at first use; its sample need not be as long as its slowness would make it.
  std::optional<Side> reference;
  int reference_batch = 1;
  const auto sample = [&](const Side& side, int steps_of_sample) {
    const std::string told = side.sample(steps_of_sample);
    return text(told, disturbed && disturbed() ? " 1" : " 0");
  };
  const auto control = [&]() -> std::string {
    if (!one.has_reference(device)) return "none";
    if (!reference) {
      reference.emplace(made_ready(*steps, Variant::reference, device));
      reference_batch = reference->suggested_batch();
    }
    return sample(*reference, reference_batch);
  };

  out << "ready " << batch << std::endl;
  for (std::string line; std::getline(in, line);) {
    if (line == "optimized")
      out << sample(optimized, batch);
    else if (line == "reference")
      out << control();
    else if (line.starts_with("batch ")) {
      batch = batch_of(std::string_view(line).substr(6));
      out << "ok";
    } else {
      throw Error(Fault::bad_input, text("'", line,
                                         "': the lines are optimized, reference and "
                                         "batch N"));
    }
    out << std::endl;
  }
}

}  // namespace holdfast
