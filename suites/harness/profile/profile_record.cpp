// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/profile_record.hpp"

#include <chrono>

#include "base/time.hpp"
#include "harness/case/profile_options.hpp"
#include "harness/measure/account.hpp"
#include "harness/measure/measure.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;

// Records steps by consecutive Recordings, so that long stretches can be left out.
class StepRecorder {
 public:
  StepRecorder(Backend& backend, Recorded& recorded) : backend_(backend), recorded_(recorded) {
    start();
  }

  void start() {
    offset_ = seconds_since(epoch_);
    recording_ = std::make_unique<Recording>(backend_);
  }
  void stop() {
    if (!recording_) return;
    recording_->stop();
    append(recorded_, *recording_, offset_);
    recording_.reset();
  }

  ProfiledStep step(Computation& computation) {
    ProfiledStep step{
        .begin = recording_now(), .first_activity = activity_count(), .first_scope = scope_count()};
    computation.step();
    step.end = recording_now();
    step.end_activity = activity_count();
    step.end_scope = scope_count();
    return step;
  }

 private:
  double recording_now() const { return offset_ + recording_->now(); }
  std::size_t activity_count() const {
    return recorded_.activities.size() + recording_->activities().size();
  }
  std::size_t scope_count() const { return recorded_.scopes.size() + recording_->scopes().size(); }

  Clock::time_point epoch_ = Clock::now();
  Backend& backend_;
  Recorded& recorded_;
  double offset_ = 0;
  std::unique_ptr<Recording> recording_ = {};
};

void check(const Steps& steps, Variant variant, double error) {
  if (const auto fault = wrong(steps, variant, error))
    throw Error(Fault::broken_rule, text(*fault, "; what is wrong is not profiled"));
}

void build_and_warm_up(const Steps& steps, Variant variant, StepRecorder& recorder,
                       ProfiledSubject& subject) {
  const auto start = Clock::now();
  subject.computation = steps.make(*subject.backend, variant);
  for (int i = 0; i < steps.warm_up; ++i) {
    subject.data.warm_up.push_back(recorder.step(*subject.computation));
    if (i > 0) continue;
    wait_for(*subject.backend);
    subject.data.first_call_seconds = seconds_since(start);
  }
}

StepWindow window(int first_step, int count, StepRecorder& recorder, ProfiledSubject& subject) {
  Backend& backend = *subject.backend;
  StepWindow window{.first_step = first_step};
  wait_for(backend);
  const Counts before = backend.ledger.counts;
  const auto start = Clock::now();
  for (int i = 0; i < count; ++i) window.steps.push_back(recorder.step(*subject.computation));
  subject.data.counts += backend.ledger.counts - before;
  wait_for(backend);
  if (backend.executes()) window.seconds = seconds_since(start);
  return window;
}

void step_through(const ProfilePlan& plan, StepRecorder& recorder, ProfiledSubject& subject) {
  Ledger& ledger = subject.backend->ledger;
  ledger.enter(Ledger::Phase::steady, subject.computation->permissions());
  int done = 0;
  for (int i = 1; i <= plan.windows; ++i) {
    if (plan.every > 0) {
      recorder.stop();
      for (; done < plan.every * i; ++done) subject.computation->step();
      wait_for(*subject.backend);
      recorder.start();
    }
    subject.data.windows.push_back(window(done, plan.steps, recorder, subject));
    done += plan.steps;
  }
  ledger.enter(Ledger::Phase::building);
  recorder.stop();
}

void describe(Profiled& data, const Backend& backend) {
  data.device = backend.name;
  data.device_class = device_class(backend);
  data.device_name = backend.device ? backend.device->name() : backend.name;
  data.executes = backend.executes();
  if (backend.device) {
    data.architecture = backend.device->architecture();
    data.device_memory_bytes = backend.device->memory_bytes();
    for (const auto& program : backend.compiler->programs()) data.programs.push_back(program.get());
  }
  data.peak_bytes = backend.ledger.peak_bytes;
  data.live_bytes = backend.ledger.live_bytes;
  data.peak_by_site = backend.ledger.peak_by_site();
}

}  // namespace

std::optional<std::vector<double>> expected_result(const Steps& steps, const std::string& device) {
  if (!open_backend(device)->executes()) return {};
  return steps.oracle.expected(steps.warm_up);
}

ProfiledSubject record(const std::string& suite, const Case& one, Variant variant,
                       const std::string& device, const ProfilePlan& plan,
                       const std::optional<std::vector<double>>& expected) {
  const auto& steps = std::get<Steps>(one.recipe);
  ProfiledSubject subject{.backend = open_backend(device)};
  subject.data = {.suite = suite, .case_id = one.id, .variant = variant, .work = one.work};
  if (steps.upload_bytes && subject.backend->device)
    subject.data.declared_upload_bytes = steps.upload_bytes(variant);
  StepRecorder recorder(*subject.backend, subject.data.recorded);
  build_and_warm_up(steps, variant, recorder, subject);
  const std::vector<double> warm_result = subject.computation->result();
  if (expected) check(steps, variant, error_of(steps.oracle, warm_result, *expected));

  step_through(plan, recorder, subject);
  describe(subject.data, *subject.backend);
  // After recording has ended: the check computes on this thread, where its scopes would be
  // recorded, and the computation's first call would find compiled what the check compiles.
  if (expected) check(steps, variant, golden_error(steps, variant, device));
  if (expected && steps.invariant)
    if (const auto broken = steps.invariant(warm_result, subject.computation->result()))
      throw Error(Fault::broken_rule, text("the ", variant_name(variant),
                                           " variant broke an invariant while it was "
                                           "profiled: ",
                                           *broken));
  return subject;
}

}  // namespace holdfast
