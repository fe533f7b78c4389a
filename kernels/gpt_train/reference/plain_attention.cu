// SPDX-License-Identifier: Apache-2.0
// A part of plain_model.cu: attention, a kernel per written operation: heads moved to the front,
// keys and values repeated, scores, mask and shares over the whole square. Arithmetic in f32, every
// result in bf16. Two numbers per thread, or eight if they are only moved.

// x, out: [n, heads, width], rows of T positions; cosines, sines: [T, width / 2]. direction: 1, or
// -1 to undo.
__global__ void rotate_heads(const Bf16* x, const Bf16* cosines, const Bf16* sines, long long pairs,
                             int columns, int heads, int width, float direction, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const int half = width / 2, j = static_cast<int>(k % (half / 2)) * 2;
  const long long head = k / (half / 2), angle = head / heads % columns * half + j;
  const plain::Pair c = plain::load(cosines + angle), s = plain::load(sines + angle);
  const Bf16* from = x + head * width + j;
  const plain::Pair first = plain::load(from), second = plain::load(from + half);
  Bf16* to = out + head * width + j;
  const float low = direction * s.low, high = direction * s.high;
  plain::store(to, first.low * c.low - second.low * low, first.high * c.high - second.high * high);
  plain::store(to + half, second.low * c.low + first.low * low,
               second.high * c.high + first.high * high);
}

// x: [B, T, heads, width]; out: [B, heads, repeats, T, width].
__global__ void heads_first(const Bf16* x, long long eights, int columns, int heads, int repeats,
                            int width, Bf16* out) {
  const long long k = plain::thread();
  if (k >= eights) return;
  const int chunks = width / 8;
  const long long chunk = k % chunks, t = k / chunks % columns, at = k / chunks / columns;
  const long long b = at / (heads * repeats), h = at % (heads * repeats) / repeats;
  const Bf16* from = x + ((b * columns + t) * heads + h) * width + 8 * chunk;
  reinterpret_cast<uint4*>(out)[k] = *reinterpret_cast<const uint4*>(from);
}

// The inverse: x [B, heads, repeats, T, width], with the repeats added up.
__global__ void heads_last(const Bf16* x, long long pairs, int columns, int heads, int repeats,
                           int width, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const int chunks = width / 2;
  const long long j = k % chunks * 2, at = k / chunks;
  const long long h = at % heads, t = at / heads % columns, b = at / heads / columns;
  plain::Pair sum = {};
  for (int r = 0; r < repeats; ++r) {
    const plain::Pair one =
        plain::load(x + (((b * heads + h) * repeats + r) * columns + t) * width + j);
    sum.low += one.low;
    sum.high += one.high;
  }
  plain::store(out + 2 * k, sum.low, sum.high);
}

__global__ void scale_queries(const Bf16* x, long long pairs, float factor, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const plain::Pair one = plain::load(x + 2 * k);
  plain::store(out + 2 * k, factor * one.low, factor * one.high);
}

// scores, out: [B, heads, T, T]; segments: [B, T].
__global__ void mask_scores(const Bf16* scores, const int* segments, long long pairs, int heads,
                            int columns, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const int e = static_cast<int>(2 * k % columns);
  const long long row = 2 * k / columns, t = row % columns, of = row / columns / heads * columns;
  const plain::Pair one = plain::load(scores + 2 * k);
  const int own = segments[of + t];
  const float hidden = -__int_as_float(0x7f800000);
  plain::store(out + 2 * k, e <= t && segments[of + e] == own ? one.low : hidden,
               e + 1 <= t && segments[of + e + 1] == own ? one.high : hidden);
}

// One block per row of T numbers.
__global__ void softmax_rows(const Bf16* x, int columns, Bf16* out) {
  const long long row = static_cast<long long>(blockIdx.x) * columns;
  const int first = 2 * threadIdx.x, step = 2 * plain::row_threads;
  float most = -__int_as_float(0x7f800000), sum = 0;
  for (int j = first; j < columns; j += step) {
    const plain::Pair one = plain::load(x + row + j);
    most = fmaxf(most, fmaxf(one.low, one.high));
  }
  most = plain::highest_of_row(most);
  for (int j = first; j < columns; j += step) {
    const plain::Pair one = plain::load(x + row + j);
    sum += __expf(one.low - most) + __expf(one.high - most);
  }
  sum = plain::sum_of_row(sum);
  for (int j = first; j < columns; j += step) {
    const plain::Pair one = plain::load(x + row + j);
    plain::store(out + row + j, __expf(one.low - most) / sum, __expf(one.high - most) / sum);
  }
}

// out = p (dp - sum p dp), one block per row of T numbers.
__global__ void softmax_slopes(const Bf16* p, const Bf16* dp, int columns, Bf16* out) {
  const long long row = static_cast<long long>(blockIdx.x) * columns;
  const int first = 2 * threadIdx.x, step = 2 * plain::row_threads;
  float sum = 0;
  for (int j = first; j < columns; j += step) {
    const plain::Pair share = plain::load(p + row + j), slope = plain::load(dp + row + j);
    sum += share.low * slope.low + share.high * slope.high;
  }
  sum = plain::sum_of_row(sum);
  for (int j = first; j < columns; j += step) {
    const plain::Pair share = plain::load(p + row + j), slope = plain::load(dp + row + j);
    plain::store(out + row + j, share.low * (slope.low - sum), share.high * (slope.high - sum));
  }
}
