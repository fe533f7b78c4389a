// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "gpt_train/oracle/oracle.hpp"
#include "gpt_train/oracle/products.hpp"

namespace holdfast::gpt_train::oracle {
namespace {

void adam(const Adam& rule, const Values& gradient, Values& m, Values& v, Values& p) {
  for (std::size_t k = 0; k < p.size(); ++k) {
    m[k] = beta1 * m[k] + (1 - beta1) * gradient[k];
    v[k] = beta2 * v[k] + (1 - beta2) * gradient[k] * gradient[k];
    const double step =
        m[k] / rule.correction1 / (std::sqrt(v[k] / rule.correction2) + adam_epsilon);
    p[k] -= rule.rate * (step + rule.decay * p[k]);
  }
}

void lion(const Lion& rule, const Values& gradient, Values& m, Values& p) {
  for (std::size_t k = 0; k < p.size(); ++k) {
    const double c = (1 - lion_beta) * gradient[k] + lion_beta * m[k];
    p[k] -= rule.rate * ((c > 0) - (c < 0) + lion_decay * p[k]);
    m[k] = lion_beta * m[k] + (1 - lion_beta) * gradient[k];
  }
}

void project_rows(int columns, Values& p) {
  for (std::size_t row = 0; row < p.size(); row += columns) {
    double squares = 0;
    for (int j = 0; j < columns; ++j) squares += p[row + j] * p[row + j];
    const double size = std::sqrt(squares / columns);
    for (int j = 0; size > greatest_row && j < columns; ++j) p[row + j] /= size;
  }
}

}  // namespace

Tensors parameters(const Shape& shape, Start start) {
  Tensors all;
  for (const Tensor& tensor : tensors_of(shape)) all.push_back(drawn(tensor, start));
  return all;
}
Tensors zeros(const Shape& shape) {
  Tensors all;
  for (const Tensor& tensor : tensors_of(shape)) all.emplace_back(tensor.size());
  return all;
}

double norm(const Values& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}
double norm(const Tensors& tensors) {
  Values norms;
  for (const Values& values : tensors) norms.push_back(norm(values));
  return norm(norms);
}

Values newton_schulz(Values x, int rows, int columns) {
  if (rows > columns)
    return transposed(columns, rows,
                      newton_schulz(transposed(rows, columns, x.data()), columns, rows).data());
  const auto [a, b, c] = gpt_train::newton_schulz;
  const double size = norm(x) + newton_schulz_epsilon;
  for (double& value : x) value /= size;
  for (int step = 0; step < newton_schulz_steps; ++step) {
    const Values gram = product(rows, rows, columns, x, transposed(rows, columns, x.data()));
    Values factor = product(rows, rows, rows, gram, gram);
    for (std::size_t k = 0; k < factor.size(); ++k) factor[k] = b * gram[k] + c * factor[k];
    const Values rest = product(rows, columns, rows, factor, x);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = a * x[k] + rest[k];
  }
  return x;
}

State begun(const Options& options) {
  return {parameters(options.shape, options.start), std::vector<Tensors>(3, zeros(options.shape))};
}

void update(const Options& options, const Tensors& gradients, State& state) {
  const Rates rates = rates_of(options, state.step++);
  const std::vector<Tensor> tensors = tensors_of(options.shape);
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& tensor = tensors[k];
    const Values& g = gradients[k];
    Values& p = state.parameters[k];
    Values& first = state.moments[0][k];
    Values& second = state.moments[1][k];
    if (tensor.role == Role::norm) {
      lion(rates.norm, g, first, p);
    } else if (tensor.role != Role::matrix || rates.timescales.empty()) {
      adam(tensor.role == Role::embedding ? rates.embedding
           : tensor.role == Role::head    ? rates.head
                                          : rates.matrix,
           g, first, second, p);
      if (tensor.role == Role::embedding) project_rows(tensor.columns, p);
    } else {
      Values sum(p.size());
      for (std::size_t i = 0; i < rates.timescales.size(); ++i) {
        const Timescale& scale = rates.timescales[i];
        Values& m = state.moments[i][k];
        Values x(p.size());
        for (std::size_t j = 0; j < p.size(); ++j) {
          m[j] = scale.gain * g[j] + scale.beta * m[j];
          x[j] = (1 - scale.beta) * g[j] + scale.beta * m[j];
        }
        const Values o = newton_schulz(std::move(x), tensor.rows, tensor.columns);
        for (std::size_t j = 0; j < p.size(); ++j) sum[j] += scale.weight * o[j];
      }
      const double rate = rates.muon_rate * muon_stretch(tensor.rows, tensor.columns);
      for (std::size_t j = 0; j < p.size(); ++j) p[j] -= rate * (sum[j] + muon_decay * p[j]);
    }
  }
}

Pass train_step(const Options& options, State& state) {
  const Batch batch = batch_of(options, state.step);
  Pass pass = forward_backward(options.shape, state.parameters, batch);
  update(options, pass.gradients, state);
  return pass;
}

}  // namespace holdfast::gpt_train::oracle
