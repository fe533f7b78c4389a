// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/row.hpp"

#include "families/known.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/problem/words.hpp"

namespace holdfast::xpcs_fit {

std::string named(const std::string& word, const Row& row, const std::vector<Axis>& before,
                  const std::vector<Axis>& after) {
  std::vector<Axis> all = before;
  all.emplace_back("mode", mode_words.of(row.options.mode));
  all.insert(all.end(), after.begin(), after.end());
  all.emplace_back("size", size_words.of(row.size));
  return id("xpcs_fit/" + word, all, name(row.options.precision));
}

Size size_of(const Row& row) {
  return row.angles > 0 ? Size{row.angles, row.frames} : size_of(row.size);
}

Problem problem_of(const Row& row, bool executes, std::int64_t large_bytes) {
  const Options& options = row.options;
  const bool weighted = options.weights == Weights::array;
  const Size size = size_of(row);
  const bool sized_only = !executes || row.source == DataSource::generated;
  const std::string key =
      text(size.angles, " ", size.frames, " ", static_cast<int>(options.mode), " ",
           static_cast<int>(options.scaling), " ", weighted, " ", sized_only, " ", row.seed);
  const auto make = [&] {
    return make_input({.size = size,
                       .physics = default_physics(size),
                       .seed = row.seed,
                       .weighted = weighted,
                       .sized_only = sized_only},
                      options);
  };
  const std::int64_t each = std::int64_t{sizeof(double)} * (weighted ? 2 : 1);
  if (sized_only || size.points() * each <= large_bytes) {
    static Known<std::string, std::shared_ptr<const Input>> known;
    return {known.of(key, make), options};
  }
  static std::string last_key;
  static std::shared_ptr<const Input> last;
  if (!last || last_key != key) {
    last.reset();  // before there is another one beside it
    last = make();
    last_key = key;
  }
  return {last, options};
}

}  // namespace holdfast::xpcs_fit
