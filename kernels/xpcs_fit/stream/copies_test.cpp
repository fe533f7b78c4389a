// SPDX-License-Identifier: Apache-2.0
// A stream from the host computes on copies: each batch lies in the stream's own memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/backend/spoil.hpp"
#include "xpcs_fit/streams.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr Size copied_size = {4, 48};

// The contents of the memory at that site.
std::vector<double> held_by(const Backend& backend, std::string_view site) {
  std::vector<double> all;
  for (const auto& [memory, holding] : backend.holdings)
    if (holding.site == site) {
      const std::span numbers(static_cast<const double*>(memory), holding.bytes / sizeof(double));
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
  return all;
}

// The number of batches, over two passes, whose data are not at the end of that memory, which is
// spoilt after each batch.
int batches_elsewhere(const Problem& problem, StreamOptions options, std::string_view site,
                      const std::function<std::vector<double>(int batch)>& expected) {
  const auto backend = open_backend("host");
  int elsewhere = 0, seen = 0;
  options.passes = 2;
  options.settings.watch = [&](const BatchRecord& record) {
    const std::vector<double> held = held_by(*backend, site), copy = expected(record.batch);
    elsewhere += held.size() < copy.size() ||
                 !std::equal(copy.begin(), copy.end(),
                             held.end() - static_cast<std::ptrdiff_t>(copy.size()));
    ++seen;
    spoil(*backend, site);
  };
  make_stream(*backend, problem, options)->step();
  EXPECT_GT(seen, 2);
  return elsewhere;
}

TEST(XpcsStream, CopiesEachBatchOfTheFlatOrder) {
  const Problem one = problem(copied_size, {});
  constexpr std::ptrdiff_t batch = 512;  // 18 of them are all points
  const auto expected = [&](int number) {
    const auto begin = one.input->data.begin() + number * batch;
    return std::vector<double>(begin, begin + batch);
  };
  for (const StreamMode mode : {StreamMode::plain, StreamMode::full})
    EXPECT_EQ(batches_elsewhere(
                  one, {.batch = batch, .order = BatchOrder::flat, .settings = {.mode = mode}},
                  "slot", expected),
              0);
}

// One row of every angle after the other, by one thread: the last row of a batch remains.
TEST(XpcsStream, CopiesEachRow) {
  const Problem one = problem(copied_size, {.threads = 1});
  for (const int rows : {1, 5}) {
    const auto expected = [&](int batch) {
      const int row = std::min((batch + 1) * rows, copied_size.frames) - 1;
      std::vector<double> all;
      for (int a = 0; a < copied_size.angles; ++a) {
        const auto begin =
            one.input->data.begin() + a * copied_size.plane() + row * copied_size.frames;
        all.insert(all.end(), begin, begin + copied_size.frames);
      }
      return all;
    };
    for (const StreamMode mode : {StreamMode::plain, StreamMode::full})
      EXPECT_EQ(
          batches_elsewhere(one,
                            {.batch = std::int64_t{rows} * copied_size.angles * copied_size.frames,
                             .order = BatchOrder::rows,
                             .settings = {.mode = mode}},
                            "slots", expected),
          0)
          << rows;
  }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
