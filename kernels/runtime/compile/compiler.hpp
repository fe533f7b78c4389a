// SPDX-License-Identifier: Apache-2.0
// Run-time compilation, one path everywhere: trace (assemble source and constants), lower (NVRTC to
// PTX), compile (nvJitLink to a cubin), load. The ledger counts each distinct program once, even if
// a cache had it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "runtime/compile/argument_sum.hpp"
#include "runtime/compile/nvrtc.hpp"
#include "runtime/device/device.hpp"

namespace holdfast {

struct Source {
  std::string_view name =
      {};  // "saxpy/device/optimized.cu": how it is included, and looked for in HOLDFAST_SOURCES
  std::string_view text = {};
};

// A kernel wanted from a program: "stage<double>".
struct WantedKernel {
  std::string expression = {};
  KernelKind kind = KernelKind::fused;

  WantedKernel(std::string wanted, KernelKind what = KernelKind::fused)
      : expression(std::move(wanted)), kind(what) {}
  WantedKernel(const char* wanted) : expression(wanted) {}
};

// A program's name for a kernel that is a template over its number type.
template <class T>
std::string entry(std::string_view kernel) {
  return std::string(kernel) + (std::is_same_v<T, float> ? "<float>" : "<double>");
}

struct Program {
  Source code = {};
  std::vector<Source> headers = {};           // what the code may #include, by full or last name
  std::vector<std::string> definitions = {};  // "TILE=16"
  std::vector<WantedKernel> entries = {};     // compiled together
};

struct StageSeconds {
  double trace = 0, lower = 0, compile = 0, load = 0;
};

// A program after compilation.
struct Compiled {
  std::string source_name = {};
  std::string reason =
      {};  // "first use", "constant TILE: 16 -> 32", "source changed", "entries changed"
  StageSeconds seconds = {};
  bool from_cache = false;      // memo or disk: no compiler ran
  std::string cubin_hash = {};  // "sha256:..", the identity
  std::string source = {}, ptx = {}, cubin = {};
  std::deque<Function> functions = {};  // in the order of Program::entries; addresses are stable
};

// A typed callable, whose host-side signature was checked against the device's at construction.
template <class... Arguments>
class Kernel {
 public:
  Kernel(Device& device, Function& function) : device_(&device), function_(&function) {}

  void operator()(const LaunchShape& shape, Arguments... arguments) const {
    void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
    static constexpr std::size_t sizes[] = {sizeof(Arguments)..., 0};
    const ArgumentSums told = (ArgumentSums() + ... + argument_sums(arguments));
    device_->launch(*function_, shape,
                    {.pointers = pointers,
                     .sizes = sizes,
                     .sum = told.words,
                     .magnitudes = told.magnitudes,
                     .known_pointers = pointers_among<Arguments...>()});
  }
  const Function& function() const { return *function_; }

 private:
  Device* device_;
  Function* function_;
};

// The kernels of one compiled program.
class Module {
 public:
  Module(Device& device, Compiled& compiled) : device_(&device), compiled_(&compiled) {}

  // Throws Error{compile} if the program has no such entry or the kernel does not take Arguments.
  template <class... Arguments>
  Kernel<Arguments...> kernel(std::string_view entry) const {
    return {*device_, find(entry, typeid(void(Arguments...)))};
  }
  const Compiled& compiled() const { return *compiled_; }

 private:
  Function& find(std::string_view entry, const std::type_info& signature) const;

  Device* device_;
  Compiled* compiled_;
};

class Compiler {
 public:
  explicit Compiler(Device& device);
  ~Compiler();

  // Throws Error{compile} with NVRTC's log for an invalid program. A program that this compiler has
  // seen is returned as it is and not counted again.
  Module compile(const Program& program);

  // In the order of first request.
  const std::vector<std::unique_ptr<Compiled>>& programs() const { return programs_; }

  // For `compile` cases, which measure the compiler itself: disables the memo and the disk cache.
  void bypass_caches() { bypass_caches_ = true; }

 private:
  Device& device_;
  bool bypass_caches_ = false;
  std::vector<std::unique_ptr<Compiled>> programs_;
  std::map<std::string, Compiled*> by_key_;
  std::map<std::string, Lowering> last_;  // by source name, to find the next reason
};

}  // namespace holdfast
