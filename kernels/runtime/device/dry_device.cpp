// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/dry_device.hpp"

#include <cstring>
#include <utility>

namespace holdfast {
namespace {

class DryDevice final : public Device {
 public:
  using Device::Device;

  std::string name() const override { return "dry sm_" + std::to_string(architecture().sm); }
  bool executes() const override { return false; }
  std::optional<std::int64_t> memory_bytes() const override { return {}; }

 private:
  double do_time(const std::function<void()>& enqueue) override {
    enqueue();
    return 0;
  }
  // Nothing dereferences these addresses: they only need to be distinct, aligned as on a real
  // device, and unlike what a kernel is given otherwise.
  void* do_allocate(std::size_t bytes) override {
    constexpr std::uintptr_t alignment = 256;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): there is no memory behind it
    void* address = reinterpret_cast<void*>(next_address_);
    next_address_ += (bytes / alignment + 2) * alignment;
    return address;
  }
  void do_release(void*) noexcept override {}
  void do_upload(void*, const void*, std::size_t) override {}
  void do_download(void* to, const void*, std::size_t bytes) override {
    if (bytes > 0) std::memset(to, 0, bytes);
  }
  void do_upload_later(void*, const void*, std::size_t, Lane) override {}
  void do_download_later(void* to, const void* from, std::size_t bytes, Lane) override {
    do_download(to, from, bytes);
  }
  std::unique_ptr<LaneEvent> do_make_event(std::string name) override {
    return std::make_unique<LaneEvent>(*this, std::move(name));
  }
  void do_record(LaneEvent&, Lane) override {}
  void do_wait(Lane, const LaneEvent&) override {}
  void do_await(const LaneEvent&) override {}
  bool do_reached(const LaneEvent&) const override { return true; }
  void do_copy(void*, const void*, std::size_t) override {}
  void do_fill_zero(void*, std::size_t) override {}
  void do_load(std::span<const char>, Function&) override {}
  void do_launch(const Function&, const LaunchShape&, void**) override {}
  void do_begin_capture() override {}
  std::unique_ptr<Graph::Executable> do_end_capture() override { return nullptr; }
  void do_replay(const Graph&) override {}
  void do_open_blas() override {}
  void do_gemm(const Gemm&, const void*, const void*, void*, void*) override {}
  std::unique_ptr<GemmPlan> do_plan_gemm(const Gemm& problem, std::size_t) override {
    return std::make_unique<GemmPlan>(problem);
  }
  void do_planned_gemm(GemmPlan&, const Gemm&, const GemmOperands&, void*) override {}
  std::unique_ptr<FftPlan> do_plan_fft(const Fft& problem, void*) override {
    return std::make_unique<FftPlan>(problem);
  }
  void do_transform(FftPlan&, const void*, void*) override {}
  void do_synchronize() override {}

  // Larger than any number, and with an upper half that is no round one: two ints side by side are
  // no address.
  std::uintptr_t next_address_ = 0x6e5b'0000'0000;
};

}  // namespace

std::unique_ptr<Device> make_dry_device(Ledger& ledger, const Architecture& architecture) {
  return std::make_unique<DryDevice>(ledger, architecture);
}

}  // namespace holdfast
