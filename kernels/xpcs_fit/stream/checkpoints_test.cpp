// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/checkpoints.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <future>
#include <random>
#include <stdexcept>

#include "testing/error_of.hpp"
#include "xpcs_fit/streams.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace {
std::atomic<int> synced = 0;
}
// Replaces the C library's.
extern "C" int fsync(int file) {
  ++synced;
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace holdfast::xpcs_fit {
namespace {

namespace fs = std::filesystem;

class XpcsCheckpoints : public testing::Test {
 protected:
  XpcsCheckpoints() {
    folder = fs::path(testing::TempDir()) / text("xpcs_checkpoints_", ::getpid());
    fs::remove_all(folder);
    synced = 0;
  }
  ~XpcsCheckpoints() override { fs::remove_all(folder); }

  void save(const std::string& payload) {
    Checkpoints to(folder, "ours");
    to.save(payload);
    to.drain();
  }
  std::optional<std::string> newest() { return Checkpoints(folder, "ours").newest(); }
  std::vector<fs::path> files() {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path());
    std::sort(all.begin(), all.end());
    return all;
  }

  StreamOptions options(bool resume) {
    return {.batch = 512,
            .settings = {.faults = {.probability = 0.05}},
            .folder = folder,
            .resume = resume};
  }
  static std::vector<double> fitted(const Problem& problem, const StreamOptions& options) {
    const auto backend = open_backend("host");
    const auto computation = make_stream(*backend, problem, options);
    std::vector<double> all = result_of(*computation);
    for (const NamedReading& one : computation->readings())
      if (one.name != "skipped_files") all.push_back(one.value);  // only a resumed fit has it
    return all;
  }

  fs::path folder;
  Problem flow = problem({4, 48}, {}, 0.01);
};

TEST_F(XpcsCheckpoints, TellConfigurationsApartByAPublishedHash) {
  EXPECT_EQ(fnv1a(""), 14695981039346656037ULL);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cULL);
}

TEST_F(XpcsCheckpoints, KeepTheLastThree) {
  for (const char* payload : {"one", "two", "three", "four"}) save(payload);
  ASSERT_EQ(files().size(), 3u);
  EXPECT_EQ(files().back().filename(), "xpcs_state_000000000004.ckpt");
  EXPECT_EQ(newest(), "four");
}

// A timed save includes its file and the folder that names it.
TEST_F(XpcsCheckpoints, AreSyncedAndSoIsTheirFolder) {
  Checkpoints to(folder, "ours");
  for (const int saved : {1, 2}) {
    to.save("payload");
    to.drain();
    EXPECT_EQ(synced, 2 * saved);
  }
}

TEST_F(XpcsCheckpoints, SkipAFileOfWhichAnyPartIsSpoilt) {
  // Mark, version, size of the header, size of the payload, configuration, sequence, both sums,
  // zeros, payload.
  for (const int place : {0, 8, 12, 16, 24, 32, 40, 44, 50, 66}) {
    fs::remove_all(folder);
    save("first");
    save("second");
    std::fstream file(files().back(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(place);
    const int byte = file.get();
    file.seekp(place);
    file.put(static_cast<char>(byte ^ 0x10));
    file.close();
    testing::internal::CaptureStderr();
    Checkpoints spoilt(folder, "ours");
    EXPECT_EQ(spoilt.newest(), "first") << "byte " << place;
    EXPECT_EQ(spoilt.skipped(), 1);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("xpcs_state_000000000002.ckpt is skipped: it"), std::string::npos) << told;
  }
  fs::resize_file(files().back(), 66);
  EXPECT_EQ(newest(), "first");
}

TEST_F(XpcsCheckpoints, SkipWhatIsNoFile) {
  save("first");
  fs::create_directory(folder / "xpcs_state_000000000002.ckpt");
  ASSERT_EQ(::mkfifo((folder / "xpcs_state_000000000003.ckpt").c_str(), 0600), 0);
  EXPECT_EQ(newest(), "first");
}

TEST_F(XpcsCheckpoints, AreNotTakenForAnotherConfigurations) {
  save("first");
  testing::internal::CaptureStderr();
  EXPECT_EQ(Checkpoints(folder, "theirs").newest(), std::nullopt);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("is skipped: it is of another configuration"), std::string::npos) << told;
}

TEST_F(XpcsCheckpoints, NameTheFolderThatCannotBeWritten) {
  std::ofstream(folder) << "a file";
  EXPECT_THAT(refusal_of([&] { Checkpoints(folder / "within", "ours"); }),
              testing::StartsWith("checkpoint_io: "));
}

TEST_F(XpcsCheckpoints, AreBegunAnewWhereNoneIsWhole) {
  const std::vector<double> calm = fitted(flow, options(false));
  for (const auto& file : files()) fs::resize_file(file, 70);
  int first_pass = -1, first_batch = -1;
  StreamOptions resumed = options(true);
  resumed.settings.watch = [&](const BatchRecord& record) {
    if (first_pass >= 0) return;
    first_pass = record.pass;
    first_batch = record.batch;
  };
  EXPECT_EQ(fitted(flow, resumed), calm);
  EXPECT_EQ(first_pass + first_batch, 0);
}

TEST_F(XpcsCheckpoints, LeaveNothingHalfWrittenWhereAFitIsRefused) {
  StreamOptions wrong = options(false);
  wrong.settings.checkpoint_frequency = 0;
  EXPECT_THROW((void)fitted(flow, wrong), Error);
  EXPECT_FALSE(fs::exists(folder));
  const Problem crossed = changed(flow, [](Input& in) { in.box.lower[2] = in.box.upper[2]; });
  EXPECT_THROW((void)fitted(crossed, options(false)), Error);
  EXPECT_FALSE(fs::exists(folder));
}

// A parabola in 30 batches, so that there are three checkpoints per pass.
class Parabola final : public Batches {
 public:
  int count() const override { return 30; }
  int slots() const override { return 1; }
  std::int64_t points(int) const override { return 1000; }
  void begin(int, int, bool, const std::vector<double>& at) override {
    normal_.assign(normal_count(5), 0);
    for (std::size_t k = 0; k < at.size(); ++k) {
      normal_[0] += (at[k] - 1) * (at[k] - 1) / 2;
      normal_[1 + k] = at[k] - 1;
      normal_[6 + 6 * k] = 1;
    }
  }
  const double* finish(int) override { return normal_.data(); }

 private:
  std::vector<double> normal_ = {};
};

TEST_F(XpcsCheckpoints, OfASlowDiskStopNoFit) {
  std::promise<void> released;
  {
    Checkpoints slow(folder, "ours", 3, [&, wait = released.get_future().share()] { wait.wait(); });
    Parabola batches;
    StreamedFit fit(problem({1, 8}, {.mode = Mode::at_rest}), 4, batches, {.checkpoints = &slow});
    // 13 checkpoints, none of which is written before the fit is over.
    fit.run();
    EXPECT_EQ(fit.statistics().passes, 4);
    EXPECT_TRUE(files().empty());
    released.set_value();
    slow.drain();
  }
  EXPECT_TRUE(newest());
}

TEST_F(XpcsCheckpoints, GoOnToTheSameBits) {
  const std::vector<double> calm = fitted(flow, options(false));
  struct Stop {
    int pass, batch;
  };
  for (const Stop stop : {Stop{1, 7}, Stop{2, 11}, Stop{4, 1}}) {
    fs::remove_all(folder);
    StreamOptions stopping = options(false);
    stopping.settings.watch = [&](const BatchRecord& record) {
      if (record.pass == stop.pass && record.batch == stop.batch) throw std::runtime_error("stop");
    };
    EXPECT_THROW((void)fitted(flow, stopping), std::runtime_error);
    // It goes on where it was saved, not from the start.
    int first_pass = -1;
    StreamOptions resumed = options(true);
    resumed.settings.watch = [&](const BatchRecord& record) {
      if (first_pass < 0) first_pass = record.pass;
    };
    EXPECT_EQ(fitted(flow, resumed), calm);
    EXPECT_EQ(first_pass, stop.pass - (stop.pass == 4 ? 1 : 0));
  }
}

TEST_F(XpcsCheckpoints, OfAFitThatIsOverHoldItsEnd) {
  const std::vector<double> calm = fitted(flow, options(false));
  int batches = 0;
  StreamOptions resumed = options(true);
  resumed.settings.watch = [&](const BatchRecord&) { ++batches; };
  EXPECT_EQ(fitted(flow, resumed), calm);
  EXPECT_EQ(batches, 0);
  // With a number of passes it is another fit, which does not end where this one did.
  resumed.passes = 8;
  EXPECT_EQ(fitted(flow, resumed)[1], 8);
  EXPECT_EQ(batches, 8 * 18);
}

// A fit whose data, noise, physics or start differ in their last bit is another one.
TEST_F(XpcsCheckpoints, OfAnotherFitAreSkipped) {
  const auto next = [](double& value) { value = std::nextafter(value, 1e9); };
  const std::function<void(Input&)> changes[] = {
      [&](Input& in) { next(in.data[77]); },     [&](Input& in) { next(in.angles[1]); },
      [&](Input& in) { next(in.noise); },        [&](Input& in) { ++in.seed; },
      [&](Input& in) { next(in.physics.q); },    [&](Input& in) { next(in.physics.gap); },
      [&](Input& in) { next(in.box.start[3]); }, [&](Input& in) { next(in.box.upper[8]); }};
  for (const auto& change : changes) {
    fs::remove_all(folder);
    (void)fitted(flow, options(false));
    int batches = 0;
    StreamOptions resumed = options(true);
    resumed.settings.watch = [&](const BatchRecord&) { ++batches; };
    testing::internal::CaptureStderr();
    (void)fitted(changed(flow, change), resumed);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("is skipped: it is of another configuration"), std::string::npos) << told;
    EXPECT_EQ(batches, 6 * 18) << &change - changes;  // it began at the start
  }
}

// Generated data are stored nowhere: their noise and seed identify them.
TEST_F(XpcsCheckpoints, OfGeneratedDataAreToldApart) {
  const auto of = [](double noise, std::uint64_t seed) {
    const Recipe recipe = {.size = {4, 48}, .noise = noise, .seed = seed, .sized_only = true};
    return configuration(*open_backend("host"), {make_input(recipe, {}), {}},
                         {.source = DataSource::generated});
  };
  EXPECT_EQ(of(0.01, 1), of(0.01, 1));
  EXPECT_NE(of(0.01, 1), of(0.01, 2));
  EXPECT_NE(of(0.01, 1), of(std::nextafter(0.01, 1), 1));
}

// The sums of another device or instruction set go on in another order.
TEST_F(XpcsCheckpoints, OfAnotherDeviceOrInstructionSetAreToldApart) {
  const std::string host = configuration(*open_backend("host"), flow, {});
  EXPECT_THAT(host, testing::HasSubstr(host_limits().isa));
#ifdef HOLDFAST_CUDA
  const std::string ninety = configuration(*open_backend("cuda-dry:sm_90"), flow, {});
  EXPECT_NE(ninety, host);
  EXPECT_NE(ninety, configuration(*open_backend("cuda-dry:sm_80"), flow, {}));
#endif
}

TEST_F(XpcsCheckpoints, HaveAsManyBytesAsTheFormulaSays) {
  (void)fitted(flow, options(false));
  EXPECT_EQ(fs::file_size(files().back()), 64 + StreamedFit::saved_bytes(9, 18));
}

TEST_F(XpcsCheckpoints, SurviveBeingKilledAtAnyMoment) {
  const std::vector<double> calm = fitted(flow, options(false));
  std::minstd_rand moments(11);
  for (int round = 0; round < 50; ++round) {
    if (round % 10 == 0) fs::remove_all(folder);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // Resumes where another process was killed, and then fits anew, again and again.
      for (bool resumes = true;; resumes = false) (void)fitted(flow, options(resumes));
    }
    ::usleep(static_cast<useconds_t>(200 + moments() % 20000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself in round " << round;
    ASSERT_EQ(fitted(flow, options(true)), calm) << "round " << round;
  }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
