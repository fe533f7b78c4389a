// SPDX-License-Identifier: Apache-2.0
// What every reader of the gate promises for any bytes at all: an Error with a sentence, or a
// document whose canonical text is read as the same document. Held by a test on the fixtures and by
// libFuzzer (preset `fuzz`) on what it makes of them.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::gate {

class BrokenPromise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

struct ParserPromise {
  const char* name;                         // results, baseline, policy ...
  bool (*accepts)(std::string_view bytes);  // false: refused as promised; throws BrokenPromise
  std::vector<std::string> (*seeds)();      // inputs that are accepted
};

const std::vector<ParserPromise>& parser_promises();
const ParserPromise& parser_promise(std::string_view name);

}  // namespace holdfast::gate
