// SPDX-License-Identifier: Apache-2.0
#include "base/id_filter.hpp"

#include <re2/re2.h>

namespace holdfast {
namespace {

constexpr std::int64_t most_memory = 256 << 20;  // a list of all ids of a large suite

}  // namespace

IdFilter::IdFilter(std::string_view filter) : excludes_(filter.starts_with('-')) {
  if (excludes_) filter.remove_prefix(1);
  if (filter.empty() && !excludes_) return;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(most_memory);
  const re2::StringPiece words(filter.data(), filter.size());
  const auto pattern = std::make_shared<const RE2>(words, options);
  if (pattern->ok())
    pattern_ = pattern;
  else
    problem_ = pattern->error();
}

bool IdFilter::takes(std::string_view id) const {
  if (!problem_.empty()) return false;
  return !pattern_ ||
         RE2::PartialMatch(re2::StringPiece(id.data(), id.size()), *pattern_) != excludes_;
}

}  // namespace holdfast
