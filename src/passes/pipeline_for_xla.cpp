#include "passes/canonicalise/fold_constants.h"
#include "passes/canonicalise/fold_tuples.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/canonicalise/share_common_subexpressions.h"
#include "passes/execute/expand_fusions.h"
#include "passes/execute/fold_transposes.h"
#include "passes/execute/forget_plans.h"
#include "passes/execute/ignore_placements.h"
#include "passes/execute/separate_bodies.h"
#include "passes/execute/spell_bitcasts.h"
#include "passes/execute/unroll_elementwise_loops.h"
#include "passes/in_place/accumulate_where_it_lies.h"
#include "passes/in_place/update_where_it_lies.h"
#include "passes/in_place/write_over_consumed_stacks.h"
#include "passes/pass.h"
#include "passes/recompute/recompute_stacks.h"
#include "passes/rules/batch_counted_indices.h"
#include "passes/rules/decide_predicates.h"
#include "passes/rules/gather_one_hot_products.h"
#include "passes/rules/multiply_outer_products.h"
#include "passes/rules/narrow_stacks.h"
#include "passes/rules/scatter_one_hot_gradients.h"
#include "passes/rules/sink_hoisted_values.h"
#include "passes/rules/slice_known_gathers.h"
#include "passes/rules/slice_operands.h"
#include "passes/rules/split_merged_dimensions.h"
#include "passes/rules/update_known_scatters.h"
#include "passes/rules/widen_scatters.h"
#include "passes/xla/flatten_products.h"
#include "passes/xla/hold_recomputed.h"
#include "passes/xla/keep_in_loops.h"
#include "passes/xla/name_origins.h"
#include "passes/xla/order_convolutions.h"
#include "passes/xla/read_before_updates.h"
#include "passes/xla/spell_barriers.h"
#include "passes/xla/state_layouts.h"
#include "passes/xla/state_trip_counts.h"
#include "passes/xla/store_updates.h"
#include "passes/xla/write_around.h"

namespace lowtide::engine {
namespace {

/// XLA:CPU computes with f32, and converts a whole stack of bf16 for each slice that is written to it.
Result<PassResult> narrow_stacks_of_accelerators(Module& module, const Target& target) {
  return target.xla_backend() == XlaBackend::kCpu ? PassResult() : narrow_stacks(module);
}

}  // namespace

const std::vector<Pass>& pipeline_for_xla() {
  static const std::vector<Pass> kPipeline = [] {
    std::vector<Pass> all = {
        {"expand-fusions", expand_fusions, Numerics::kExact,
         "first: a scheduled program's kernels are formed anew by the compiler that reads this"},
        {"forget-plans", forget_plans, Numerics::kExact,
         "converters refuse copies of the same layout, and rules look for carries that don't change"},
        {"spell-bitcasts", spell_bitcasts, Numerics::kExact, "only compiled programs may say bitcast"},
        {"ignore-placements", ignore_inert_placements, Numerics::kExact,
         "before the canonical form, which keeps away from values that are placed differently; after bitcasts are "
         "spelt: no layout matters then"},
    };
    all.insert(all.end(), pipeline().begin(), pipeline().end());
    const std::vector<Pass> own = {
        {"separate-bodies", separate_bodies, Numerics::kExact,
         "after calls are inlined, which leaves their loops with one body; before everything that changes a loop"},
        {"fold-transposes", fold_transposes, Numerics::kExact,
         "before rules and streams look at products: a transposed operand is one that they don't see"},
        {"unroll-elementwise-loops", unroll_elementwise_loops, Numerics::kExact,
         "random bits as a loop keep all its words; written out, a stream makes them tile by tile"},
        {"fold-tuples", fold_tuples, Numerics::kExact, "unrolling leaves bundles between the trips"},
        {"fold-constants", fold_constants, Numerics::kExact, "what a loop counted is constant now"},
        {"share-common-subexpressions", share_common_subexpressions, Numerics::kExact,
         "trips of a loop compute the same round keys"},
        {"decide-predicates", decide_predicates, Numerics::kExact,
         "masks of equal segments: XLA computes and stores what is true everywhere"},
        {"slice-known-gathers", slice_known_gathers, Numerics::kExact,
         "before streams, which walk slices; constants are folded, and indices known"},
        {"update-known-scatters", update_known_scatters, Numerics::kExact,
         "before streams: XLA:CPU computes what a scatter writes beside the array"},
        {"batch-counted-indices", batch_counted_indices, Numerics::kExact,
         "before streams, which walk batch dimensions"},
        {"split-merged-dimensions", split_merged_dimensions, Numerics::kExact,
         "after indices that only count are batch dimensions, which correspond; before streams"},
        {"narrow-stacks", narrow_stacks_of_accelerators, Numerics::kExact,
         "before values are recomputed: what is stored narrow is read narrow"},
        {"multiply-outer-products", multiply_outer_products, Numerics::kValueExact,
         "XLA lays out operands of a dot with nothing to sum; elementwise it fuses"},
        {"sink-hoisted-values", sink_hoisted_values, Numerics::kExact,
         "masks and biases that a loop carries whole; kept there by keep-in-loops"},
        {"recompute-stacks", recompute_cheap_stacks, Numerics::kExact, "XLA keeps what a scan saves"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "elements of carries that were sunk, recomputed or cut"},
        {"gather-one-hot-products", gather_one_hot_products, Numerics::kValueExact,
         "XLA stores one-hot operands of dots"},
        {"scatter-one-hot-gradients", scatter_one_hot_gradients, Numerics::kReassociated,
         "the same for their gradients"},
        {"widen-scatters", widen_scatters, Numerics::kExact, "XLA stores the narrow sums beside the wide result"},
        {"accumulate-where-it-lies", accumulate_where_it_lies, Numerics::kReassociated,
         "XLA spreads a part over zeros before it adds it", Numerics::kValueExact},
        {"write-over-consumed-stacks", write_over_consumed_stacks, Numerics::kExact,
         "XLA carries both the stack a loop consumes and the one it makes"},
        {"update-where-it-lies", update_where_it_lies, Numerics::kExact, "and copies slices to update them"},
        {kDecidedStreams, [](Module&) -> Result<PassResult> { return PassResult{}; }, Numerics::kReassociated,
         "here stand the streams that the search decides, each a loop", Numerics::kExact},
        // The remaining passes only express the decisions in plain HLO, so that XLA doesn't undo them.
        {"write-over-consumed-stacks", write_over_consumed_stacks, Numerics::kExact,
         "again: what is streamed consumes its operand slice by slice"},
        {"sink-hoisted-values", sink_hoisted_values, Numerics::kExact,
         "again: what a stream reads whole need not stand beside it"},
        {"write-around", write_around, Numerics::kExact,
         "after streams, which walk concatenations; before slices of slices fold"},
        {"slice-operands", slice_operands, Numerics::kExact,
         "after sinking: of what is computed in a stream's loop XLA would compute and store all, in each iteration"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact, "what was streamed stands without readers"},
        {"order-convolutions", order_convolutions, Numerics::kExact,
         "after streams, which make loops: only the entry's convolutions are ordered by XLA:CPU itself"},
        {"flatten-products", flatten_products, Numerics::kExact,
         "after streams, which make loops: XLA's GPU compiler fails on what it would read across their order"},
        {"hold-recomputed", hold_recomputed, Numerics::kExact,
         "after the last pass that could merge values: XLA would merge what was recomputed, too"},
        {"keep-in-loops", keep_in_loops, Numerics::kExact,
         "after all that moves values into loops: XLA would take out what no trip changes"},
        {"read-before-updates", read_before_updates, Numerics::kExact,
         "after the loops' last slices: XLA copies what is updated in place if a reader isn't ordered"},
        {"store-updates", store_updates, Numerics::kExact, "after small slices passed barriers"},
        {"state-layouts", state_layouts, Numerics::kExact, "after all that takes slices or holds them"},
        {"state-trip-counts", state_trip_counts, Numerics::kExact, "loops have their last form"},
        {"spell-barriers", spell_barriers, Numerics::kExact, "after all that puts barriers"},
        {"name-origins", name_origins, Numerics::kExact, "last: whatever was made gets the name of what it stands for"},
    };
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }();
  return kPipeline;
}

}  // namespace lowtide::engine
