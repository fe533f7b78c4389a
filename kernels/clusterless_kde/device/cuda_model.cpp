// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/device/cuda_model.hpp"

#include <cmath>
#include <type_traits>

#include "runtime/count/scope.hpp"

namespace holdfast::clusterless_kde {
namespace {

template <class T>
Nodes nodes_for(const Shape& shape, const Plan& plan) {
  return nodes_of(shape, plan.path, holdfast::precision_of<T>);
}

std::size_t psi_quads(const Shape& shape, int nodes) {
  return static_cast<std::size_t>(EncodingLayout(shape).groups() * nodes) * 4;
}
std::size_t phi_quads(const Shape& shape, int nodes) {
  return static_cast<std::size_t>(shape.bins * nodes) / 4;
}

Columns columns_of(const Plan& plan) {
  if (plan.path == Path::dense) return at_places;
  return plan.options.values == Values::stored ? at_stored_nodes : at_nodes;
}

Totals totals_of(const Plan& plan) {
  return plan.path == Path::two_hop ? Totals::electrodes : Totals::none;
}

std::int64_t column_count(const Shape& shape, const Plan& plan) {
  return plan.path == Path::two_hop ? plan.node_count : shape.bins;
}

}  // namespace

Arithmetic device_arithmetic(const Plan& plan) {
  if (plan.range_fallback) return Arithmetic::f64;
  return plan.options.arithmetic == Arithmetic::f32 ? Arithmetic::bf16x3 : plan.options.arithmetic;
}

template <class T, class V>
CudaModel<T, V>::CudaModel(Backend& backend, const Shape& shape, const Plan& plan)
    : bins_(static_cast<std::size_t>(shape.bins)),
      spikes_(backend, shape, nodes_for<T>(shape, plan), plan.options.cut, plan.electrode_batches),
      beta_and_ground_(backend, whole_units<T>(2 * bins_), "beta and ground") {
  if (plan.path == Path::dense) return;
  const int count = plan.node_count;
  phi_.emplace(backend, whole_units<Quad<V>>(phi_quads(shape, count)), "phi");
  if (plan.options.values == Values::stored)
    psi_.emplace(backend, whole_units<Quad<V>>(psi_quads(shape, count)), "psi");
}

template <class T, class V>
std::int64_t CudaModel<T, V>::bytes(const Shape& shape, const Plan& plan) {
  std::size_t bytes = rounded_up(2 * static_cast<std::size_t>(shape.bins) * sizeof(T));
  if (plan.path == Path::two_hop) {
    bytes += rounded_up(phi_quads(shape, plan.node_count) * sizeof(Quad<V>));
    if (plan.options.values == Values::stored)
      bytes += rounded_up(psi_quads(shape, plan.node_count) * sizeof(Quad<V>));
  }
  return static_cast<std::int64_t>(bytes) +
         EncodingSpikes<T>::bytes(shape, plan.options.cut, plan.electrode_batches);
}

template <class T, class V>
struct CudaEncoder<T, V>::Kernels : ModelKernels<T, V> {
  using ModelKernels<T, V>::ModelKernels;
};

template <class T, class V>
CudaEncoder<T, V>::CudaEncoder(Backend& backend, const Shape& shape, const Plan& plan)
    : shape_(shape),
      columns_(backend, shape, column_count(shape, plan), totals_of(plan), plan.electrode_batches),
      kernels_(std::make_unique<Kernels>(*backend.compiler, shape.dimensions, columns_of(plan))) {}
template <class T, class V>
CudaEncoder<T, V>::~CudaEncoder() = default;

template <class T, class V>
std::int64_t CudaEncoder<T, V>::bytes(const Shape& shape, const Plan& plan) {
  return ColumnSums<T>::bytes(shape, column_count(shape, plan), totals_of(plan));
}

template <class T, class V>
void CudaEncoder<T, V>::encode(const Input& input, CudaModel<T, V>& model) {
  {
    const Scope scope("prepare encoding");
    model.spikes_.prepare(input);
    columns_.upload(input, model.spikes_);
  }
  const NodeGrid<T>& grid = model.nodes();
  const int electrodes = shape_.electrodes, bins = static_cast<int>(shape_.bins);
  for (int batch = 0; batch < model.layout().batches(); ++batch) {
    const Scope scope("column_sums");
    model.load(batch);
    const auto [tiles, partial, count] = columns_.tiles(batch);
    if (count == 0) continue;
    kernels_->column_sums(column_tiles(count, columns_.columns()), model.positions(),
                          columns_.samples(), tiles, electrodes, model.places(), grid.spacing,
                          columns_.columns(), model.psi_ ? model.psi_->data() : nullptr, partial);
  }
  if (grid.count > 0) {
    const Scope scope("group_sums");
    (*kernels_->group_sums)(column_lanes(grid.count, electrodes + 1), columns_.partial(),
                            columns_.tile_begin(), grid.count, columns_.sums());
  }
  const Scope scope("finish");
  T* beta = model.beta_and_ground_.data();
  kernels_->finish(column_lanes(bins, 1), grid.count > 0 ? columns_.sums() : columns_.partial(),
                   columns_.tile_begin(), model.places(), electrodes, bins, grid.count,
                   grid.spacing, grid.weight, log_mark_norm(input),
                   model.phi_ ? model.phi_->data() : nullptr, beta, beta + bins);
}

template <class T, class V>
std::vector<double> CudaModel<T, V>::densities(const Input& input) const {
  double scale = 1 / static_cast<double>(input.samples());
  for (const double sigma : input.position_bandwidth) scale /= sigma * sqrt_two_pi;
  const double norm = log_mark_norm(input);
  const std::vector<T> values = beta_and_ground_.to_host();
  std::vector<double> result(2 * bins_);
  for (std::size_t p = 0; p < bins_; ++p) {
    const double beta = values[p];
    result[p] = std::isinf(beta) ? 0 : scale * std::exp(norm - beta);
    result[bins_ + p] = values[bins_ + p];
  }
  return result;
}

#define HOLDFAST_INSTANTIATE(T, V) \
  template class CudaModel<T, V>;  \
  template class CudaEncoder<T, V>;
HOLDFAST_INSTANTIATE(float, SplitBf16)
HOLDFAST_INSTANTIATE(float, Tf32)
HOLDFAST_INSTANTIATE(float, float)
HOLDFAST_INSTANTIATE(double, double)
#undef HOLDFAST_INSTANTIATE

}  // namespace holdfast::clusterless_kde
