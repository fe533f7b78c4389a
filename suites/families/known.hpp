// SPDX-License-Identifier: Apache-2.0
// A cache for what several cases of a process use.
#pragma once

#include <map>

namespace holdfast {

template <class Key, class Value>
class Known {
 public:
  template <class Make>
  const Value& of(const Key& key, const Make& make) {
    const auto found = known_.find(key);
    return found != known_.end() ? found->second : known_.emplace(key, make()).first->second;
  }

 private:
  std::map<Key, Value> known_ = {};
};

}  // namespace holdfast
