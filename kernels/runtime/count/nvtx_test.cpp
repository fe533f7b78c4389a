// SPDX-License-Identifier: Apache-2.0
// Run with NVTX_INJECTION64_PATH naming nvtx_listener: the view of a profiler.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "runtime/count/nvtx.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast {
namespace {

// The listener's notes so far: "(step(rhs))".
std::string heard() {
  void* listener = dlopen(std::getenv("NVTX_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
  const auto text = reinterpret_cast<const char* (*)()>(dlsym(listener, "heard_ranges"));
  return text();
}

TEST(Nvtx, ScopesAreNestedRangesForAProfilerThatListens) {
  ASSERT_TRUE(nvtx_listens);
  {
    const Scope step("step");
    const Scope rhs("rhs");
  }
  { const Scope step("step"); }
  EXPECT_EQ(heard(), "(step(rhs))(step)");
}

}  // namespace
}  // namespace holdfast
