// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/oracle/answers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpt_train/gpt_train.hpp"
#include "gpt_train/oracle/oracle.hpp"

namespace holdfast::gpt_train::oracle {
namespace {

void append(Values& to, const Values& what) {
  to.insert(to.end(), what.begin(), what.end());
}
void append(Values& to, const Loss& loss) {
  to.insert(to.end(), {loss.mean, loss.deviation, loss.objective});
}
// Appends the part of the tensors that a unit reads.
void append(Values& to, Unit unit, const Shape& shape, const Tensors& all) {
  std::size_t k = 0;
  const std::vector<Tensor> part = tensors_of(unit, shape), tensors = tensors_of(shape);
  for (std::size_t j = 0; j < tensors.size() && k < part.size(); ++j)
    if (tensors[j].name == part[k].name) append(to, all[j]), ++k;
}

Values arriving(const Shape& s, int width) {
  Values dx(s.tokens() * width);
  for (std::size_t k = 0; k < dx.size(); ++k)
    dx[k] = near_normal(90, k) / std::sqrt(double(s.tokens()));
  return dx;
}

Tensors drawn_gradients(const Shape& shape) {
  Tensors all;
  for (const Tensor& tensor : tensors_of(shape)) {
    all.emplace_back(tensor.size());
    for (std::int64_t k = 0; k < tensor.size(); ++k)
      all.back()[k] = near_normal(91000 + tensor.stream, tensor.first + k) * 1e-3;
  }
  return all;
}

Values chained(Unit unit, const Options& options, int steps) {
  State state = begun(options);
  Pass last;
  for (int k = 0; k < steps; ++k) {
    if (unit == Unit::train_step)
      last = train_step(options, state);
    else
      update(options, drawn_gradients(options.shape), state);
  }
  Values told = {double(steps)};
  if (unit == Unit::train_step) {
    append(told, last.loss);
    told.push_back(norm(last.gradients));
  }
  append(told, unit, options.shape, state.parameters);
  return told;
}

// Losses, streams, attention's output and the gradients through both.
bool has_rows(Unit unit, std::size_t field) {
  switch (unit) {
    case Unit::forward:
    case Unit::lm_head:
      return field == 3;  // after mean, deviation, objective
    case Unit::layer_forward:
    case Unit::layer_backward:
    case Unit::attention_forward:
      return field == 0;
    case Unit::attention_backward:
      return true;
    case Unit::forward_backward:
    case Unit::update:
    case Unit::train_step:
      break;
  }
  return false;
}

double norm(const double* values, std::size_t count) {
  double squares = 0;
  for (std::size_t k = 0; k < count; ++k) squares += values[k] * values[k];
  return std::sqrt(squares);
}
double distance(const double* a, const double* b, std::size_t count) {
  double squares = 0;
  for (std::size_t k = 0; k < count; ++k) squares += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(squares);
}
// The error relative to the expected size; absolute if nothing is expected.
double share(double off, double size) {
  return size > 0 ? off / size : off;
}

double worst_row(std::size_t rows, std::size_t width, const double* found, const double* expected) {
  const double usual = norm(expected, rows * width) / std::sqrt(double(rows));
  double worst = 0;
  for (std::size_t at = 0; at < rows * width; at += width) {
    const double off = distance(found + at, expected + at, width);
    worst = std::max(worst, share(off, std::max(usual, norm(expected + at, width))));
  }
  return worst;
}

}  // namespace

std::vector<double> answer(Unit unit, const Options& options, int steps) {
  const Shape& s = options.shape;
  if (unit == Unit::update || unit == Unit::train_step) return chained(unit, options, steps);
  const Tensors p = parameters(s, options.start);
  const Batch batch = batch_of(options, 0);
  const Targets targets = targets_of(s, batch);
  Values told;
  if (unit == Unit::forward || unit == Unit::forward_backward) {
    const Pass pass = forward_backward(s, p, batch);
    append(told, pass.loss);
    if (unit == Unit::forward)
      append(told, pass.loss.each);
    else
      append(told, unit, s, pass.gradients);
    return told;
  }
  Tensors gradients = zeros(s);
  const Values x = embedded(s, p, batch);
  if (unit == Unit::lm_head) {
    const Loss loss = lm_head(s, p, targets, x, gradients);
    append(told, loss);
    append(told, loss.dx);
    append(told, unit, s, gradients);
    return told;
  }
  const Layer done = layer(s, p, 0, targets.segments, x);
  if (unit == Unit::layer_forward) return done.out;
  if (unit == Unit::attention_forward) return done.attention.o;
  if (unit == Unit::layer_backward) {
    told = layer_backward(s, p, 0, done, arriving(s, s.width), gradients);
    append(told, unit, s, gradients);
    return told;
  }
  const AttentionGradient back = attend_backward(s, done.attention, arriving(s, s.query_width()));
  append(told, back.q);
  append(told, back.k);
  append(told, back.v);
  return told;
}

std::vector<double> answer(const Matrices& what) {
  const Values all = drawn(what);
  Values told;
  for (std::int64_t first = 0; first < what.numbers(); first += what.each())
    append(told, newton_schulz(Values(all.begin() + first, all.begin() + first + what.each()),
                               what.rows, what.columns));
  return told;
}

double distance(const std::vector<std::size_t>& fields, const std::vector<double>& found,
                const std::vector<double>& expected) {
  std::size_t all = 0;
  for (const std::size_t field : fields) all += field;
  if (found.size() != all || expected.size() != all) return INFINITY;
  double worst = 0;
  std::size_t at = 0;
  for (const std::size_t field : fields) {
    const double part = share(distance(found.data() + at, expected.data() + at, field),
                              norm(expected.data() + at, field));
    if (std::isnan(part)) return INFINITY;
    worst = std::max(worst, part);
    at += field;
  }
  return worst;
}

double distance_of_rows(Unit unit, const Options& options, const std::vector<double>& found,
                        const std::vector<double>& expected) {
  const std::vector<std::size_t> fields = fields_of(unit, options);
  const std::size_t rows = options.shape.tokens();
  double worst = 0;
  for (std::size_t k = 0, at = 0; k < fields.size(); at += fields[k++])
    if (has_rows(unit, k))
      worst = std::max(worst,
                       worst_row(rows, fields[k] / rows, found.data() + at, expected.data() + at));
  return worst;
}

double distance_of_lines(const Matrices& what, const std::vector<double>& found,
                         const std::vector<double>& expected) {
  const auto rows = std::size_t(what.rows), columns = std::size_t(what.columns);
  double worst = 0;
  for (std::size_t first = 0; first < expected.size(); first += rows * columns) {
    // Sums of squares: of a line's differences, and of what is expected.
    Values row_off(rows), row_size(rows), column_off(columns), column_size(columns);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const std::size_t k = first + i * columns + j;
        const double off = (found[k] - expected[k]) * (found[k] - expected[k]),
                     size = expected[k] * expected[k];
        row_off[i] += off;
        column_off[j] += off;
        row_size[i] += size;
        column_size[j] += size;
      }
    const double all = std::accumulate(row_size.begin(), row_size.end(), 0.0);
    const auto look = [&](const Values& offs, const Values& sizes) {
      const double usual = all / double(sizes.size());
      for (std::size_t i = 0; i < offs.size(); ++i)
        worst = std::max(worst, share(std::sqrt(offs[i]), std::sqrt(std::max(usual, sizes[i]))));
    };
    look(row_off, row_size);
    look(column_off, column_size);
  }
  return worst;
}

double distance_of_movement(const Options& options, const std::vector<double>& found,
                            const std::vector<double>& expected) {
  double worst = 0;
  std::size_t at = expected.size() - parameter_count(options.shape);
  for (const Tensor& tensor : tensors_of(options.shape)) {
    const Values start = drawn(tensor, options.start);
    const double moved = distance(expected.data() + at, start.data(), start.size()),
                 off = distance(found.data() + at, expected.data() + at, start.size());
    worst = std::max(worst, share(off, std::max(moved, resolved_movement * norm(start))));
    at += start.size();
  }
  return worst;
}

}  // namespace holdfast::gpt_train::oracle
