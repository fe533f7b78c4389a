// SPDX-License-Identifier: Apache-2.0
#include "planted/planted_workload.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "runtime/backend/buffer.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/compiler.hpp"

namespace holdfast::planted {
namespace {

using Kind = Plant::Kind;

constexpr std::pair<std::string_view, Kind> plants[] = {{"", Kind::nothing},
                                                        {"launch", Kind::launch},
                                                        {"allocation", Kind::allocation},
                                                        {"recompile", Kind::recompile},
                                                        {"undeclared", Kind::undeclared},
                                                        {"slow", Kind::slow},
                                                        {"coefficient", Kind::coefficient},
                                                        {"crash", Kind::crash},
                                                        {"skips", Kind::skips},
                                                        {"idles", Kind::idles},
                                                        {"remembers", Kind::remembers},
                                                        {"nan", Kind::nan},
                                                        {"no_graph", Kind::no_graph},
                                                        {"shape", Kind::shape},
                                                        {"copy_back", Kind::copy_back},
                                                        {"fill", Kind::fill},
                                                        {"twice", Kind::twice},
                                                        {"dynamic", Kind::dynamic}};
constexpr const char* variable = "HOLDFAST_PLANT";

// The text after "\nHOLDFAST_PLANT=" at the end of this program.
std::string appended_plant() {
  constexpr std::streamoff most = 64;
  std::ifstream binary("/proc/self/exe", std::ios::binary | std::ios::ate);
  binary.seekg(-most, std::ios::end);
  const std::string end(std::istreambuf_iterator<char>(binary), {});
  const std::string name = text('\n', variable, '=');
  const std::size_t at = end.find(name);
  return at == std::string::npos ? "" : end.substr(at + name.size());
}

constexpr double center = 0.5, wrong_center = 0.51;

std::vector<double> start(int n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = std::sin(0.1 * i) + (i % 7 == 0);
  return x;
}

// The reference makes three passes, the optimized variant one. Both stream through the first-level
// cache, so that other load on the machine slows them alike.
void smooth_reference(const double* x, double* y, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; ++i) y[i] = center * x[i];
  asm volatile("" ::: "memory");  // keeps the passes apart
  for (std::ptrdiff_t i = 1; i < n; ++i) y[i] += 0.25 * x[i - 1];
  asm volatile("" ::: "memory");
  for (std::ptrdiff_t i = 0; i < n - 1; ++i) y[i] += 0.25 * x[i + 1];
  y[0] += 0.25 * x[n - 1];
  y[n - 1] += 0.25 * x[0];
}

// Not inlined, so that planted elements cost the same as the others.
[[gnu::noinline]] void smooth_inner(const double* x, double* y, std::ptrdiff_t end, double middle) {
  for (std::ptrdiff_t i = 1; i < end; ++i) y[i] = 0.25 * x[i - 1] + middle * x[i] + 0.25 * x[i + 1];
}

void smooth_optimized(const double* x, double* y, std::ptrdiff_t n, double middle) {
  y[0] = 0.25 * x[n - 1] + middle * x[0] + 0.25 * x[1];
  smooth_inner(x, y, n - 1, middle);
  y[n - 1] = 0.25 * x[n - 2] + middle * x[n - 1] + 0.25 * x[0];
}

class HostSmooth : public Computation {
 public:
  HostSmooth(Backend& backend, Variant variant, int n)
      : plant_(variant == Variant::optimized ? plant() : Plant{}),
        reference_(variant == Variant::reference),
        more_(more_work(plant_.percent, n)),
        x_(backend, start(n), "x"),
        y_(backend, x_.size(), "y") {
    if (plant_.kind == Kind::allocation) spare_.emplace(backend, x_.size(), "planted");
  }

  void step() override {
    if (plant_.kind == Kind::crash) std::abort();
    ++calls_;
    if (calls_ > 40 && calls_ % 10 == 0 && plant_.kind == Kind::skips) return;
    const auto n = static_cast<std::ptrdiff_t>(x_.size());
    const double middle = plant_.kind == Kind::coefficient ? wrong_center : center;
    if (reference_) {
      smooth_reference(x_.data(), y_.data(), n);
    } else {
      for (int pass = 0; pass <= more_.passes; ++pass) {
        smooth_optimized(x_.data(), y_.data(), n, middle);
        asm volatile("" ::: "memory");  // planted passes must not be optimised away
      }
      if (more_.elements > 0) smooth_inner(x_.data(), y_.data(), 1 + more_.elements, middle);
    }
    if (plant_.kind == Kind::nan) y_.data()[n / 2] = std::nan("");
    std::swap(x_, y_);
  }
  std::vector<double> result() override { return x_.to_host(); }
  void start_again(int) override { x_.upload(start(static_cast<int>(x_.size()))); }

 private:
  Plant plant_;
  bool reference_;
  int calls_ = 0;
  MoreWork more_;
  Buffer<double> x_, y_;
  std::optional<Buffer<double>> spare_ = {};
};

class HostOnce : public Computation {
 public:
  HostOnce(Backend& backend, Variant variant, int n)
      : plant_(variant == Variant::optimized ? plant() : Plant{}),
        reference_(variant == Variant::reference),
        x_(backend, start(n), "x"),
        y_(backend, x_.size(), "y") {}

  void step() override {
    const bool second = ++calls_ % 2 == 0;
    if (second && plant_.kind == Kind::idles) return;
    if (second && plant_.kind == Kind::remembers) return y_.upload(remembered_);
    const auto n = static_cast<std::ptrdiff_t>(x_.size());
    if (reference_)
      smooth_reference(x_.data(), y_.data(), n);
    else
      smooth_optimized(x_.data(), y_.data(), n, center);
    if (plant_.kind == Kind::remembers) remembered_ = y_.to_host();
  }
  std::vector<double> result() override { return y_.to_host(); }
  void start_again(int input) override {
    std::vector<double> x = start(static_cast<int>(x_.size()));
    for (double& value : x) value *= 1 + input;
    x_.upload(x);
  }

 private:
  Plant plant_;
  bool reference_;
  Buffer<double> x_, y_;
  std::vector<double> remembered_ = {};
  int calls_ = 0;
};

constexpr Source device_code = {"planted/smooth.cu", R"(
// y = weights of x[i-1], x[i], x[i+1] on a ring of n; the reference makes it in two launches, the optimized in one.
__global__ void smooth(const double* x, volatile double* y, int n, int times) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < n && times > 0; --times) y[i] = 0.25 * x[(i + n - 1) % n] + 0.5 * x[i] + 0.25 * x[(i + 1) % n];
}
__global__ void sides(const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.25 * x[(i + n - 1) % n] + 0.25 * x[(i + 1) % n];
}
__global__ void middle(const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 0.5 * x[i];
}
#ifdef STEP
__global__ void stamp(double* y) {
  if (STEP < 0) y[0] = STEP;
}
#endif
)"};

class DeviceSmooth : public Computation {
 public:
  DeviceSmooth(Backend& backend, Variant variant, int n)
      : backend_(backend),
        plant_(variant == Variant::optimized ? plant() : Plant{}),
        reference_(variant == Variant::reference),
        n_(n),
        module_(backend.compiler->compile(
            {.code = device_code, .entries = {"smooth", "sides", "middle"}})),
        smooth_(module_.kernel<const double*, volatile double*, int, int>("smooth")),
        sides_(module_.kernel<const double*, double*, int>("sides")),
        middle_(module_.kernel<const double*, double*, int>("middle")),
        x_(backend, start(n), "x"),
        y_(backend, x_.size(), "y") {
    if (plant_.kind == Kind::allocation) spare_.emplace(backend, x_.size(), "planted");
  }

  void step() override {
    if (plant_.kind == Kind::crash) std::abort();
    const LaunchShape shape = {.grid = {static_cast<unsigned>(n_ + 127) / 128}, .block = {128}};
    if (plant_.kind == Kind::recompile || plant_.kind == Kind::undeclared) compile_another();
    if (plant_.kind == Kind::fill) backend_.device->fill_zero(y_.data(), y_.bytes());
    if (reference_) {
      sides_(shape, x_.data(), y_.data(), n_);
      middle_(shape, x_.data(), y_.data(), n_);
    } else {
      for (int times = plant_.kind == Kind::launch ? 2 : 1; times > 0; --times)
        smooth_(shape, x_.data(), y_.data(), n_, plant_.kind == Kind::twice ? 2 : 1);
    }
    if (plant_.kind == Kind::copy_back)
      backend_.device->copy(x_.data(), y_.data(), x_.bytes());
    else
      std::swap(x_, y_);
  }
  std::vector<double> result() override { return x_.to_host(); }
  void start_again(int) override { x_.upload(start(n_)); }
  Permissions permissions() const override {
    return {.may_compile = plant_.kind == Kind::recompile};
  }

 private:
  Backend& backend_;
  Plant plant_;
  bool reference_;
  int n_;
  int steps_ = 0;
  Module module_;
  Kernel<const double*, volatile double*, int, int> smooth_;
  Kernel<const double*, double*, int> sides_, middle_;
  Buffer<double> x_, y_;
  std::optional<Buffer<double>> spare_ = {};

  // Simulates a step number that enters a program as a constant.
  void compile_another() {
    (void)backend_.compiler->compile(
        {.code = device_code, .definitions = {text("STEP=", ++steps_)}, .entries = {"stamp"}});
  }
};

class DeviceLoop : public Computation {
 public:
  DeviceLoop(Backend& backend, Variant variant, int n)
      : device_(*backend.device),
        plant_(variant == Variant::optimized ? plant() : Plant{}),
        n_(n),
        module_(backend.compiler->compile({.code = device_code, .entries = {"smooth"}})),
        smooth_(module_.kernel<const double*, volatile double*, int, int>("smooth")),
        x_(backend, start(n), "x"),
        y_(backend, x_.size(), "y") {
    if (variant == Variant::optimized && plant_.kind != Kind::no_graph)
      graph_ = device_.capture([&] { enqueue(); });
  }

  void step() override {
    if (graph_)
      device_.replay(*graph_);
    else
      enqueue();
  }
  std::vector<double> result() override { return x_.to_host(); }
  void start_again(int) override { x_.upload(start(n_)); }

 private:
  Device& device_;
  Plant plant_;
  int n_;
  Module module_;
  Kernel<const double*, volatile double*, int, int> smooth_;
  Buffer<double> x_, y_;
  std::optional<Graph> graph_ = {};

  void enqueue() {
    const unsigned threads = plant_.kind == Kind::shape ? 64 : 128;
    const LaunchShape shape = {.grid = {blocks(n_, threads)},
                               .block = {threads},
                               .shared_bytes = plant_.kind == Kind::dynamic ? 4096u : 0u};
    for (int i = 0; i < loop_steps / 2; ++i) {
      smooth_(shape, x_.data(), y_.data(), n_, 1);
      smooth_(shape, y_.data(), x_.data(), n_, 1);
    }
  }
};

}  // namespace

MoreWork more_work(double percent, int n) {
  // Counted instructions, in elements: a step costs as much as n + 40 of them, a further call 5.
  constexpr int step_cost = 40, call_cost = 5;
  const double whole = std::floor(percent / 100);
  const double more = (percent / 100 - whole) * (n + step_cost);
  return {.passes = static_cast<int>(whole),
          .elements = std::clamp(static_cast<int>(std::lround(more)) - call_cost, 0, n - 2)};
}

Plant plant() {
  const char* set = std::getenv(variable);
  return parse_plant(set && *set ? std::string(set) : appended_plant());
}

Plant parse_plant(std::string_view words) {
  const std::size_t colon = std::min(words.find(':'), words.size());
  const std::string_view name = words.substr(0, colon);
  for (const auto& [word, kind] : plants) {
    if (word != name) continue;
    if (kind != Kind::slow && colon < words.size()) break;
    if (kind != Kind::slow || colon == words.size()) return {kind, kind == Kind::slow ? 100. : 0.};
    double percent = 0;
    const std::string_view digits = words.substr(colon + 1);
    const auto [end, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), percent);
    if (fault == std::errc() && end == digits.data() + digits.size() && percent >= 0 &&
        percent <= 1000)
      return {kind, percent};
  }
  throw Error(Fault::bad_input, text(variable, " is '", words,
                                     "', which plants nothing known; slow:5 plants 5 % more "
                                     "work into the host's optimized variant"));
}

std::unique_ptr<Computation> make_smooth(Backend& backend, Variant variant, int n) {
  if (backend.device) return std::make_unique<DeviceSmooth>(backend, variant, n);
  return std::make_unique<HostSmooth>(backend, variant, n);
}

std::unique_ptr<Computation> make_once(Backend& backend, Variant variant, int n) {
  return std::make_unique<HostOnce>(backend, variant, n);
}

std::unique_ptr<Computation> make_loop(Backend& backend, Variant variant, int n) {
  return std::make_unique<DeviceLoop>(backend, variant, n);
}

Work smooth_work(int n) {
  return {.flops = 4. * n, .bytes = 16. * n};
}

std::vector<double> smooth_expected(int n, int steps) {
  std::vector<double> x = start(n), y(x.size());
  const std::size_t size = x.size();
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < size; ++i)
      y[i] = (x[(i + size - 1) % size] + 2 * x[i] + x[(i + 1) % size]) / 4;
    std::swap(x, y);
  }
  return x;
}

}  // namespace holdfast::planted
