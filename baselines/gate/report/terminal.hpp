// SPDX-License-Identifier: Apache-2.0
// A verdict as people and other programs read it: terminal, Markdown, JUnit, GitHub's annotations.
#pragma once

#include <ostream>
#include <string>

#include "gate/base/printing.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

inline constexpr std::size_t most_findings = 10;  // of the detectors, told on one page

// Quiet: what blocks, and the summary.
void print(const Verdict& verdict, const Printing& printing, std::ostream& out);

// For a job summary or a comment: the worst rows, the rest folded away, all within `most_bytes`,
// which is what GitHub takes of a comment (65 536 characters; a job summary takes a mebibyte).
inline constexpr std::size_t markdown_bytes = 60000;
std::string markdown(const Verdict& verdict, std::size_t most_bytes = markdown_bytes);

std::string junit(const Verdict& verdict);
std::string xml_escaped(const std::string& content);

// At most ten lines that GitHub shows beside the files of a change, those of `baselines` as the
// repository names them; more are not shown of one step. What blocks is an error, the rest warns.
std::string github_annotations(const Verdict& verdict, const std::string& baselines);

// The counts of verdicts and each case's headline numbers (speedup, time_s, launches, ...), as
// lines that CTest collects.
std::string ctest_measurements(const Verdict& verdict);

// "1 REGRESSION, 212 PASS", the worst first.
std::string summary(const Verdict& verdict);

}  // namespace holdfast::gate
