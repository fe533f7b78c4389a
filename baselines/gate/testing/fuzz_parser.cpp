// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry for the parser that HOLDFAST_PARSER names. Whatever leaves it, and whatever the
// sanitizers see, is a finding.
#include <cstddef>
#include <cstdint>

#include "gate/testing/parser_promises.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const holdfast::gate::ParserPromise& promise =
      holdfast::gate::parser_promise(HOLDFAST_PARSER);
  (void)promise.accepts({reinterpret_cast<const char*>(data), size});
  return 0;
}
