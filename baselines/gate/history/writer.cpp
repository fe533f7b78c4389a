// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ctime>

#include "gate/history/append.hpp"

namespace holdfast::gate {
namespace {

// Whether only a wrong clock can have told that time: those of a fleet differ by less than a day.
bool is_ahead(const std::string& utc) {
  const std::time_t soon = std::time(nullptr) + 24 * 60 * 60;
  std::tm parts = {};
  ::gmtime_r(&soon, &parts);
  char told[32];
  return utc > std::string(told, std::strftime(told, sizeof told, "%Y-%m-%dT%H:%M:%SZ", &parts));
}

}  // namespace

HistoryWriter::HistoryWriter(Store& store) : store_(store) {
  for (const HistoryFile& file : history_files(store_)) {
    if (file.old())
      old_.push_back(file);
    else
      segments_[file.device_class][file.begin] = file;
  }
  for (const auto& [device_class, files] : segments_) (void)open(files.rbegin()->second);
  rewrite_old();
}

void HistoryWriter::note(const HistoryCommit& commit) {
  const auto [at, fresh] = orders_.try_emplace(commit.name, commit.order);
  at->second = std::min(at->second, commit.order);
  last_order_ = std::max(last_order_, commit.order);
}

HistoryWriter::Open& HistoryWriter::open(const HistoryFile& file) {
  std::unique_ptr<Open>& held = open_[file.place];
  if (held) return *held;
  held = std::make_unique<Open>(file.device_class);
  if (file.content.empty()) return *held;  // a new one
  held->content = file.content;
  held->bytes = std::filesystem::file_size(file.content);
  read_segment(file, held->segment, [&](const HistoryRun& run, const HistoryMeanings&) {
    held->know(run);
    note(run.commit);
  });
  return *held;
}

// The last segment that begins no later; a run before all of them belongs to the first.
HistoryFile* HistoryWriter::segment_of(const std::string& device_class, const std::string& utc) {
  auto& files = segments_[device_class];
  if (files.empty()) return nullptr;
  const auto after = files.upper_bound(utc);
  return &(after == files.begin() ? after : std::prev(after))->second;
}

bool HistoryWriter::has(const std::string& device_class, const HistoryRun& run) {
  const HistoryFile* file = segment_of(device_class, run.utc);
  if (!file) return false;
  const auto& runs = open(*file).runs;
  const auto same = runs.find({run.commit.name, run.utc, run.suite});
  return same != runs.end() && std::ranges::any_of(same->second, [&](const auto& one) {
           const auto& [id, fingerprint] = one;
           return id && run.id ? id == run.id : fingerprint == run.fingerprint();
         });
}

std::int64_t HistoryWriter::order_of(const std::string& commit) {
  if (!orders_.contains(commit)) note({.name = commit, .order = last_order_ + 1});
  return orders_.at(commit);
}

HistoryWriter::Open& HistoryWriter::open_for(const std::string& device_class,
                                             const std::string& utc) {
  const HistoryFile* file = segment_of(device_class, utc);
  if (file) {
    Open& held = open(*file);
    const bool full = held.bytes >= full_bytes && held.segment.runs() >= full_runs;
    // No later run would ever begin a segment behind one that is ahead of its time.
    const bool strays = is_ahead(utc) != is_ahead(file->begin);
    // Each run stays in the segment in which has() looks for it.
    const bool splits = utc < file->begin ? held.oldest >= file->begin : utc > held.newest;
    if (!splits || (!full && !strays)) return held;
  }
  HistoryFile made{
      .place = segment_place(device_class, utc), .device_class = device_class, .begin = utc};
  segments_[device_class][utc] = made;
  return open(made);
}

void HistoryWriter::add(const std::string& device_class, const HistoryRun& run,
                        const HistoryMeanings& meanings) {
  Open& held = open_for(device_class, run.utc);
  note(run.commit);
  const std::string lines = held.segment.write(run, meanings);
  held.added += lines;
  held.bytes += lines.size();
  held.know(run);
}

void HistoryWriter::rewrite_old() {
  for (const HistoryFile& file : old_) {
    for_each_run(file, [&](const HistoryRun& run, const HistoryMeanings& meanings) {
      if (!has(file.device_class, run)) add(file.device_class, run, meanings);
    });
    store_.remove(file.place);
  }
}

void HistoryWriter::publish() {
  for (const auto& [place, held] : open_) {
    if (held->added.empty()) continue;
    WrittenFile& written = store_.write(place);
    if (held->content) written.append_copy_of(*held->content);
    written.append(held->added);
  }
  store_.publish();
}

}  // namespace holdfast::gate
