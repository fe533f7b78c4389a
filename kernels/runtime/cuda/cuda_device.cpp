// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda_device.hpp"

#include <cstring>
#include <map>

#include "base/names.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/handle.hpp"
#include "runtime/cuda/cuda_check.hpp"
#include "runtime/cuda/cuda_library.hpp"
#include "runtime/cuda/cuda_products.hpp"
#include "runtime/cuda/cupti_trace.hpp"

namespace holdfast {
namespace {

using Stream = Handle<cudaStream_t, cudaStreamDestroy>;
using Event = Handle<cudaEvent_t, cudaEventDestroy>;
using Library = Handle<cudaLibrary_t, cudaLibraryUnload>;
using GraphHandle = Handle<cudaGraph_t, cudaGraphDestroy>;
using GraphExecHandle = Handle<cudaGraphExec_t, cudaGraphExecDestroy>;

struct CudaGraph final : Graph::Executable {
  GraphExecHandle exec;
};

int count_gpus() {
  int count = 0;
  const auto status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    throw Error(
        Fault::no_device,
        text("failed to find a GPU: ", cudaGetErrorName(status), " (", cudaGetErrorString(status),
             "); install NVIDIA's driver for this CUDA, or use cuda-dry:sm_90"));
  }
  return count;
}

// Counts once per process: a later question may be answered with the failure of earlier work, and
// a GPU that failed is no missing one.
void require_gpu(int ordinal) {
  static const int count = count_gpus();
  if (ordinal >= count)
    throw Error(Fault::no_device, text("failed to open GPU ", ordinal, ": this machine shows ",
                                       count, ", counted from 0; look at CUDA_VISIBLE_DEVICES"));
}

int sm_of(const cudaDeviceProp& p) {
  return p.major * 10 + p.minor;
}

cudaDeviceProp properties_of(int ordinal) {
  require_gpu(ordinal);
  check(cudaSetDevice(ordinal), text("select GPU ", ordinal));
  cudaDeviceProp properties = {};
  check(cudaGetDeviceProperties(&properties, ordinal),
        text("read the properties of GPU ", ordinal));
  refuse_old_gpu(ordinal, properties.name, sm_of(properties));
  return properties;
}

Architecture architecture_of(const cudaDeviceProp& p) {
  const int sm = sm_of(p);
  const Architecture* listed = find_architecture(sm);
  return {
      .sm = sm,
      .multiprocessors = p.multiProcessorCount,
      .registers_per_multiprocessor = p.regsPerMultiprocessor,
      .warps_per_multiprocessor = p.maxThreadsPerMultiProcessor / p.warpSize,
      .blocks_per_multiprocessor = p.maxBlocksPerMultiProcessor,
      .threads_per_block = p.maxThreadsPerBlock,
      .shared_bytes_per_block = static_cast<std::int64_t>(p.sharedMemPerBlockOptin),
      .shared_bytes_per_multiprocessor = static_cast<std::int64_t>(p.sharedMemPerMultiprocessor),
      .shared_bytes_reserved = static_cast<std::int64_t>(p.reservedSharedMemPerBlock),
      .l2_bytes = p.l2CacheSize,
      .bf16_flop_per_second = listed ? listed->bf16_flop_per_second : 0};
}

Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a stream");
  return Stream(stream);
}

Event new_event(unsigned flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, flags), "create an event");
  return Event(event);
}

struct CudaEvent final : LaneEvent {
  using LaneEvent::LaneEvent;
  Event handle = new_event(cudaEventDisableTiming);
};

cudaEvent_t handle_of(const LaneEvent& event) {
  return static_cast<const CudaEvent&>(event).handle.get();
}

class CudaDevice final : public Device {
 public:
  CudaDevice(Ledger& ledger, const cudaDeviceProp& properties)
      : Device(ledger, architecture_of(properties)),
        name_(properties.name),
        memory_bytes_(static_cast<std::int64_t>(properties.totalGlobalMem)) {}
  // Pending work may use memory that is released by now, and programs that are unloaded next.
  ~CudaDevice() override { finish_lanes(); }

  std::string name() const override { return name_; }
  bool executes() const override { return true; }
  std::optional<std::int64_t> memory_bytes() const override { return memory_bytes_; }
  std::optional<std::int64_t> free_bytes() const override {
    std::size_t free = 0, all = 0;
    check(cudaMemGetInfo(&free, &all), "ask how much memory is free");
    return static_cast<std::int64_t>(free);
  }

  std::unique_ptr<DeviceTrace> open_trace(std::chrono::steady_clock::time_point start) override {
    return open_cupti_trace(start);
  }

 private:
  double do_time(const std::function<void()>& enqueue) override {
    check(cudaEventRecord(begin_.get(), stream_.get()), "record the start of a timing");
    if (copies_) let_wait(copies_, begin_);
    enqueue();
    if (copies_) {
      check(cudaEventRecord(copied_.get(), copies_.get()), "record the end of the copies");
      let_wait(stream_, copied_);
    }
    check(cudaEventRecord(end_.get(), stream_.get()), "record the end of a timing");
    check(cudaEventSynchronize(end_.get()), "wait for the timed work");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "read the elapsed time");
    return double{milliseconds} * 1e-3;
  }
  void* do_allocate(std::size_t bytes) override {
    void* memory = nullptr;
    const auto status = cudaMalloc(&memory, bytes > 0 ? bytes : 1);
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      throw Error(Fault::out_of_memory,
                  text("it asks for ", bytes, " bytes, and the GPU's ", memory_bytes_,
                       " have no such room; choose a smaller "
                       "size"));
    }
    check(status, text("allocate ", bytes, " bytes"));
    return memory;
  }
  // On a single lane the memory's next owner comes after all work that uses it; on two it may not.
  void do_release(void* memory) noexcept override {
    if (copies_) finish_lanes();
    (void)cudaFree(memory);
  }

  void* do_allocate_pinned(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, bytes > 0 ? bytes : 1),
          text("allocate ", bytes, " bytes of pinned host memory"));
    return std::memset(memory, 0, bytes);
  }
  void do_release_pinned(void* memory) noexcept override {
    finish_lanes();
    (void)cudaFreeHost(memory);
  }

  // The caller may free `from` at once. Where the GPU reads pageable memory directly, the driver
  // may not have staged it yet, so this waits.
  void do_upload(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_.get()),
          text("upload ", bytes, " bytes"));
    check(cudaStreamSynchronize(stream_.get()), text("wait for an upload of ", bytes, " bytes"));
  }
  void do_download(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_.get()),
          text("download ", bytes, " bytes"));
    check(cudaStreamSynchronize(stream_.get()), text("wait for a download of ", bytes, " bytes"));
  }
  void do_upload_later(void* to, const void* from, std::size_t bytes, Lane lane) override {
    const auto status = cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_of(lane));
    if (status != cudaSuccess) check(status, text("upload ", bytes, " bytes"));
  }
  void do_download_later(void* to, const void* from, std::size_t bytes, Lane lane) override {
    const auto status = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_of(lane));
    if (status != cudaSuccess) check(status, text("download ", bytes, " bytes"));
  }
  std::unique_ptr<LaneEvent> do_make_event(std::string name) override {
    if (!copies_) copies_ = make_stream();  // an event implies that both lanes will be used
    return std::make_unique<CudaEvent>(*this, std::move(name));
  }
  void do_record(LaneEvent& event, Lane lane) override {
    check(cudaEventRecord(handle_of(event), stream_of(lane)), "record an event");
  }
  void do_wait(Lane lane, const LaneEvent& event) override {
    check(cudaStreamWaitEvent(stream_of(lane), handle_of(event), 0), "let a lane wait");
  }
  void do_await(const LaneEvent& event) override {
    const auto status = cudaEventSynchronize(handle_of(event));
    if (status != cudaSuccess) check(status, text("wait for ", event.name));
  }
  bool do_reached(const LaneEvent& event) const override {
    const auto status = cudaEventQuery(handle_of(event));
    if (status == cudaErrorNotReady) {
      (void)cudaGetLastError();  // no error of ours
      return false;
    }
    if (status != cudaSuccess) check(status, text("ask for ", event.name));
    return true;
  }
  void do_copy(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_.get()),
          "copy within the device");
  }
  void do_fill_zero(void* memory, std::size_t bytes) override {
    check(cudaMemsetAsync(memory, 0, bytes, stream_.get()), "clear device memory");
  }

  void do_load(std::span<const char> cubin, Function& function) override {
    auto& library = libraries_[function.cubin_hash];
    if (!library) {
      cudaLibrary_t loaded = nullptr;
      check(cudaLibraryLoadData(&loaded, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            text("load the program of ", function.expression));
      library = Library(loaded);
    }
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library.get(), function.name.c_str()),
          text("find kernel ", function.name));
    // Beyond 48 KiB a kernel must opt in; the limit minus its static share is allowed.
    check(cudaFuncSetAttribute(
              kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
              static_cast<int>(architecture().shared_bytes_per_block - function.shared_bytes)),
          text("let ", function.expression, " use all shared memory"));
    function.handle = kernel;
  }

  void do_launch(const Function& function, const LaunchShape& shape, void** arguments) override {
    cudaLaunchAttribute cooperative = {};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = {shape.grid.x, shape.grid.y, shape.grid.z};
    config.blockDim = {shape.block.x, shape.block.y, shape.block.z};
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = stream_.get();
    config.attrs = &cooperative;
    config.numAttrs = shape.cooperative ? 1 : 0;
    const auto status = cudaLaunchKernelExC(&config, function.handle, arguments);
    // This path is timed: the message is only composed on failure.
    if (status != cudaSuccess) check(status, text("launch ", function.expression));
  }

  void do_begin_capture() override {
    check(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal),
          "begin to capture a graph");
  }
  std::optional<int> do_captured_nodes() override {
    cudaStreamCaptureStatus status = {};
    cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
    check(cudaStreamGetCaptureInfo(stream_.get(), &status, nullptr, &graph, nullptr, nullptr,
                                   nullptr),
          "look at the graph being captured");
#else
    check(cudaStreamGetCaptureInfo_v2(stream_.get(), &status, nullptr, &graph, nullptr, nullptr),
          "look at the graph being captured");
#endif
    // An operation that cannot be captured ends the capture and invalidates the graph.
    if (status != cudaStreamCaptureStatusActive)
      throw Error(Fault::device,
                  "the capture of a graph has ended before its step: something in it may not be "
                  "captured");
    std::size_t nodes = 0;
    check(cudaGraphGetNodes(graph, nullptr, &nodes), "count the nodes of a graph");
    return static_cast<int>(nodes);
  }
  std::unique_ptr<Graph::Executable> do_end_capture() override {
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(stream_.get(), &captured), "capture a graph");
    const GraphHandle graph(captured);
    cudaGraphExec_t exec = nullptr;
    check(cudaGraphInstantiate(&exec, captured, 0), "make a graph executable");
    auto executable = std::make_unique<CudaGraph>();
    executable->exec = GraphExecHandle(exec);
    // Otherwise the first replay pays for it.
    check(cudaGraphUpload(exec, stream_.get()), "upload a graph");
    return executable;
  }
  void do_replay(const Graph& graph) override {
    check(cudaGraphLaunch(static_cast<CudaGraph&>(*graph.executable).exec.get(), stream_.get()),
          "replay a graph");
  }

  void do_open_blas() override {
    if (!blas_) blas_ = std::make_unique<CudaBlas>(stream_.get());
  }
  void do_gemm(const Gemm& problem, const void* a, const void* b, void* c,
               void* work_area) override {
    (*blas_)(problem, a, b, c, work_area);
  }
  std::unique_ptr<GemmPlan> do_plan_gemm(const Gemm& problem,
                                         std::size_t work_area_bytes) override {
    if (!products_) products_ = std::make_unique<CudaProducts>(stream_.get());
    return products_->plan(problem, work_area_bytes);
  }
  void do_planned_gemm(GemmPlan& plan, const Gemm& problem, const GemmOperands& operands,
                       void* work_area) override {
    (*products_)(plan, problem, operands, work_area);
  }
  std::unique_ptr<FftPlan> do_plan_fft(const Fft& problem, void* work_area) override {
    return plan_fft_on_cuda(problem, work_area, stream_.get());
  }
  void do_transform(FftPlan& plan, const void* in, void* out) override {
    transform_on_cuda(plan, in, out);
  }
  void do_synchronize() override {
    check(cudaStreamSynchronize(stream_.get()), "wait for the device");
    if (copies_) check(cudaStreamSynchronize(copies_.get()), "wait for the device's copies");
  }

  cudaStream_t stream_of(Lane lane) {
    if (lane == Lane::main) return stream_.get();
    if (!copies_) copies_ = make_stream();
    return copies_.get();
  }
  // CUDA does not promise that freeing memory waits for work that uses it.
  void finish_lanes() const noexcept {
    (void)cudaStreamSynchronize(stream_.get());
    if (copies_) (void)cudaStreamSynchronize(copies_.get());
  }
  static void let_wait(const Stream& stream, const Event& event) {
    check(cudaStreamWaitEvent(stream.get(), event.get(), 0), "let a lane wait");
  }

  std::string name_;
  std::int64_t memory_bytes_;
  Stream stream_ = make_stream();
  Stream copies_ = {};  // created on demand
  Event begin_ = new_event(), end_ = new_event();
  Event copied_ = new_event(cudaEventDisableTiming);
  std::map<std::string, Library> libraries_;  // by cubin hash
  std::unique_ptr<CudaBlas> blas_;
  std::unique_ptr<CudaProducts> products_;
};

}  // namespace

void refuse_old_gpu(int ordinal, std::string_view name, int sm) {
  if (sm < oldest_of_suites)
    throw Error(Fault::no_device,
                text("GPU ", ordinal, " (", name, ") is of sm_", sm, ", and the suites need sm_",
                     oldest_of_suites, " or later; use cuda-dry:sm_90"));
}

std::unique_ptr<Device> make_cuda_device(Ledger& ledger, int ordinal) {
  return std::make_unique<CudaDevice>(ledger, properties_of(ordinal));
}

}  // namespace holdfast
