// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/error.hpp"

#include "runtime/base/log.hpp"

namespace holdfast {

Error::Error(Fault fault, std::string_view sentence, std::source_location where)
    : ErrorOf(fault, sentence), where_(where) {
  log(LogLevel::debug, text(where.file_name(), ":", where.line(), ": ", sentence));
}

}  // namespace holdfast
