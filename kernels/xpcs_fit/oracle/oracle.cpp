// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/oracle/oracle.hpp"

#include <cmath>
#include <complex>
#include <numbers>

#include "runtime/backend/host_limits.hpp"

namespace holdfast::xpcs_fit::oracle {
namespace {

using Complex = std::complex<double>;
constexpr double imaginary_step = 1e-30;

double real(double x) {
  return x;
}
double real(Complex x) {
  return x.real();
}
// The larger or smaller by the real part; NaN stays NaN.
template <class T>
T floored(T x, double least) {
  return real(x) < least ? T(least) : x;
}
template <class T>
T capped(T x, double most) {
  return real(x) > most ? T(most) : x;
}

// The model at one set of parameters, for real or complex numbers.
template <class T>
class Model {
 public:
  Model(const Problem& problem, std::vector<T> parameters)
      : input_(*problem.input),
        options_(problem.options),
        all_(std::move(parameters)),
        first_(options_.scaling == Scaling::per_angle ? 2 * input_.size.angles : 2) {
    const auto physical = [&](int k) { return all_[first_ + k]; };
    transport_ = integrated(
        [&](double t) { return physical(0) * std::pow(T(t + 1e-10), physical(1)) + physical(2); });
    if (laminar())
      shear_ = integrated([&](double t) {
        const double shifted = t == 0 ? input_.physics.dt : t;
        return physical(3) * std::pow(T(shifted), physical(4)) + physical(5);
      });
  }

  T operator()(int a, int i, int j) const {
    const double kappa = input_.physics.q * input_.physics.q * input_.physics.dt / 2;
    T g1 = std::exp(capped(floored(-kappa * between(transport_, i, j), -700), 0));
    if (laminar()) {
      const double to_radians = std::numbers::pi / 180;
      const T psi = (all_[first_ + 6] - input_.angles[a]) * to_radians;
      const T x = input_.physics.flow() * std::cos(psi) * between(shear_, i, j);
      const T sinc = std::abs(x) > 1e-12 ? std::sin(x) / x : T(1);
      g1 *= sinc * sinc;
    }
    g1 = floored(g1, 1e-10);
    const bool own = options_.scaling == Scaling::per_angle;
    const T contrast = all_[own ? a : 0], offset = all_[own ? input_.size.angles + a : 1];
    return capped(floored(offset + contrast * g1 * g1, 1e-10), 2);
  }

 private:
  bool laminar() const { return options_.mode == Mode::laminar; }

  // Trapezoids, zero at frame 1.
  template <class RateAt>
  std::vector<T> integrated(const RateAt& rate_at) const {
    const int n = input_.size.frames;
    const auto at = [&](int i) { return floored(rate_at(i * input_.physics.dt), 1e-10); };
    std::vector<T> sum(static_cast<std::size_t>(n));
    sum[0] = -0.5 * (at(0) + at(1));
    for (int i = 2; i < n; ++i) sum[i] = sum[i - 1] + 0.5 * (at(i - 1) + at(i));
    return sum;
  }
  // A smooth |x_i - x_j|.
  static T between(const std::vector<T>& x, int i, int j) {
    const T difference = x[i] - x[j];
    return std::sqrt(difference * difference + 1e-20);
  }

  const Input& input_;
  Options options_;
  std::vector<T> all_;
  int first_;  // index of the first physical parameter
  std::vector<T> transport_ = {}, shear_ = {};
};

// One model per parameter, with the imaginary step in that parameter.
std::vector<Model<Complex>> stepped(const Problem& problem, const std::vector<double>& parameters) {
  std::vector<Model<Complex>> all;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    std::vector<Complex> at(parameters.begin(), parameters.end());
    at[k] += Complex(0, imaginary_step);
    all.emplace_back(problem, at);
  }
  return all;
}

// Whether parameter k affects angle a at all.
bool concerns(const Problem& problem, int k, int a) {
  const int angles = problem.input->size.angles;
  return problem.options.scaling == Scaling::shared || k >= 2 * angles || k % angles == a;
}

// Calls visit(a, i, j, flat index) for the points of one row, by one thread.
template <class Visit>
void for_row(const Size& size, std::int64_t row, const Visit& visit) {
  const int a = static_cast<int>(row / size.frames), i = static_cast<int>(row % size.frames);
  for (int j = 0; j < size.frames; ++j) visit(a, i, j, row * size.frames + j);
}
template <class Visit>
void for_all(const Size& size, const Visit& visit) {
#pragma omp parallel for num_threads(host_limits().threads)
  for (std::int64_t row = 0; row < std::int64_t{size.angles} * size.frames; ++row)
    for_row(size, row, visit);
}

double weight(const Problem& problem, std::int64_t k) {
  return problem.options.weights == Weights::array ? problem.input->weights[k] : 1;
}

// The loss of one residual, and its weights in the gradient and in the matrix.
struct Share {
  double cost, gradient, matrix;
};
Share share(const Options& options, double r) {
  if (options.loss == Loss::linear) return {r * r / 2, 1, 1};
  const double scale = options.loss_scale, z = r / scale * (r / scale), root = std::sqrt(1 + z);
  return {scale * scale * (root - 1), 1 / root, 1 / (root * root * root)};
}

void add_point(const Problem& problem, const std::vector<Model<Complex>>& by, double r, int a,
               int i, int j, double own_weight, Normal& sums) {
  const std::size_t p = by.size();
  std::vector<double> row(p);
  for (std::size_t k = 0; k < p; ++k)
    if (concerns(problem, static_cast<int>(k), a))
      row[k] = own_weight * by[k](a, i, j).imag() / imaginary_step;
  const Share own = share(problem.options, r);
  sums.cost += own.cost;
  for (std::size_t k = 0; k < p; ++k) {
    sums.gradient[k] += own.gradient * row[k] * r;
    for (std::size_t l = 0; l < p; ++l) sums.matrix[k * p + l] += own.matrix * row[k] * row[l];
  }
}

}  // namespace

std::vector<double> model(const Problem& problem, const std::vector<double>& parameters) {
  const Model<double> at(problem, parameters);
  std::vector<double> all(static_cast<std::size_t>(problem.input->size.points()));
  for_all(problem.input->size, [&](int a, int i, int j, std::int64_t k) { all[k] = at(a, i, j); });
  return all;
}

std::vector<double> residual(const Problem& problem, const std::vector<double>& parameters) {
  std::vector<double> all = model(problem, parameters);
  for (std::size_t k = 0; k < all.size(); ++k)
    all[k] = weight(problem, static_cast<std::int64_t>(k)) * (all[k] - problem.input->data[k]);
  return all;
}

std::vector<double> jacobian(const Problem& problem, const std::vector<double>& parameters, int a,
                             int i, int j) {
  std::vector<double> row;
  for (const Model<Complex>& by : stepped(problem, parameters))
    row.push_back(by(a, i, j).imag() / imaginary_step);
  return row;
}

double cost(const Problem& problem, const std::vector<double>& parameters) {
  double sum = 0;
  for (const double r : residual(problem, parameters)) sum += share(problem.options, r).cost;
  return sum;
}

Normal normal_equations(const Problem& problem, const std::vector<double>& parameters) {
  const std::size_t p = parameters.size();
  const Size& size = problem.input->size;
  const std::vector<Model<Complex>> by = stepped(problem, parameters);
  const std::vector<double> r = residual(problem, parameters);
  const Normal none = {0, std::vector<double>(p), std::vector<double>(p * p)};
  std::vector<Normal> rows(static_cast<std::size_t>(size.angles) * size.frames, none);
#pragma omp parallel for num_threads(host_limits().threads)
  for (std::int64_t row = 0; row < std::int64_t{size.angles} * size.frames; ++row)
    for_row(size, row, [&](int a, int i, int j, std::int64_t k) {
      add_point(problem, by, r[k], a, i, j, weight(problem, k), rows[row]);
    });
  Normal total = none;
  for (const Normal& one : rows) {
    total.cost += one.cost;
    for (std::size_t k = 0; k < p; ++k) total.gradient[k] += one.gradient[k];
    for (std::size_t k = 0; k < p * p; ++k) total.matrix[k] += one.matrix[k];
  }
  return total;
}

}  // namespace holdfast::xpcs_fit::oracle
