// SPDX-License-Identifier: Apache-2.0
#include "gate/base/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "gate/base/shown_text.hpp"

namespace holdfast::gate {
namespace {

constexpr std::string_view between_rows = "; ";  // of a table of kernels

std::string printed(const char* format, double value) {
  std::array<char, 64> buffer = {};
  (void)std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

std::string with_digits(double value, int digits) {
  std::array<char, 64> buffer = {};
  (void)std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, value);
  return buffer.data();
}

std::string seconds(double value, int digits) {
  const double size = std::abs(value);
  if (size >= 1 || size == 0) return with_digits(value, digits) + " s";
  if (size >= 1e-3) return with_digits(value * 1e3, digits) + " ms";
  if (size >= 1e-6) return with_digits(value * 1e6, digits) + " us";
  return with_digits(value * 1e9, digits) + " ns";
}

// "3.2 GB/s"; "40 k/s" for the unit 1/s.
std::string rate(double value, const std::string& unit, int digits) {
  constexpr std::pair<double, const char*> prefixes[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  const std::string shown = unit.starts_with('1') ? unit.substr(1) : unit;
  for (const auto& [size, prefix] : prefixes)
    if (std::abs(value) >= size) return with_digits(value / size, digits) + ' ' + prefix + shown;
  return with_digits(value, digits) + ' ' + shown;
}

// Exact up to where a prefix makes it shorter.
std::string bytes(double value, int digits) {
  const double size = std::abs(value);
  if (size >= 1e9) return with_digits(value / 1e9, digits) + " GB";
  if (size >= 1e6) return with_digits(value / 1e6, digits) + " MB";
  if (size >= 1e4) return with_digits(value / 1e3, digits) + " kB";
  return with_digits(value, digits) + " B";
}

bool is_hash(const std::string& words) {
  return words.starts_with("sha256:");
}

std::string in_digits(const Value& value, const std::string& unit, int digits) {
  if (const auto* words = std::get_if<std::string>(&value))
    return is_hash(*words) ? std::string(beginning(*words, 15)) : *words;
  const double number = std::get<double>(value);
  if (unit == "s") return seconds(number, digits);
  if (unit == "B") return bytes(number, digits);
  if (unit.ends_with("/s")) return rate(number, unit, digits);
  const bool whole = std::abs(number) < 1e15 && number == std::floor(number);
  std::string told = whole ? printed("%.0f", number) : with_digits(number, digits);
  if (unit.empty() || unit == "1") return told;
  return told + ' ' + (number == 1 && unit.ends_with('s') ? unit.substr(0, unit.size() - 1) : unit);
}

// The row of a table at `begin`, and whether others follow.
std::string row_of(const std::string& table, std::size_t begin, std::size_t within) {
  const std::size_t end = table.find(between_rows, within);
  return table.substr(begin, end - begin) + (end == table.npos ? "" : "; ...");
}

// The first row that differs.
std::pair<std::string, std::string> rows_apart(const std::string& before, const std::string& now) {
  const auto same = std::mismatch(before.begin(), before.end(), now.begin(), now.end()).first;
  const auto differs = static_cast<std::size_t>(same - before.begin());
  const std::size_t last = before.substr(0, differs).rfind(between_rows);
  const std::size_t begin = last == before.npos ? 0 : last + between_rows.size();
  return {row_of(before, begin, std::max(begin, differs)),
          row_of(now, begin, std::max(begin, differs))};
}

constexpr int usual_digits = 4, all_digits = 17;

}  // namespace

std::string percent(double fraction) {
  return printed("%+.3g %%", 100 * fraction);
}

std::string readable(const Value& value, const std::string& unit) {
  return in_digits(value, unit, usual_digits);
}

std::pair<std::string, std::string> told_apart(const Value& before, const Value& now,
                                               const std::string& unit) {
  const auto* old_words = std::get_if<std::string>(&before);
  const auto* new_words = std::get_if<std::string>(&now);
  if (old_words && new_words && !is_hash(*old_words)) return rows_apart(*old_words, *new_words);
  int digits = usual_digits;
  std::pair<std::string, std::string> told;
  do {
    told = {in_digits(before, unit, digits), in_digits(now, unit, digits)};
  } while (told.first == told.second && before != now && ++digits <= all_digits);
  return told;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*middle, *std::max_element(values.begin(), middle));
}

double median_absolute_deviation(const std::vector<double>& values) {
  const double center = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - center));
  return median(std::move(distances));
}

}  // namespace holdfast::gate
