// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/sha256.hpp"

#include <openssl/evp.h>

#include "runtime/base/error.hpp"

namespace holdfast {

std::string sha256(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1)
    throw Error(Fault::device, "failed to compute a SHA-256 hash: OpenSSL refused");
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += digits[digest[i] >> 4];
    hex += digits[digest[i] & 15];
  }
  return hex;
}

}  // namespace holdfast
