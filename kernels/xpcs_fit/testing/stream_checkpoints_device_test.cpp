// SPDX-License-Identifier: Apache-2.0
// Streams on the emulated device that are stopped and resumed, or have a batch that always fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "base/files.hpp"
#include "xpcs_fit/streams.hpp"
#include "xpcs_fit/testing/kernels_on_cpu.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

class XpcsSavedOnDevice : public testing::Test {
 protected:
  // Single rows of every angle, 19 batches.
  StreamOptions rows(StreamMode mode) const {
    return {.batch = 1, .passes = 4, .settings = {.mode = mode}};
  }
  std::vector<double> fitted(const StreamOptions& options,
                             emulation::CopyLane copies = emulation::CopyLane::late) const {
    const auto backend = emulated_optimized(emulation::Order::forward, copies);
    const auto fit = make_stream(*backend, flow, options);
    std::vector<double> all = result_of(*fit);
    for (const NamedReading& one : fit->readings())
      if (one.name != "skipped_files") all.push_back(one.value);  // only a resumed fit has it
    return all;
  }

  const Problem flow = problem(emulated_size, {});
};

TEST_F(XpcsSavedOnDevice, GoesOnToTheSameBits) {
  for (const StreamMode mode : {StreamMode::fast, StreamMode::full}) {
    StreamOptions options = rows(mode);
    const NewFolder whole(testing::TempDir() + "xpcs_on_device_");
    options.folder = whole.path();
    const std::vector<double> calm = fitted(options);
    const NewFolder stopped(testing::TempDir() + "xpcs_on_device_");
    options.folder = stopped.path();
    options.settings.watch = [](const BatchRecord& record) {
      if (record.pass == 2 && record.batch == 7) throw std::runtime_error("stop");
    };
    EXPECT_THROW((void)fitted(options), std::runtime_error);
    int first_pass = -1, first_batch = -1;
    options.resume = true;
    options.settings.watch = [&](const BatchRecord& record) {
      if (first_pass < 0) {
        first_pass = record.pass;
        first_batch = record.batch;
      }
    };
    EXPECT_EQ(fitted(options), calm);
    // Saved after every tenth batch: after 40, two of the third pass.
    EXPECT_EQ(first_pass, 2);
    EXPECT_EQ(first_batch, 2);
  }
}

TEST_F(XpcsSavedOnDevice, LeavesOutABatchThatFailsAgainAndAgain) {
  for (const auto copies : {emulation::CopyLane::early, emulation::CopyLane::late}) {
    StreamOptions options = rows(StreamMode::full);
    options.settings.faults.permanent = {5};
    const std::vector<double> fit = fitted(options, copies);
    // n_batches, batches, attempts, faults, recovered, failed, success_rate, points.
    const std::vector<double> told(fit.end() - 8, fit.end());
    EXPECT_EQ(told, (std::vector<double>{19, 4 * 19 - 3, 4 * 19 - 3 + 2, 3, 0, 1, 1 - 1. / 19,
                                         3 * 19 * 18}));
  }
}

TEST_F(XpcsSavedOnDevice, FastIsPlainToTheBit) {
  const std::vector<double> plain = fitted(rows(StreamMode::plain));
  EXPECT_EQ(fitted(rows(StreamMode::fast)), plain);
}

}  // namespace
}  // namespace holdfast::xpcs_fit
