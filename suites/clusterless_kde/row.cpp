// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/row.hpp"

#include "base/text.hpp"
#include "clusterless_kde/problem/words.hpp"
#include "families/known.hpp"

namespace holdfast::clusterless_kde {

std::string named(const std::string& word, const Row& row, const std::vector<Axis>& axes) {
  return id("clusterless_kde/" + word, axes, name(precision_of(row.options.arithmetic)));
}

std::string named(const std::string& word, const Row& row) {
  return named(word, row, {size_axis(row), marks_axis(row)});
}

Axis size_axis(const Row& row) {
  return {"size", size_words.of(row.recipe.size)};
}

Axis marks_axis(const Row& row) {
  return {"data", marks_words.of(row.recipe.marks)};
}

Kinds by_options(const Row& row) {
  const Arithmetic arithmetic = row.options.arithmetic;
  const bool of_device = arithmetic == Arithmetic::bf16x3 || arithmetic == Arithmetic::tf32 ||
                         row.options.values == Values::recomputed;
  return of_device ? gpu : any_kind;
}

std::string words_of(const Recipe& recipe) {
  const auto& [size, marks, seed, scale, features, bins, encoding, decoding, sparse] = recipe;
  return text(static_cast<int>(size), ' ', static_cast<int>(marks), ' ', seed, ' ', scale, ' ',
              features, ' ', bins, ' ', encoding, ' ', decoding, ' ', sparse);
}

const Input& input_of(const Recipe& recipe) {
  static Known<Recipe, Input> known;
  return known.of(recipe, [&] { return make_input(recipe); });
}

bool is_decoding(const Row& row) {
  return row.family != &families::encode && row.family != &families::local;
}

bool is_two_hop(const Row& row) {
  return path(shape(row.recipe), precision_of(row.options.arithmetic)) == Path::two_hop;
}

}  // namespace holdfast::clusterless_kde
