// SPDX-License-Identifier: Apache-2.0
// Hashes that identify content: a build's, a list's, a program's, an environment's.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace holdfast {

// "sha256:" and 64 lower-case hexadecimal digits, the form in every document.
std::string sha256(std::string_view bytes);

// The 64 digits alone.
std::string sha256_digits(std::string_view bytes);

// The same hash for bytes that arrive in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  std::string digits();  // once, at the end

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace holdfast
