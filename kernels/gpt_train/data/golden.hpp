// SPDX-License-Identifier: Apache-2.0
// Published values, which a vectorised program and one of scalar loops both found, in f64.
#pragma once

#include "gpt_train/problem/options.hpp"

namespace holdfast::gpt_train::golden {

// micro with documents, three tokens of padding at the end of step 0.
inline constexpr Options micro = {
    .shape = shape_of(Model::micro), .documents = true, .pad_tail = 3, .precision = Precision::f64};

inline constexpr double micro_mean = 9.920412302448009, micro_deviation = 8.373928453071757,
                        micro_objective = 38.421591634892316,
                        micro_gradient_norm = 35.4301314661297;

// After three updates with rate 0.005 and w0 0.5: losses at steps 1, 2 and 3, and the state.
struct ThreeUpdates {
  Optimizer optimizer = {};
  double losses[3] = {};
  double first_query = 0;                                                 // Wq.0[0,0]
  double key_norm = 0, down_norm = 0, head_norm = 0, embedding_norm = 0;  // Wk.1, Wd.0, W_head, E
};
inline constexpr ThreeUpdates micro_updates[] = {
    {Optimizer::adamw,
     {9.28473068111711, 8.902380920140656, 6.576315771450986},
     0.25889073576800264,
     4.031683116191475,
     1.9889160318945023,
     28.887863657296002,
     30.563825565567722},
    {Optimizer::muon,
     {9.295022930275811, 8.909969952972718, 6.61523002049457},
     0.25722143944535053,
     4.032098297399761,
     1.9881355103023814,
     28.88672630839102,
     30.563809992175383},
    {Optimizer::multiscale,
     {9.29642390892013, 8.913010560203686, 6.6259561632945205},
     0.25733643470280904,
     4.03196638110573,
     1.9882360850123943,
     28.886535596306878,
     30.563801404338278},
};
inline constexpr double micro_final_norm = 4.152220083751391;  // of g_final, in all

// tiny: mean loss and gradient norm at steps 0, 1, 2, mean loss at 3, and the state after them.
struct TinyUpdates {
  bool documents = false;
  Optimizer optimizer = {};
  double losses[4] = {};
  double gradient_norms[3] = {};
  double first_query = 0;
  double key_norm = 0, down_norm = 0, head_norm = 0, embedding_norm = 0, final_norm = 0;
};
inline constexpr TinyUpdates tiny_updates[] = {
    {false,
     Optimizer::adamw,
     {12.7716496646532, 12.0053665334516, 11.5061475024912, 10.8327971915663},
     {82.6515421404, 84.636059015, 80.9254844845},
     0.0903991900727892,
     7.959847261087,
     5.657331314011,
     123.4478897395,
     362.2653447805,
     11.5733574242},
    {false,
     Optimizer::muon,
     {12.7716496646532, 12.1173961829046, 11.7389619442735, 11.1518358585897},
     {82.6515421404, 84.504550417, 81.8797821896},
     0.0911424224384629,
     7.958937903627,
     5.652907585616,
     123.443098526,
     362.2666626313,
     11.5733574242},
    {false,
     Optimizer::multiscale,
     {12.7716496646532, 12.1199928897593, 11.7456482476428, 11.1616058268034},
     {82.6515421404, 84.4994517125, 81.8807474089},
     0.0912039770574541,
     7.958935226175,
     5.65285623653,
     123.4429734395,
     362.2665932511,
     11.5733574242},
    {true,
     Optimizer::adamw,
     {12.7255167330016, 12.1171935615099, 11.5686355496452, 11.0245119927159},
     {84.4084612417, 85.5068378273, 81.2633158469},
     0.0923841423972357,
     7.960058136057,
     5.658102415716,
     123.4156402896,
     362.2668458999,
     11.5733982421},
    {true,
     Optimizer::muon,
     {12.7255167330016, 12.2180757838131, 11.7983707256941, 11.3211867433609},
     {84.4084612417, 85.4244474444, 82.0954847984},
     0.0914752297034309,
     7.959002209793,
     5.652950265661,
     123.4102083918,
     362.2679749962,
     11.5733982421},
    {true,
     Optimizer::multiscale,
     {12.7255167330016, 12.2204595794047, 11.8050756069983, 11.3301594172749},
     {84.4084612417, 85.4206146074, 82.0952546163},
     0.0914708140993341,
     7.958973806399,
     5.652889891665,
     123.4100738825,
     362.2680333774,
     11.5733982421},
};

// tiny's objective at step 0, without documents and with them.
inline constexpr double tiny_objectives[] = {203.54660137124702, 200.40163791304764};

// Step 0 of larger shapes. Norms of the gradients of E, W_head, g_final, Wq.0, Wk.0, Wo.0, both of
// Wf.0, Wd.0. 0: not published, for results computed in f32.
struct Large {
  Model model = {};
  bool documents = false;
  double mean = 0, objective = 0, gradient_norm = 0;
  double norms[8] = {};
};
inline constexpr Large large[] = {
    {Model::small,
     true,
     14.4606451579611,
     458.427540268237,
     160.564406317535,
     {4.626207288, 16.54014651, 12.87051993, 6.411845836, 6.475560799, 27.15278011, 21.08836076,
      78.05439786}},
    {Model::llama3_150m,
     false,
     16.1278635037268,
     729.150679600764,
     430.045109993392,
     {4.51145605, 32.97429984, 9.563216525, 4.84757341, 4.869034716, 26.83257189, 30.46245794,
      159.3553943}},
    {Model::llama3_150m,
     true,
     16.1022758442755,
     726.210855399924,
     434.648723402338,
     {4.526985309, 32.90129457, 9.512810914, 6.672495374, 6.682448628, 39.24493019, 30.4987517,
      159.5154942}},
    {Model::gpt2_124m, false, 16.13547656, 2064.332286, 0, {}},
};
inline constexpr const Large& small = large[0];

}  // namespace holdfast::gpt_train::golden
