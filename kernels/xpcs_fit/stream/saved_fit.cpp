// SPDX-License-Identifier: Apache-2.0
// A streamed fit written to and read from the bytes of a checkpoint.
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "runtime/base/error.hpp"
#include "xpcs_fit/stream/streamed_fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

// Values one after the other, in this machine's representation.
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
    if (count == 0) return;
    std::memcpy(values, bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
  }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

void StreamedFit::save(int next_batch) const {
  settings_.checkpoints->save(saved(next_batch));
}

// Packed by the fitting thread and written by another: only copies of rows.
std::string StreamedFit::saved(int next_batch) const {
  Packer out;
  out.bytes.reserve(saved_bytes(p_, batches_.count()) +
                    (best_.size() + best_costs_.size()) * sizeof(double));
  out.one(p_).one(batches_.count()).one(pass_).one(next_batch);
  for (const auto* row : {&fit_.memory(), &normal_, &costs_, &accepted_costs_})
    out.row(row->data(), row->size());
  out.row(left_out_.data(), left_out_.size());
  const StreamStatistics& of = statistics_;
  for (const std::int64_t total :
       {of.batches, of.attempts, of.faults, of.recovered, of.failed, of.passes, of.restarts})
    out.one(total);
  out.row(of.faults_of, std::size(of.faults_of));
  out.one(of.least_seconds).one(of.most_seconds).one(of.seconds);
  out.one(best_.size()).row(best_.data(), best_.size());
  out.row(best_costs_.data(), best_costs_.size());
  out.one(static_cast<int>(of.last.size()));
  for (const BatchRecord& record : of.last)
    out.one(record.pass)
        .one(record.batch)
        .one(record.attempts)
        .one(record.good)
        .one(record.fault)
        .one(record.cost)
        .one(record.gradient)
        .one(record.seconds);
  return std::move(out.bytes);
}

std::size_t StreamedFit::saved_bytes(int parameters, int batches) {
  constexpr std::size_t record = 3 * sizeof(int) + sizeof(bool) + sizeof(BatchFault) + 24;
  const auto n = static_cast<std::size_t>(batches);
  const std::size_t state =
      static_cast<std::size_t>(fit_count(parameters)) + normal_count(parameters) + 2 * n;
  return 5 * sizeof(int) + 8 * (state + 7 + 4 + 3 + 1) + n +
         StreamStatistics::kept_records * record;
}

// Returns the next batch.
int StreamedFit::restore(const std::string& payload) {
  Unpacker in(payload);
  if (in.one<int>() != p_ || in.one<int>() != batches_.count())
    throw Error(Fault::bad_input,
                "checkpoint_io: it is of another number of parameters or batches");
  pass_ = in.one<int>();
  const int next_batch = in.one<int>();
  in.row(fit_.state().at, static_cast<std::size_t>(fit_count(p_)));
  for (auto* row : {&normal_, &costs_, &accepted_costs_}) in.row(row->data(), row->size());
  in.row(left_out_.data(), left_out_.size());
  StreamStatistics& of = statistics_;
  for (std::int64_t* total :
       {&of.batches, &of.attempts, &of.faults, &of.recovered, &of.failed, &of.passes, &of.restarts})
    *total = in.one<std::int64_t>();
  in.row(of.faults_of, std::size(of.faults_of));
  for (double* one : {&of.least_seconds, &of.most_seconds, &of.seconds}) *one = in.one<double>();
  const bool began_anew = in.one<std::size_t>() > 0;
  best_.resize(began_anew ? static_cast<std::size_t>(fit_count(p_)) : 0);
  best_costs_.resize(began_anew ? costs_.size() : 0);
  for (auto* row : {&best_, &best_costs_}) in.row(row->data(), row->size());
  const int records = in.one<int>();
  for (int k = 0; k < records; ++k) {
    BatchRecord record;
    record.pass = in.one<int>();
    record.batch = in.one<int>();
    record.attempts = in.one<int>();
    record.good = in.one<bool>();
    record.fault = in.one<BatchFault>();
    record.cost = in.one<double>();
    record.gradient = in.one<double>();
    record.seconds = in.one<double>();
    of.last.push_back(record);
  }
  fit_.set_freedom(freedom());
  return next_batch;
}

}  // namespace holdfast::xpcs_fit
