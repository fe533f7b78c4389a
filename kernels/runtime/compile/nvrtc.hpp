// SPDX-License-Identifier: Apache-2.0
// The two compilers behind one compilation: NVRTC lowers C++ to PTX, nvJitLink compiles PTX to a
// cubin. Neither knows files, caches or ledgers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

// The output of one compilation, and the content of a cache entry.
struct Artifact {
  struct Entry {
    std::string name = {};  // mangled
    int registers = 0;
    int spill_bytes = 0;  // stores plus loads
    int shared_bytes = 0;
    int local_bytes = 0;  // stack, including that of called functions

    bool operator==(const Entry&) const = default;
  };
  std::string ptx = {};
  std::string cubin = {};
  std::vector<Entry> entries = {};  // in the order of Lowering::entries
};

struct IncludedText {
  std::string name = {}, text = {};
};

struct Lowering {
  std::string name = {};  // shown in messages
  std::string text = {};
  std::vector<IncludedText> headers = {};  // by the name in #include
  std::vector<std::string> definitions = {};
  std::vector<std::string> entries = {};
  int sm = 0;
};

// The options every program is lowered with, apart from architecture and definitions. No line
// information: a comment or a path must not change the cubin.
const std::vector<std::string>& lowering_options();

// Fills ptx and the entries' names. Throws Error{compile} with NVRTC's log.
void lower(const Lowering& lowering, Artifact& artifact);

// Device memory that a program may hold by itself, in bytes: constants of formulas, which no ledger
// counts.
inline constexpr std::int64_t most_static_bytes = 4096;

// Fills cubin and the entries' resources. Throws Error{compile} with nvJitLink's log, and
// Error{broken_rule} for a program that holds more memory than that.
void link(const Lowering& lowering, Artifact& artifact);

// The bytes of a program's variables in device memory, from nvJitLink's log. Throws Error{compile}
// if the log does not say.
std::int64_t static_bytes(std::string_view log);

// Sets the entries' resources from nvJitLink's log. If a kernel uses shared memory at all, the log
// counts `reserved` bytes of the system's with it. Throws Error{compile} if the log lacks an entry.
void read_resources(std::string_view log, std::int64_t reserved,
                    std::vector<Artifact::Entry>& entries);

// The most threads that a block of a kernel may have by its __launch_bounds__, 0 if it has none.
// Throws Error{compile} if the PTX lacks it.
int most_threads(std::string_view ptx, std::string_view name);

}  // namespace holdfast
