// SPDX-License-Identifier: Apache-2.0
// Attention backward, a part of attention.cu: recomputes shares from the logarithms of their sums.

// Queries or keys whose scores a thread holds at once, limited by its registers.
template <int head>
constexpr int scores_at_once = head == 128 ? 16 : 32;

// Computes d.q from d_o, and for attend_back_keys whole = o . d_o of each query and head: [B,
// heads, T]. Blocks as in attend.
template <int head>
__global__ void __launch_bounds__(gpt::attention_block)
    attend_back_queries(gpt::AttentionForm form, gpt::Heads<const Bf16> in, const Bf16* o,
                        const Bf16* d_o, const float* log_sums, float* whole, gpt::Heads<Bf16> d) {
  const int tiles = gridDim.x, own = tiles - 1 - blockIdx.x, h = blockIdx.y;
  const gpt::Place at = gpt::place_of(form, own, h, tiles);
  const int T = form.columns;
  const long long group = at.row * in.pitch + h / form.repeats * head;
  const gpt::Held held;
  const gpt::TilePair<head> seen = {in.k + group, in.v + group, in.pitch, in.pitch, T};
  const Bf16* out = o + at.row * form.out_pitch + h * head;
  const gpt::TilePair<head> mine = {in.q + at.row * in.pitch + h * head,
                                    d_o + at.row * form.out_pitch + h * head, in.pitch,
                                    form.out_pitch, T};
  mine(gpt::own_stage, own);
  int segments[2];
  gpt::own_segments(segments, at, held, T);

  gpt::Rows<head> q, slope;  // slope: of the loss by o
  float sums[head / 8][4] = {}, log_sum[2], dot[2] = {};
  constexpr int part = scores_at_once<head>;
  const float scale = form.scale * gpt::log2_of_e;
  gpt::stream<head>(
      gpt::keys_of(at.ranges, own), seen,
      [&](int tile) {
        const int key = min(tile * gpt::attention_tile + static_cast<int>(threadIdx.x), T - 1);
        return gpt::RowNumbers{at.segments[key], 0, 0};
      },
      [&] {
        q.take(gpt::tile_of<head>(gpt::own_stage, 0));
        slope.take(gpt::tile_of<head>(gpt::own_stage, 1));
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = min(at.first + held.row + 8 * half, T - 1);
          log_sum[half] = log_sums[at.numbers + row] * gpt::log2_of_e;
          const Bf16* of_row = out + static_cast<long long>(row) * form.out_pitch + held.column;
#pragma unroll
          for (int j = 0; j < head / 8; ++j) {
            const unsigned y = *reinterpret_cast<const unsigned*>(of_row + 8 * j);
            const unsigned x = slope.part[j / 2][2 * (j % 2) + half];
            dot[half] += holdfast::bf16_low(x) * holdfast::bf16_low(y) +
                         holdfast::bf16_high(x) * holdfast::bf16_high(y);
          }
          dot[half] = gpt::sum_of_row(dot[half]);
          if (held.column == 0 && at.first + held.row + 8 * half < T)
            whole[at.numbers + row] = dot[half];
        }
      },
      [&](int stage, int tile) {
        const uint4* keys = gpt::tile_of<head>(stage, 0);
        const uint4* values = gpt::tile_of<head>(stage, 1);
        const bool hidden = tile == own || !gpt::all_see(at.ranges[tile], at.ranges[own]);
#pragma unroll 1
        for (int key = 0; key < gpt::attention_tile; key += part) {
          float scores[part / 8][4] = {}, slopes[part / 8][4] = {};
          gpt::add_scores(scores, q, keys, key);
          gpt::add_scores(slopes, slope, values, key);
          if (hidden)
            gpt::hide_keys(scores, held, at.first, tile * gpt::attention_tile, key, segments,
                           gpt::numbers_of<head>(stage));
#pragma unroll
          for (int j = 0; j < part / 8; ++j)
#pragma unroll
            for (int i = 0; i < 4; ++i)
              slopes[j][i] = holdfast::exp2_approximate(scores[j][i] * scale - log_sum[i / 2]) *
                             (slopes[j][i] - dot[i / 2]);
#pragma unroll
          for (int j = 0; j < part / 8; j += 2) {
            unsigned shares[4];
            gpt::as_operand(shares, slopes[j], slopes[j + 1]);
            gpt::add_rows<head>(sums, shares, keys, key + 8 * j);
          }
        }
      });
  gpt::put_rows<head>(d.q + at.row * d.pitch + h * head, d.pitch, at.first, T, held, sums,
                      form.scale, form.scale);
}

// Computes d.k and d.v: sums over the queries of all heads of a group, head by head. One block per
// tile of keys, group and row of the batch, the longest first. A warp holds 16 keys.
template <int head>
__global__ void __launch_bounds__(gpt::attention_block)
    attend_back_keys(gpt::AttentionForm form, gpt::Heads<const Bf16> in, const Bf16* d_o,
                     const float* log_sums, const float* whole, gpt::Heads<Bf16> d) {
  const int tiles = gridDim.x, own = blockIdx.x, group = blockIdx.y;
  const int T = form.columns, first_head = group * form.repeats;
  const gpt::Place at = gpt::place_of(form, own, first_head, tiles);
  const gpt::Held held;
  const long long of_group = at.row * in.pitch + group * head;
  const gpt::TilePair<head> mine = {in.k + of_group, in.v + of_group, in.pitch, in.pitch, T};
  mine(gpt::own_stage, own);
  int segments[2];
  gpt::own_segments(segments, at, held, T);

  gpt::Rows<head, head <= 64> k, v;
  float d_k[head / 8][4] = {}, d_v[head / 8][4] = {};
  constexpr int part = scores_at_once<head>;
  const float scale = form.scale * gpt::log2_of_e;
  for (int r = 0; r < form.repeats; ++r) {
    const int h = first_head + r;
    const long long numbers = at.numbers + static_cast<long long>(r) * T;
    const gpt::TilePair<head> seen = {in.q + at.row * in.pitch + h * head,
                                      d_o + at.row * form.out_pitch + h * head, in.pitch,
                                      form.out_pitch, T};
    gpt::stream<head>(
        gpt::queries_of(at.ranges, own, tiles), seen,
        [&](int tile) {
          const int query = min(tile * gpt::attention_tile + static_cast<int>(threadIdx.x), T - 1);
          return gpt::RowNumbers{at.segments[query], log_sums[numbers + query] * gpt::log2_of_e,
                                 whole[numbers + query]};
        },
        [&] {
          k.take(gpt::tile_of<head>(gpt::own_stage, 0));
          v.take(gpt::tile_of<head>(gpt::own_stage, 1));
        },
        [&](int stage, int tile) {
          const uint4* queries = gpt::tile_of<head>(stage, 0);
          const uint4* slopes_of = gpt::tile_of<head>(stage, 1);
          const gpt::RowNumbers* rows = gpt::numbers_of<head>(stage);
          const bool hidden = tile == own || (tile + 1) * gpt::attention_tile > T ||
                              !gpt::all_see(at.ranges[tile], at.ranges[own]);
#pragma unroll 1
          for (int query = 0; query < gpt::attention_tile; query += part) {
            float shares[part / 8][4] = {}, slopes[part / 8][4] = {};
            gpt::add_scores(shares, k, queries, query);
            gpt::add_scores(slopes, v, slopes_of, query);
            if (hidden)
              gpt::hide_queries(shares, held, at.first, tile * gpt::attention_tile, query, segments,
                                rows, T);
#pragma unroll
            for (int j = 0; j < part / 8; ++j)
#pragma unroll
              for (int i = 0; i < 4; ++i) {
                const gpt::RowNumbers row = rows[query + 8 * j + held.column + i % 2];
                shares[j][i] = holdfast::exp2_approximate(shares[j][i] * scale - row.log_sum);
                slopes[j][i] = shares[j][i] * (slopes[j][i] - row.whole);
              }
#pragma unroll
            for (int j = 0; j < part / 8; j += 2) {
              unsigned operand[4];
              gpt::as_operand(operand, shares[j], shares[j + 1]);
              gpt::add_rows<head>(d_v, operand, slopes_of, query + 8 * j);
              gpt::as_operand(operand, slopes[j], slopes[j + 1]);
              gpt::add_rows<head>(d_k, operand, queries, query + 8 * j);
            }
          }
        });
    __syncthreads();  // before the next head's tiles are copied
  }
  const long long to = at.row * d.pitch + group * head;
  gpt::put_rows<head>(d.k + to, d.pitch, at.first, T, held, d_k, form.scale, form.scale);
  gpt::put_rows<head>(d.v + to, d.pitch, at.first, T, held, d_v, 1, 1);
}
