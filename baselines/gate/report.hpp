// SPDX-License-Identifier: Apache-2.0
// A verdict as people and other programs read it: terminal, Markdown, JUnit.
#pragma once

#include <ostream>
#include <string>

#include "gate/documents.hpp"

namespace holdfast::gate {

struct Printing {
  bool color = false;
  bool quiet = false;  // what blocks, and the summary
};

void print(const Verdict& verdict, const Printing& printing, std::ostream& out);
std::string markdown(const Verdict& verdict);
std::string junit(const Verdict& verdict);

// The counts of verdicts, and each case's speedup and peak_ratio, as lines that CTest collects.
std::string ctest_measurements(const Verdict& verdict);

// "212 PASS, 1 REGRESSION", the worst first.
std::string summary(const Verdict& verdict);

}  // namespace holdfast::gate
