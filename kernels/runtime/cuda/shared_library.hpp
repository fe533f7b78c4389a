// SPDX-License-Identifier: Apache-2.0
// A library opened at first use, and its functions.
#pragma once

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "runtime/base/error.hpp"

namespace holdfast {

class SharedLibrary {
 public:
  // Stays loaded. Throws Error{device} if `file` cannot be loaded.
  SharedLibrary(std::string_view name, const std::string& file)
      : name_(name), file_(file), handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_)
      throw Error(Fault::device, text("failed to load ", name_, ": ", dlerror(),
                                      "; put its folder into LD_LIBRARY_PATH"));
  }

  template <class Function>
  void find(Function& function, const char* symbol) const {
    function = reinterpret_cast<Function>(dlsym(handle_, symbol));
    if (!function)
      throw Error(Fault::device, text("failed to load ", name_, ": ", file_, " has no ", symbol,
                                      "; install the version that this build was configured with"));
  }

 private:
  std::string name_, file_;
  void* handle_;
};

}  // namespace holdfast
