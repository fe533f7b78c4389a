// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cupti_trace.hpp"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/cuda/cupti_library.hpp"
#include "runtime/cuda/cupti_records.hpp"

namespace holdfast {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::size_t buffer_bytes = std::size_t{8} << 20, buffer_alignment = 8;
constexpr std::size_t most_records = 4'000'000;  // 200 MB; further records count as dropped
constexpr int most_buffers = 64;  // 512 MiB with CUPTI at once; without one it drops records itself

struct Wanted {
  CUpti_ActivityKind kind;
  const char* what;
  bool essential;  // without it there are no times
};
// CUPTI reports external correlations next to records of API calls, so those are enabled as well:
// the runtime's for our own verbs, the driver's for library launches.
constexpr Wanted wanted[] = {
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "external correlations", true},
    {CUPTI_ACTIVITY_KIND_RUNTIME, "calls of the runtime", true},
    {CUPTI_ACTIVITY_KIND_DRIVER, "calls of the driver", true},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels", true},
    {CUPTI_ACTIVITY_KIND_MEMCPY, "copies", true},
    {CUPTI_ACTIVITY_KIND_MEMSET, "fills", true},
    {CUPTI_ACTIVITY_KIND_MEMORY2, "memory", false},
    {CUPTI_ACTIVITY_KIND_JIT, "JIT compilations", false},
};

// Where CUPTI's own threads deliver records. Never destroyed: they may outlive main().
struct Reception {
  std::mutex mutex = {};
  std::atomic<int> buffers = 0;  // held by CUPTI
  bool open = false;
  DeviceRecords records = {};
};
Reception& reception() {
  static auto* const only = new Reception;
  return *only;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
  auto& held = reception().buffers;
  *buffer = nullptr;
  if (++held <= most_buffers)
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  if (!*buffer) --held;
  *bytes = *buffer ? buffer_bytes : 0;
  *most = 0;  // as many as fit
}

std::size_t kept(const DeviceRecords& records) {
  return records.work.size() + records.memory.size() + records.correlations.size();
}

// A record that finds no memory is dropped: CUPTI's threads must not see exceptions.
void take_record(const CUpti_Activity& record, DeviceRecords& records) noexcept {
  if (kept(records) < most_records) {
    try {
      add(record, records);
      return;
    } catch (const std::exception&) {  // no memory: counted as dropped
    }
  }
  ++records.dropped;
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t, std::size_t valid_bytes) noexcept {
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> given(buffer, &std::free);
  const auto& cupti = cupti_library();
  auto& to = reception();
  --to.buffers;
  const std::lock_guard lock(to.mutex);
  CUpti_Activity* record = nullptr;
  while (to.open && cupti.next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    take_record(*record, to.records);
  }
  std::size_t dropped = 0;
  if (cupti.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS && to.open)
    to.records.dropped += dropped;
}

// The tightest of several readings: an interrupted one shows by its width. Sets `silence` to the
// reason if the device's clock cannot be read.
ClockPair read_clocks(SteadyTime start, std::string& silence) {
  ClockPair best;
  auto narrowest = std::chrono::steady_clock::duration::max();
  for (int attempt = 0; attempt < 10; ++attempt) {
    std::uint64_t device = 0;
    const auto before = std::chrono::steady_clock::now();
    if (const auto status = cupti_library().timestamp(&device); status != CUPTI_SUCCESS) {
      silence = cupti_library().failure(status, "read the device's clock");
      return {};
    }
    const auto after = std::chrono::steady_clock::now();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {.seconds = std::chrono::duration<double>(before + narrowest / 2 - start).count(),
            .device = static_cast<std::int64_t>(device)};
  }
  return best;
}

class CuptiTrace final : public DeviceTrace {
 public:
  explicit CuptiTrace(SteadyTime start) : start_(start) {
    claim();
    try {
      silence_ = begin();
    } catch (...) {  // the destructor will not run: release here
      (void)end();
      throw;
    }
  }
  // Flushes pending records, so that no later recording takes them for its own.
  ~CuptiTrace() override {
    if (open_ && cupti_library().absence.empty())
      (void)cupti_library().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    (void)end();
  }

  void begin_verb(std::uint64_t verb) override {
    if (silence_.empty())
      (void)cupti_library().push_correlation(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, verb + 1);
  }
  void end_verb() override {
    std::uint64_t last = 0;
    if (silence_.empty())
      (void)cupti_library().pop_correlation(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
  }

  DeviceRecords finish() override {
    const auto last = silence_.empty() ? read_clocks(start_, silence_) : ClockPair{};
    if (cupti_library().absence.empty())
      if (const auto status = cupti_library().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
          status != CUPTI_SUCCESS && silence_.empty())
        silence_ = cupti_library().failure(status, "collect the records");
    auto records = end();
    records.first = first_;
    records.last = last;
    records.silence = silence_;
    return records;
  }

 private:
  static void claim() {
    auto& to = reception();
    const std::lock_guard lock(to.mutex);
    if (to.open)
      throw Error(Fault::broken_rule,
                  "CUPTI serves another recording of this process: stop that one first");
    to.open = true;
    to.records = {};
  }

  // Returns the reason if there will be no records; else empty.
  std::string begin() {
    const auto& cupti = cupti_library();
    if (!cupti.absence.empty()) return cupti.absence;
    if (const auto status = cupti.register_callbacks(give_buffer, take_buffer);
        status != CUPTI_SUCCESS)
      return cupti.failure(status, "register for records");
    for (const auto& [kind, what, essential] : wanted) {
      const auto status = cupti.enable(kind);
      if (status == CUPTI_SUCCESS) continue;
      const auto failure = cupti.failure(status, text("enable records of ", what));
      if (essential) return failure;
      log(LogLevel::info, failure);
    }
    std::string silence;
    first_ = read_clocks(start_, silence);
    return silence;
  }

  // Disabling a kind that was not enabled has no effect.
  DeviceRecords end() {
    if (!std::exchange(open_, false)) return {};
    const auto& cupti = cupti_library();
    if (cupti.absence.empty())
      for (const auto& [kind, what, essential] : wanted) (void)cupti.disable(kind);
    auto& to = reception();
    const std::lock_guard lock(to.mutex);
    to.open = false;
    return std::exchange(to.records, {});
  }

  SteadyTime start_;
  ClockPair first_ = {};
  std::string silence_ = {};
  bool open_ = true;
};

}  // namespace

std::unique_ptr<DeviceTrace> open_cupti_trace(SteadyTime start) {
  return std::make_unique<CuptiTrace>(start);
}

}  // namespace holdfast
