// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/fft.hpp"

#include "runtime/backend/buffer.hpp"
#include "runtime/backend/host_library.hpp"
#include "runtime/count/recorder.hpp"

namespace holdfast {
namespace {

constexpr std::string_view fft_site = "fft work area";

void check_problem(const Fft& problem) {
  if (problem.rows < 1 || problem.columns < 1 || problem.batch < 1)
    throw Error(Fault::bad_input,
                text("a Fourier transform of [", problem.batch, ", ", problem.rows, ", ",
                     problem.columns, "]: batch, rows and columns must be positive"));
}

}  // namespace

Transform::Transform(Backend& backend, const Fft& problem) : backend_(&backend), problem_(problem) {
  check_problem(problem);
  if (!backend.device) {
    const Verb verb(backend.ledger.recorder, [&](Recorder& recorder) {
      return recorder.open(Activity::Kind::plan, shown(problem));
    });
    backend.ledger.plan(shown(problem));
    plan_ = plan_fft_on_host(problem);
    return;
  }
  work_area_ = allocate(backend, problem.work_area_bytes(), fft_site);
  try {
    plan_ = backend.device->plan_fft(problem, work_area_);
  } catch (...) {
    release(backend, work_area_, problem.work_area_bytes(), fft_site);
    throw;
  }
}

Transform::~Transform() {
  plan_.reset();  // before the work area it uses
  if (work_area_) release(*backend_, work_area_, problem_.work_area_bytes(), fft_site);
}

void Transform::operator()(const void* in, void* out) {
  if (in == out && problem_.real())
    throw Error(Fault::bad_input,
                "a real Fourier transform in place would need padded rows: use two buffers");
  if (backend_->device) return backend_->device->transform(*plan_, in, out);
  const Verb verb(backend_->ledger.recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::library, shown(problem_));
  });
  transform_on_host(*plan_, in, out);
  ++backend_->ledger.counts.launches;
  ++backend_->ledger.counts.library_calls;
}

}  // namespace holdfast
