// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/data/data.hpp"

#include <cmath>

#include "runtime/base/error.hpp"

namespace holdfast::gpt_train {
namespace {

// Skewed towards small ids; padding is never drawn.
std::uint64_t base_token(std::uint64_t position, std::uint64_t last) {
  const std::uint64_t u = hashed(seed, 1, position) >> 40;
  std::uint64_t t = (u * u) >> 24;
  t = (t * u) >> 24;
  return (t * last) >> 24;
}

// Odd positions mostly follow from the ones before them: a model can learn that.
int token_at(std::uint64_t position, int vocabulary) {
  const auto last = static_cast<std::uint64_t>(vocabulary - 1);
  if (position % 2 == 1 && (hashed(seed, 1, position) & 3) != 0)
    return static_cast<int>((5 * base_token(position - 1, last) + 7) % last);
  return static_cast<int>(base_token(position, last));
}

bool begins_document(const Options& options, std::uint64_t position) {
  return options.documents &&
         hashed(seed, 2, position) % static_cast<std::uint64_t>(options.shape.document) == 0;
}

}  // namespace

std::vector<double> drawn(const Tensor& tensor, Start start) {
  const double sigma = start == Start::bench ? tensor.sigma : tensor.upstream_sigma;
  std::vector<double> values(tensor.size());
  for (std::int64_t k = 0; k < tensor.size(); ++k) {
    const double value = near_normal(tensor.stream, tensor.first + k) * sigma;
    values[k] = tensor.role == Role::norm ? 1 + value : value;
  }
  return values;
}

Batch batch_of(const Options& options, std::int64_t step) {
  const Shape& s = options.shape;
  Batch batch = {std::vector<int>(s.tokens()), std::vector<int>(s.tokens(), 1)};
  for (int b = 0; b < s.batch; ++b)
    for (int t = 0; t < s.columns; ++t) {
      const std::int64_t at = std::int64_t{b} * s.columns + t;
      const auto position = static_cast<std::uint64_t>(step * s.tokens() + at);
      batch.tokens[at] = token_at(position, s.vocabulary);
      if (t > 0) batch.documents[at] = batch.documents[at - 1] + begins_document(options, position);
    }
  for (std::int64_t k = 1; step == 0 && k <= options.pad_tail; ++k) {
    batch.tokens[s.tokens() - k] = s.vocabulary - 1;
    batch.documents[s.tokens() - k] = 0;
  }
  return batch;
}

Targets targets_of(const Shape& s, const Batch& batch) {
  const auto n = static_cast<std::size_t>(s.tokens());
  if (batch.tokens.size() != n || batch.documents.size() != n)
    throw Error(Fault::bad_input, text("a batch of ", s.batch, " rows of ", s.columns, " has ", n,
                                       " tokens; given: ", batch.tokens.size(), " tokens, ",
                                       batch.documents.size(), " documents"));
  const int padding = s.vocabulary - 1;
  Targets all = {std::vector<int>(n), std::vector<int>(n), std::vector<char>(n)};
  for (std::size_t at = 0; at < n; ++at) {
    const int token = batch.tokens[at];
    if (token < 0 || token >= s.vocabulary)
      throw Error(Fault::bad_input,
                  text("token id ", token, " out of range at [", at / s.columns, ',',
                       at % s.columns, "]; ids are 0 .. ", s.vocabulary - 1));
    all.segments[at] = token == padding ? -1 : batch.documents[at];
    if (at % s.columns + 1 == std::size_t(s.columns)) continue;
    all.targets[at] = batch.tokens[at + 1];
    all.counted[at] = all.targets[at] != padding && batch.documents[at + 1] == batch.documents[at];
    all.count += all.counted[at];
  }
  if (all.count == 0)
    throw Error(Fault::bad_input, "no target tokens: every position is padding or ends a document");
  return all;
}

std::int64_t pairs_of(const Options& options) {
  const Shape& s = options.shape;
  const std::int64_t padding = s.tokens() - options.pad_tail;
  std::int64_t pairs = 0, seen = 0;
  for (std::int64_t at = 0; at < s.tokens(); ++at) {
    if (at % s.columns == 0 || at == padding ||
        (at < padding && begins_document(options, static_cast<std::uint64_t>(at))))
      seen = 0;
    pairs += ++seen;
  }
  return pairs;
}

// A row has T - k pairs k apart, each within one document with probability (1 - 1/D)^k; k < T is
// summed in closed form.
double expected_pairs(const Options& options) {
  const Shape& s = options.shape;
  const double columns = s.columns, mean = s.document;
  const double divided = 1 - std::pow(1 - 1 / mean, columns);
  return s.batch * mean * (columns - (mean - 1) * divided);
}

}  // namespace holdfast::gpt_train
