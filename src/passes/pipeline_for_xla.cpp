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
         "first, because the compiler that reads the program forms its kernels anew"},
        {"forget-plans", forget_plans, Numerics::kExact,
         "early, because converters refuse copies with equal layouts, and rules look for loop-carried values that "
         "don't change"},
        {"spell-bitcasts", spell_bitcasts, Numerics::kExact,
         "early, because only compiled programs may contain bitcasts"},
        {"ignore-placements", ignore_inert_placements, Numerics::kExact,
         "before simplifications, which leave values with a sharding of their own alone; after bitcasts, because "
         "layouts don't matter then"},
    };
    all.insert(all.end(), pipeline().begin(), pipeline().end());
    const std::vector<Pass> own = {
        {"separate-bodies", separate_bodies, Numerics::kExact,
         "after calls are inlined, which leaves several loops with one body; before all passes that change a loop's "
         "body"},
        {"fold-transposes", fold_transposes, Numerics::kExact,
         "before rules and streaming look at products, because a transposition hides the operand"},
        {"unroll-elementwise-loops", unroll_elementwise_loops, Numerics::kExact,
         "before streaming, because random bits that a loop makes are stored whole; written out, a stream makes them "
         "in tiles"},
        {"fold-tuples", fold_tuples, Numerics::kExact, "after unrolling, which leaves tuples between the iterations"},
        {"fold-constants", fold_constants, Numerics::kExact,
         "after unrolling, which turns loop counters into constants"},
        {"share-common-subexpressions", share_common_subexpressions, Numerics::kExact,
         "after unrolling, because the iterations compute the same round keys"},
        {"decide-predicates", decide_predicates, Numerics::kExact,
         "for masks of equal segments, because XLA computes and stores a mask that is true everywhere"},
        {"slice-known-gathers", slice_known_gathers, Numerics::kExact,
         "after constants are folded, which gives the indices; before streaming, which follows slices"},
        {"update-known-scatters", update_known_scatters, Numerics::kExact,
         "before streaming, because XLA:CPU stores what a scatter adds as an array of its own"},
        {"batch-counted-indices", batch_counted_indices, Numerics::kExact,
         "before streaming, which follows batch dimensions"},
        {"split-merged-dimensions", split_merged_dimensions, Numerics::kExact,
         "after indices that only count became batch dimensions, which it can follow; before streaming"},
        {"narrow-stacks", narrow_stacks_of_accelerators, Numerics::kExact,
         "before values are recomputed, because what is stored in a narrow type is read in it"},
        {"multiply-outer-products", multiply_outer_products, Numerics::kValueExact,
         "because XLA stores the operands of a dot that sums nothing, and fuses a multiplication"},
        {"sink-hoisted-values", sink_hoisted_values, Numerics::kExact,
         "because XLA stores masks and biases that a loop reads whole; keep-in-loops keeps them in the loop"},
        {"recompute-stacks", recompute_cheap_stacks, Numerics::kExact, "because XLA stores whatever a scan saves"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "after values were sunk, recomputed or narrowed, which leaves loop-carried values without readers"},
        {"gather-one-hot-products", gather_one_hot_products, Numerics::kValueExact,
         "because XLA stores one-hot operands of dots"},
        {"scatter-one-hot-gradients", scatter_one_hot_gradients, Numerics::kReassociated,
         "because XLA stores the one-hot operands of their gradients, too"},
        {"widen-scatters", widen_scatters, Numerics::kExact,
         "because XLA stores the sums in the narrow type next to the wide result"},
        {"accumulate-where-it-lies", accumulate_where_it_lies, Numerics::kReassociated,
         "because XLA writes a part into an array of zeros before it adds it", Numerics::kValueExact},
        {"write-over-consumed-stacks", write_over_consumed_stacks, Numerics::kExact,
         "because XLA keeps both the stack that a loop reads and the one that it makes"},
        {"update-where-it-lies", update_where_it_lies, Numerics::kExact, "because XLA copies slices to update them"},
        {kDecidedStreams, [](Module&) -> Result<PassResult> { return PassResult{}; }, Numerics::kReassociated,
         "the streams that the search decided, each a loop", Numerics::kExact},
        // The remaining passes only express the decisions in plain HLO, so that XLA doesn't undo them.
        {"write-over-consumed-stacks", write_over_consumed_stacks, Numerics::kExact,
         "again, because streams read their operands slice by slice for the last time"},
        {"sink-hoisted-values", sink_hoisted_values, Numerics::kExact,
         "again, because a value that a stream reads whole may be computed in it instead"},
        {"write-around", write_around, Numerics::kExact,
         "after streaming, which follows concatenations; before slices of slices are folded"},
        {"slice-operands", slice_operands, Numerics::kExact,
         "after sinking, because in each iteration XLA would compute and store the whole value of which a slice is "
         "read"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "after streaming, which leaves the original operations without readers"},
        {"order-convolutions", order_convolutions, Numerics::kExact,
         "after streaming, which makes loops: XLA:CPU puts only the entry's convolutions into the order of dimensions "
         "that it needs"},
        {"flatten-products", flatten_products, Numerics::kExact,
         "after streaming, which makes loops: in these, XLA's GPU compiler fails on products of matrices in other "
         "orders"},
        {"hold-recomputed", hold_recomputed, Numerics::kExact,
         "after the last pass that shares values: it keeps XLA from sharing recomputed ones"},
        {"keep-in-loops", keep_in_loops, Numerics::kExact,
         "after all passes that move values into loops: it keeps XLA from hoisting them"},
        {"read-before-updates", read_before_updates, Numerics::kExact,
         "after the last slices were made: XLA copies an array that is updated in place if a reader isn't ordered "
         "before"},
        {"store-updates", store_updates, Numerics::kExact,
         "after read-before-updates, whose barriers already hold small slices"},
        {"state-layouts", state_layouts, Numerics::kExact, "after all passes that make slices or barriers"},
        {"state-trip-counts", state_trip_counts, Numerics::kExact, "after the last change to loops"},
        {"spell-barriers", spell_barriers, Numerics::kExact, "after all passes that add barriers"},
        {"name-origins", name_origins, Numerics::kExact,
         "last, so that every new operation gets the name of the one that it replaces"},
    };
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }();
  return kPipeline;
}

}  // namespace lowtide::engine
