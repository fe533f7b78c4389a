// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/known_answers.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

using Answer = std::vector<double>;

std::string_view bytes_of(const Answer& answer) {
  return {reinterpret_cast<const char*>(answer.data()), answer.size() * sizeof(double)};
}

class Answers {
 public:
  explicit Answers(std::string case_id) : case_id_(std::move(case_id)) {
    if (const char* folder = std::getenv("HOLDFAST_ANSWERS")) folder_ = folder;
  }

  template <class Compute>
  const Answer& answer(const std::string& question, const Compute& compute) {
    const auto known = known_.find(question);
    if (known != known_.end()) return known->second;
    if (auto stored = read(question)) return known_[question] = std::move(*stored);
    Answer& answer = known_[question] = compute();
    write(question, answer);
    return answer;
  }

 private:
  fs::path file(const std::string& question) const {
    const std::string hash = sha256(text(case_id_, '|', question));
    return folder_ / (hash.substr(hash.find(':') + 1) + ".answer");
  }
  // A file begins with the hash of what follows.
  std::optional<Answer> read(const std::string& question) const {
    if (folder_.empty()) return std::nullopt;
    std::ifstream in(file(question), std::ios::binary);
    std::string hash;
    if (!std::getline(in, hash)) return std::nullopt;
    const std::string content(std::istreambuf_iterator<char>(in), {});
    if (content.size() % sizeof(double) != 0 || sha256(content) != hash) return std::nullopt;
    Answer answer(content.size() / sizeof(double));
    if (!answer.empty()) std::memcpy(answer.data(), content.data(), content.size());
    return answer;
  }
  // Where the disk is full the next process computes it again.
  void write(const std::string& question, const Answer& answer) const {
    if (folder_.empty()) return;
    WrittenFile out(file(question));
    out.append(sha256(std::string(bytes_of(answer))) + "\n");
    out.append(bytes_of(answer));
    out.publish();
  }

  std::string case_id_;
  fs::path folder_ = {};
  std::map<std::string, Answer> known_ = {};
};

}  // namespace

std::vector<double> kept_answer(const std::string& question,
                                const std::function<std::vector<double>()>& compute) {
  return Answers("").answer(question, compute);
}

Oracle remembering(Oracle oracle, const std::string& case_id) {
  const auto answers = std::make_shared<Answers>(case_id);
  if (oracle.expected)
    oracle.expected = [answers, compute = std::move(oracle.expected)](int steps) {
      return answers->answer(text("after ", steps), [&] { return compute(steps); });
    };
  return oracle;
}

}  // namespace holdfast
