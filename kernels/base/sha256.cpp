// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <openssl/evp.h>

#include <stdexcept>

namespace holdfast {
namespace {

void check(int status) {
  if (status != 1) throw std::runtime_error("failed to compute a SHA-256 hash: OpenSSL refused");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept {
  EVP_MD_CTX_free(context);
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

void Sha256::add(std::string_view bytes) {
  check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Sha256::digits() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  check(EVP_DigestFinal_ex(context_.get(), digest, &size));
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < size; ++i) {
    out += hexadecimal[digest[i] >> 4];
    out += hexadecimal[digest[i] & 15];
  }
  return out;
}

std::string sha256_digits(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.digits();
}

std::string sha256(std::string_view bytes) {
  return "sha256:" + sha256_digits(bytes);
}

}  // namespace holdfast
