// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/streamed_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/base/error.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr int nothing_left = -1;  // the next batch of a fit that is over

// Values one after the other, as this machine has them.
struct Packer {
  std::string bytes = {};

  template <class T>
  Packer& one(const T& value) {
    return row(&value, 1);
  }
  template <class T>
  Packer& row(const T* values, std::size_t count) {
    bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
    return *this;
  }
};
class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}

  template <class T>
  T one() {
    T value = {};
    row(&value, 1);
    return value;
  }
  template <class T>
  void row(T* values, std::size_t count) {
    if (count > (bytes_.size() - at_) / sizeof(T))
      throw Error(Fault::bad_input, "checkpoint_io: a checkpoint ends too early");
    std::memcpy(values, bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
  }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

void StreamStatistics::add(const BatchRecord& record) {
  constexpr std::size_t most = 100;
  const int struck = record.good ? record.attempts - 1 : record.attempts;
  ++batches;
  attempts += record.attempts;
  faults += struck;
  recovered += record.good && struck > 0;
  failed += !record.good;
  last.push_back(record);
  if (last.size() > most) last.pop_front();
}

void StreamStatistics::add_good() {
  ++batches;
  ++attempts;
}

StreamedFit::StreamedFit(const Problem& problem, int passes, Batches& batches,
                         StreamSettings settings)
    : p_(parameter_count(problem.options, problem.input->size.angles)),
      fit_(problem, passes),
      batches_(batches),
      settings_(std::move(settings)),
      left_out_(static_cast<std::size_t>(batches.count())),
      normal_(normal_count(p_)),
      costs_(left_out_.size()),
      accepted_costs_(left_out_.size()) {}

void StreamedFit::run() {
  start();
  go_on(0);
}

void StreamedFit::resume() {
  start();
  const auto payload = settings_.checkpoints ? settings_.checkpoints->newest() : std::nullopt;
  go_on(payload ? restore(*payload) : 0);
}

void StreamedFit::start() {
  fit_.restart();
  std::fill(left_out_.begin(), left_out_.end(), false);
  statistics_ = {};
  std::fill(normal_.begin(), normal_.end(), 0.);
  fit_.set_freedom(freedom());
  pass_ = 0;
}

void StreamedFit::go_on(int next_batch) {
  if (next_batch == nothing_left) return;
  for (;; ++pass_, next_batch = 0) {
    const std::vector<double> at = fit_.trial();
    if (next_batch == 0) std::fill(normal_.begin(), normal_.end(), 0.);
    pass(at, next_batch);
    ++statistics_.passes;
    check_success_rate();
    const bool over = fit_.take(normal_.data());
    // Where the fit stands now is this trial, or it is not.
    const double* const stands = fit_.state().parameters();
    if (std::equal(at.begin(), at.end(), stands)) accepted_costs_ = costs_;
    if (!over) continue;
    if (settings_.checkpoints) save(nothing_left);
    return;
  }
}

// Up to as many batches are on their way as there are slots; they are added in their order.
void StreamedFit::pass(const std::vector<double>& at, int first) {
  std::deque<std::pair<int, int>> begun;  // slot, batch
  int next_slot = 0;
  for (int batch = first; batch < batches_.count(); ++batch) {
    if (left_out_[batch]) continue;
    if (static_cast<int>(begun.size()) == batches_.slots()) {
      take(begun.front().first, begun.front().second, at);
      begun.pop_front();
    }
    batches_.begin(next_slot, batch, settings_.faults.strikes(batch, pass_, 0), at);
    begun.emplace_back(next_slot, batch);
    next_slot = (next_slot + 1) % batches_.slots();
  }
  for (const auto& [slot, batch] : begun) take(slot, batch, at);
}

void StreamedFit::take(int slot, int batch, const std::vector<double>& at) {
  BatchRecord record = {.pass = pass_, .batch = batch, .attempts = 1};
  const double* normal = batches_.finish(slot);
  const bool full = settings_.mode == StreamMode::full;
  if (full)
    while (!(record.good = is_good(normal)) && record.attempts <= settings_.retries) {
      batches_.begin(slot, batch, settings_.faults.strikes(batch, pass_, record.attempts), at);
      normal = batches_.finish(slot);
      ++record.attempts;
    }
  if (full) {
    record.cost = costs_[batch] = normal[0];
    statistics_.add(record);
  } else if (settings_.mode == StreamMode::fast) {
    statistics_.add_good();
  }
  if (record.good) {
    for (std::size_t k = 0; k < normal_.size(); ++k) normal_[k] += normal[k];
  } else {
    leave_out(batch);
  }
  if (settings_.checkpoints && statistics_.batches % settings_.checkpoint_frequency == 0)
    save(batch + 1);
  if (settings_.watch) settings_.watch(record);
}

void StreamedFit::save(int next_batch) const {
  Packer out;
  HostFit fit = fit_;
  const FitState state = fit.state();
  out.one(p_).one(batches_.count()).one(pass_).one(next_batch);
  out.row(state.at, static_cast<std::size_t>(fit_count(p_)));
  for (const auto* row : {&normal_, &costs_, &accepted_costs_}) out.row(row->data(), row->size());
  for (const bool lost : left_out_) out.one(lost);
  const StreamStatistics& of = statistics_;
  for (const std::int64_t total :
       {of.batches, of.attempts, of.faults, of.recovered, of.failed, of.passes})
    out.one(total);
  out.one(static_cast<int>(of.last.size()));
  for (const BatchRecord& record : of.last)
    out.one(record.pass).one(record.batch).one(record.attempts).one(record.good).one(record.cost);
  settings_.checkpoints->save(std::move(out.bytes));
}

// Returns the batch that is next.
int StreamedFit::restore(const std::string& payload) {
  Unpacker in(payload);
  if (in.one<int>() != p_ || in.one<int>() != batches_.count())
    throw Error(Fault::bad_input,
                "checkpoint_io: it is of another number of parameters or batches");
  pass_ = in.one<int>();
  const int next_batch = in.one<int>();
  in.row(fit_.state().at, static_cast<std::size_t>(fit_count(p_)));
  for (auto* row : {&normal_, &costs_, &accepted_costs_}) in.row(row->data(), row->size());
  for (std::size_t k = 0; k < left_out_.size(); ++k) left_out_[k] = in.one<bool>();
  StreamStatistics& of = statistics_;
  for (std::int64_t* total :
       {&of.batches, &of.attempts, &of.faults, &of.recovered, &of.failed, &of.passes})
    *total = in.one<std::int64_t>();
  const int records = in.one<int>();
  for (int k = 0; k < records; ++k) {
    BatchRecord record;
    record.pass = in.one<int>();
    record.batch = in.one<int>();
    record.attempts = in.one<int>();
    record.good = in.one<bool>();
    record.cost = in.one<double>();
    of.last.push_back(record);
  }
  fit_.set_freedom(freedom());
  return next_batch;
}

// For the rest of the fit. The cost where it stands loses the batch's share, so that costs stay
// comparable.
void StreamedFit::leave_out(int batch) {
  left_out_[batch] = true;
  if (pass_ > 0) fit_.state().cost() -= accepted_costs_[batch];
  costs_[batch] = accepted_costs_[batch] = 0;
  fit_.set_freedom(freedom());
}

bool StreamedFit::is_good(const double* normal) const {
  return std::all_of(normal, normal + normal_.size(), [](double x) { return std::isfinite(x); });
}

double StreamedFit::success_rate() const {
  const auto lost = std::count(left_out_.begin(), left_out_.end(), true);
  return 1 - static_cast<double>(lost) / static_cast<double>(left_out_.size());
}

std::int64_t StreamedFit::points() const {
  std::int64_t sum = 0;
  for (int batch = 0; batch < batches_.count(); ++batch)
    if (!left_out_[batch]) sum += batches_.points(batch);
  return sum;
}

void StreamedFit::check_success_rate() {
  if (success_rate() >= settings_.least_success_rate) return;
  std::string best;
  const double* const stands = fit_.state().parameters();
  for (int k = 0; k < p_; ++k) best += text(k == 0 ? "" : ", ", stands[k]);
  throw Error(Fault::device,
              text("success_rate_too_low: ", success_rate(), " of the batches are left in pass ",
                   pass_, ", less than ", settings_.least_success_rate,
                   "; the best parameters so far are ", best));
}

}  // namespace holdfast::xpcs_fit
