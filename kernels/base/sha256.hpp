// SPDX-License-Identifier: Apache-2.0
// Hashes that identify a content: of a build, a list, a program, an environment.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace holdfast {

// "sha256:" and 64 lower-case hexadecimal digits, the form of every document.
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
