// SPDX-License-Identifier: Apache-2.0
#include <fftw3.h>
#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/files.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/backend/host_library.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {
namespace {

// FFTW's two precisions are two libraries with the same functions.
template <class Real>
struct Fftw;
template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  static constexpr auto malloc = fftw_malloc;
  static constexpr auto free = fftw_free;
  static constexpr auto destroy = fftw_destroy_plan;
  static constexpr auto plan_complex = fftw_plan_many_dft;
  static constexpr auto plan_forward = fftw_plan_many_dft_r2c;
  static constexpr auto plan_backward = fftw_plan_many_dft_c2r;
  static constexpr auto execute_complex = fftw_execute_dft;
  static constexpr auto execute_forward = fftw_execute_dft_r2c;
  static constexpr auto execute_backward = fftw_execute_dft_c2r;
  static constexpr auto alignment_of = fftw_alignment_of;
  static constexpr auto init_threads = fftw_init_threads;
  static constexpr auto use_threads = fftw_plan_with_nthreads;
  static constexpr auto import_wisdom = fftw_import_wisdom_from_filename;
  static constexpr auto export_wisdom = fftw_export_wisdom_to_filename;
  static constexpr const char* suffix = "";
};
template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  static constexpr auto malloc = fftwf_malloc;
  static constexpr auto free = fftwf_free;
  static constexpr auto destroy = fftwf_destroy_plan;
  static constexpr auto plan_complex = fftwf_plan_many_dft;
  static constexpr auto plan_forward = fftwf_plan_many_dft_r2c;
  static constexpr auto plan_backward = fftwf_plan_many_dft_c2r;
  static constexpr auto execute_complex = fftwf_execute_dft;
  static constexpr auto execute_forward = fftwf_execute_dft_r2c;
  static constexpr auto execute_backward = fftwf_execute_dft_c2r;
  static constexpr auto alignment_of = fftwf_alignment_of;
  static constexpr auto init_threads = fftwf_init_threads;
  static constexpr auto use_threads = fftwf_plan_with_nthreads;
  static constexpr auto import_wisdom = fftwf_import_wisdom_from_filename;
  static constexpr auto export_wisdom = fftwf_export_wisdom_to_filename;
  static constexpr const char* suffix = ".f32";
};

struct HostPlan : FftPlan {
  using FftPlan::FftPlan;
  virtual void execute(const void* in, void* out) = 0;
};

std::mutex planner;  // FFTW plans from one thread at a time

std::string wisdom_file(const char* suffix) {
  const char* file = std::getenv("HOLDFAST_FFTW_WISDOM");
  return file && *file ? std::string(file) + suffix : std::string();
}

// Runs once per process and precision. If the wisdom file is missing or unreadable, FFTW only has
// to measure again.
template <class Real>
void prepare_planner() {
  static const bool once = [] {
    Fftw<Real>::init_threads();
    const auto file = wisdom_file(Fftw<Real>::suffix);
    if (!file.empty() && Fftw<Real>::import_wisdom(file.c_str()) == 0)
      log(LogLevel::info, text("no FFTW wisdom in ", file, ": measuring"));
    return true;
  }();
  (void)once;
  Fftw<Real>::use_threads(host_limits().threads);
}

template <class Real>
void keep_wisdom() {
  const auto file = wisdom_file(Fftw<Real>::suffix);
  if (file.empty()) return;
  const auto beside = text(file, ".", getpid());
  if (Fftw<Real>::export_wisdom(beside.c_str()) == 0 || take_place(beside, file) != 0) {
    (void)std::remove(beside.c_str());
    log(LogLevel::warn, text("failed to write FFTW wisdom to ", file, ": plans are measured anew"));
  }
}

template <class Real>
class Plan final : public HostPlan {
  using Api = Fftw<Real>;
  using Complex = Api::Complex;
  struct Free {
    void operator()(void* memory) const noexcept { Api::free(memory); }
  };
  struct DestroyPlan {
    void operator()(Api::Plan plan) const noexcept { Api::destroy(plan); }
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<typename Api::Plan>, DestroyPlan>;
  using Scratch = std::unique_ptr<void, Free>;

 public:
  // Measuring overwrites the arrays, so it uses its own; they are aligned like every backend's
  // buffers.
  explicit Plan(const Fft& what) : HostPlan(what) {
    const std::lock_guard lock(planner);
    prepare_planner<Real>();
    const std::size_t bytes =
        sizeof(Complex) * problem.batch * problem.rows * (std::size_t{1} + problem.columns);
    const Scratch in(Api::malloc(bytes)), out(Api::malloc(bytes));
    if (!in || !out)
      throw Error(Fault::bad_input, text("failed to plan a Fourier transform: no ", 2 * bytes,
                                         " bytes to measure in"));
    apart_ = Handle(made(problem, in.get(), out.get()));
    if (complex()) in_place_ = Handle(made(problem, in.get(), in.get()));
    if (!apart_ || (complex() && !in_place_))
      throw Error(Fault::device,
                  text("failed to plan a Fourier transform of [", problem.batch, ", ", problem.rows,
                       ", ", problem.columns, "]: FFTW has none"));
    keep_wisdom<Real>();
  }

  void execute(const void* in, void* out) override {
    void* from = const_cast<void*>(in);
    check_alignment(from);
    check_alignment(out);
    if (complex())
      Api::execute_complex((from == out ? in_place_ : apart_).get(), static_cast<Complex*>(from),
                           static_cast<Complex*>(out));
    else if (problem.kind == Fft::Kind::real_forward)
      Api::execute_forward(apart_.get(), static_cast<Real*>(from), static_cast<Complex*>(out));
    else
      Api::execute_backward(apart_.get(), static_cast<Complex*>(from), static_cast<Real*>(out));
  }

 private:
  bool complex() const {
    return problem.kind == Fft::Kind::complex_forward ||
           problem.kind == Fft::Kind::complex_backward;
  }

  static void check_alignment(void* memory) {
    if (Api::alignment_of(static_cast<Real*>(memory)) != 0)
      throw Error(
          Fault::bad_input,
          "a Fourier transform's array starts off FFTW's alignment: let each batch start at "
          "a multiple of 16 bytes");
  }

  Api::Plan made(const Fft& p, void* in, void* out) const {
    const int extents[] = {p.rows, p.columns};
    const int rank = p.rows == 1 ? 1 : 2, *size = extents + (2 - rank);
    const int reals = p.rows * p.columns, halves = p.rows * (p.columns / 2 + 1);
    auto* complex_in = static_cast<Complex*>(in);
    auto* complex_out = static_cast<Complex*>(out);
    switch (p.kind) {
      case Fft::Kind::real_forward:
        return Api::plan_forward(rank, size, p.batch, static_cast<Real*>(in), nullptr, 1, reals,
                                 complex_out, nullptr, 1, halves, FFTW_MEASURE);
      case Fft::Kind::real_backward:
        return Api::plan_backward(rank, size, p.batch, complex_in, nullptr, 1, halves,
                                  static_cast<Real*>(out), nullptr, 1, reals, FFTW_MEASURE);
      default:
        return Api::plan_complex(
            rank, size, p.batch, complex_in, nullptr, 1, reals, complex_out, nullptr, 1, reals,
            p.kind == Fft::Kind::complex_forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_MEASURE);
    }
  }

  Handle apart_, in_place_;
};

}  // namespace

void plan_ffts_without_measuring() {
  // With no time to measure FFTW uses its estimate.
  fftw_set_timelimit(0);
  fftwf_set_timelimit(0);
}

std::unique_ptr<FftPlan> plan_fft_on_host(const Fft& problem) {
  if (problem.precision == Precision::f64) return std::make_unique<Plan<double>>(problem);
  return std::make_unique<Plan<float>>(problem);
}

void transform_on_host(FftPlan& plan, const void* in, void* out) {
  static_cast<HostPlan&>(plan).execute(in, out);
}

}  // namespace holdfast
