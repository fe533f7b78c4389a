// SPDX-License-Identifier: Apache-2.0
// The work of a device as data: kernels, the shapes of their launches, recorded graphs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/count/ledger.hpp"

namespace holdfast {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;

  auto operator<=>(const Dim3&) const = default;
  constexpr std::int64_t volume() const { return std::int64_t{1} * x * y * z; }
};

struct LaunchShape {
  Dim3 grid = {};                // blocks
  Dim3 block = {};               // threads per block
  std::size_t shared_bytes = 0;  // dynamic shared memory per block
  bool cooperative = false;      // all blocks resident at once, for a grid-wide barrier

  auto operator<=>(const LaunchShape&) const = default;
};

// Where a pointer lies: in which argument, and behind how many of its bytes.
struct PointerPlace {
  std::size_t argument = 0, offset = 0;
};

// What a kernel is given. The sizes let a graph find the memory that the arguments refer to.
struct LaunchArguments {
  void** pointers = nullptr;                          // to each argument
  std::span<const std::size_t> sizes = {};            // of each, bytes
  std::int64_t sum = 0, magnitudes = 0;               // of them (argument_sum.hpp)
  std::span<const PointerPlace> known_pointers = {};  // by the arguments' types
};

// An in-order queue of a device. Kernels, replays and synchronous work use the main lane; copies
// from and to page-locked memory may use their own, concurrently.
enum class Lane { main, copies };

// Number of blocks of `each` that cover `count`.
constexpr unsigned blocks(std::int64_t count, std::int64_t each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

// A kernel's kind in a list of launches. `scatter` writes a few places of an array that others fill
// as well; `fused` is everything that reads, computes and writes its own.
enum class KernelKind { fused, scatter, gemm, reduce, copy, loop };
constexpr std::string_view name(KernelKind kind) {
  constexpr std::string_view names[] = {"fused", "scatter", "gemm", "reduce", "copy", "loop"};
  return names[static_cast<std::size_t>(kind)];
}

// A kernel of a compiled program. Owned by the compiler; valid as long as its backend.
struct Function {
  std::string expression = {};  // "stage<double>", as in the program
  KernelKind kind = KernelKind::fused;
  std::string name = {};              // mangled
  std::string parameters = {};        // "(float const*, float*, int)"
  int registers = 0;                  // per thread
  int spill_bytes = 0;                // local-memory spills, stores plus loads
  int shared_bytes = 0;               // static, per block
  int local_bytes = 0;                // per thread: arrays and spills in local memory
  int most_threads = 0;               // per block, by __launch_bounds__; 0 if it does not say
  std::string cubin_hash = {};        // of the program's cubin
  const void* handle = nullptr;       // cudaKernel_t on a real device
  std::int64_t launches = 0;          // so far, for the kernel table of a result
  std::int64_t argument_sum = 0;      // over these launches
  std::set<LaunchShape> shapes = {};  // every distinct one so far, recorded or run
};

// Recorded work. Replaying it counts what was recorded, node by node.
class Graph {
 public:
  struct Executable {
    virtual ~Executable() = default;
  };
  // One recorded node, for profiles of a replay.
  struct Node {
    enum class Kind { kernel, library, copy, fill } kind = Kind::kernel;
    const Function* function = nullptr;  // for a kernel
    std::string library = {};            // "gemm [6, 48, 49, 49] f64"
    LaunchShape shape = {};
    std::int64_t bytes = 0;  // for a copy or a fill
    int device_nodes = 1;    // in the device's own graph; a library call may become several
    std::vector<std::string> scopes = {};  // opened since the capture began, outermost first
  };

  std::vector<Node> nodes = {};
  std::size_t scopes_around = 0;  // open when the capture began
  Counts counts = {};
  struct Launched {
    std::int64_t launches = 0, argument_sum = 0;
  };
  std::map<Function*, Launched> launched = {};  // per kernel, for the kernel table

  // An allocation that a node points into, by the number that the device gave it.
  struct Use {
    const void* memory = nullptr;
    std::string site = {};
    std::size_t node = 0;  // the first that refers to it
  };
  std::map<std::uint64_t, Use> uses = {};
  // The device's release count when all of these were last known to be alive.
  mutable std::uint64_t releases_seen = 0;
  std::unique_ptr<Executable> executable = {};  // null on a dry device
};

}  // namespace holdfast
