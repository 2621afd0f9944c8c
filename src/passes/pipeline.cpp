#include "passes/canonicalise/drop_annotations.h"
#include "passes/canonicalise/fold_constants.h"
#include "passes/canonicalise/fold_tuples.h"
#include "passes/canonicalise/inline_calls.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/canonicalise/remove_noop_casts.h"
#include "passes/canonicalise/remove_noop_copies.h"
#include "passes/canonicalise/share_common_subexpressions.h"
#include "passes/canonicalise/take_known_branches.h"
#include "passes/execute/expand_fusions.h"
#include "passes/execute/flatten_carries.h"
#include "passes/execute/fold_transposes.h"
#include "passes/execute/forget_plans.h"
#include "passes/execute/ignore_placements.h"
#include "passes/execute/open_manual_regions.h"
#include "passes/execute/read_convolutions_past_moves.h"
#include "passes/execute/separate_bodies.h"
#include "passes/execute/separate_fills.h"
#include "passes/execute/share_invariants.h"
#include "passes/execute/simplify_shared_bodies.h"
#include "passes/execute/sink_transposes.h"
#include "passes/execute/spell_batch_norms.h"
#include "passes/execute/spell_bitcasts.h"
#include "passes/execute/spell_factorisations.h"
#include "passes/execute/spell_host_moves.h"
#include "passes/execute/spell_iotas.h"
#include "passes/execute/spell_random_numbers.h"
#include "passes/execute/spell_scaled_products.h"
#include "passes/execute/split_long_products.h"
#include "passes/execute/split_long_reductions.h"
#include "passes/execute/split_long_scatters.h"
#include "passes/execute/thread_generator_state.h"
#include "passes/execute/unroll_elementwise_loops.h"
#include "passes/in_place/accumulate_where_it_lies.h"
#include "passes/in_place/add_products_where_they_lie.h"
#include "passes/in_place/fill_emptied_slots.h"
#include "passes/in_place/update_where_it_lies.h"
#include "passes/in_place/write_over_consumed_stacks.h"
#include "passes/pass.h"
#include "passes/recompute/offload.h"
#include "passes/recompute/recompute.h"
#include "passes/recompute/recompute_stacks.h"
#include "passes/recompute/save_every.h"
#include "passes/rules/batch_counted_indices.h"
#include "passes/rules/convolve_unrepeated.h"
#include "passes/rules/decide_predicates.h"
#include "passes/rules/gather_one_hot_products.h"
#include "passes/rules/hoist_loop_invariants.h"
#include "passes/rules/join_boxes.h"
#include "passes/rules/keep_rows_read_again.h"
#include "passes/rules/multiply_outer_products.h"
#include "passes/rules/narrow_carries.h"
#include "passes/rules/narrow_stacks.h"
#include "passes/rules/reduce_where_it_is_made.h"
#include "passes/rules/scatter_one_hot_gradients.h"
#include "passes/rules/select_single_places.h"
#include "passes/rules/sink_hoisted_values.h"
#include "passes/rules/slice_known_gathers.h"
#include "passes/rules/slice_operands.h"
#include "passes/rules/split_by_readers.h"
#include "passes/rules/split_concatenated_convolutions.h"
#include "passes/rules/split_merged_dimensions.h"
#include "passes/rules/update_known_scatters.h"
#include "passes/rules/update_where_it_is_made.h"
#include "passes/rules/widen_scatters.h"
#include "passes/stream/stream_slices.h"
#include "passes/windows/stream_windows.h"

namespace lowtide::engine {

const std::vector<Pass>& pipeline() {
  static const std::vector<Pass> kPipeline = {
      // Canonicalise: one form for each construct.
      {"inline-calls", inline_calls, Numerics::kExact,
       "first, because operations on the two sides of a call can't be seen together before"},
      {"take-known-branches", take_known_branches, Numerics::kExact,
       "after calls are inlined, since callers pass the branch index; before tuples are folded, since a branch takes a "
       "tuple"},
      // From here on no call remains, except those that bound a manually partitioned region.
      {"fold-tuples", fold_tuples, Numerics::kExact,
       "after inlining, which leaves tuples that are taken apart at once; the later passes look at values, not at "
       "tuples"},
      {"drop-annotations", drop_annotations, Numerics::kExact,
       "before casts and copies are removed, because an annotation between two of them hides that they cancel"},
      {"remove-noop-casts", remove_noop_casts, Numerics::kExact,
       "before copies are removed, because two reshapes meet when a cast between them is gone"},
      {"remove-noop-copies", remove_noop_copies, Numerics::kExact,
       "before constants are folded and values shared, since both compare operands, and a copy is a different operand"},
      {"fold-constants", fold_constants, Numerics::kExact,
       "before values are shared, because equal values may have been computed from different constants"},
      {"share-common-subexpressions", share_common_subexpressions, Numerics::kExact,
       "after all passes that make equal values look equal"},
      {"remove-dead-code", remove_dead_code, Numerics::kExact,
       "last, because the other passes only redirect readers: what has none left is removed here, also from the state "
       "of loops"},
      // From here on every instruction, and every element of a loop's carry, is needed.
  };
  return kPipeline;
}

const std::vector<Pass>& execution_pipeline() {
  static const std::vector<Pass> kPipeline = [] {
    std::vector<Pass> all = {
        {"expand-fusions", expand_fusions, Numerics::kExact,
         "first, because another compiler's fusions hide their operations; our kernels are formed later"},
        {"spell-random-numbers", spell_random_numbers, Numerics::kExact,
         "before thread-generator-state, because the written-out numbers draw from the generator's state"},
        {"thread-generator-state", thread_generator_state, Numerics::kExact,
         "before anything is inlined, removed or shared, because the numbers depend on the order of the draws in the "
         "text"},
        {"flatten-carries", flatten_carries, Numerics::kExact,
         "before all passes that look into loops; after the generator's state was added to what loops carry"},
        {"forget-plans", forget_plans, Numerics::kExact,
         "before all passes that look for loop-carried values that don't change, which copies and another compiler's "
         "notes hide"},
        {"spell-bitcasts", spell_bitcasts, Numerics::kExact,
         "before reshapes are merged, and before the rules that read them"},
        {"spell-iotas", spell_iotas, Numerics::kExact,
         "before values are shared and streamed, because indices then look the same however they were written"},
        {"spell-batch-norms", spell_batch_norms, Numerics::kReassociated,
         "before values are shared, because a batch norm and its gradient compute the same differences",
         Numerics::kExact},
        {"spell-scaled-products", spell_scaled_products, Numerics::kExact,
         "before everything that looks at products, since they are products like all others then"},
        {"spell-factorisations", spell_factorisations, Numerics::kExact,
         "before tuples are folded, because their results are tuples"},
        {"ignore-placements", ignore_placements, Numerics::kExact,
         "before simplifications, which leave values with a sharding of their own alone"},
        {"open-manual-regions", open_manual_regions, Numerics::kExact,
         "before calls are inlined, so that operations in a manual region are planned together with those around it"},
        {"simplify-shared-bodies", simplify_shared_bodies, Numerics::kExact,
         "before calls are inlined, because what is folded in a shared body isn't copied a thousand times then"},
    };
    all.insert(all.end(), pipeline().begin(), pipeline().end());
    const std::vector<Pass> own = {
        // Only for running here: from here on the module is prepared for regions and isn't passed on.
        {"separate-bodies", separate_bodies, Numerics::kExact,
         "after calls are inlined, which leaves several loops with one body; before all passes that change a loop's "
         "body"},
        {"spell-host-moves", spell_host_moves, Numerics::kExact,
         "after calls and tuples between a stack's slice and its move are gone; before passes that ask in which memory "
         "a stack is"},
        {"fold-transposes", fold_transposes, Numerics::kExact,
         "before rules and streaming look at products, because a transposition hides the operand"},
        {"read-convolutions-past-moves", read_convolutions_past_moves, Numerics::kExact,
         "next to products, for the same reason"},
        {"split-by-readers", split_by_readers, Numerics::kExact,
         "after transpositions are folded into products; before values are saved, recomputed or streamed, which can be "
         "done for a part alone"},
        {"unroll-elementwise-loops", unroll_elementwise_loops, Numerics::kExact,
         "after constants are folded, which gives the numbers of iterations; before they are folded again, which gives "
         "the rotations"},
        {"fold-tuples", fold_tuples, Numerics::kExact, "after unrolling, which leaves tuples between the iterations"},
        {"fold-constants", fold_constants, Numerics::kExact,
         "after unrolling, which turns loop counters into constants"},
        {"share-common-subexpressions", share_common_subexpressions, Numerics::kExact,
         "after unrolling, because the iterations compute the same round keys"},
        {"decide-predicates", decide_predicates, Numerics::kExact,
         "after constants are folded and equal values shared; before gathers, which bounds checks hide"},
        {"slice-known-gathers", slice_known_gathers, Numerics::kExact,
         "before boxes are joined, since it makes boxes; before one-hot products, whose gathers have indices that "
         "aren't known"},
        {"update-known-scatters", update_known_scatters, Numerics::kExact, "before boxes are joined, like gathers"},
        {"join-boxes", join_boxes, Numerics::kExact,
         "before values are sunk or recomputed, because joined moves read less"},
        {"keep-rows-read-again", keep_rows_read_again, Numerics::kExact,
         "after scatters of rows became updates, and wrapped indices were decided; before passes that look into loop "
         "bodies"},
        {"narrow-carries", narrow_carries, Numerics::kExact,
         "after boxes are joined, because equal moves look equal then; before passes that look into loop bodies"},
        {"narrow-stacks", narrow_stacks, Numerics::kExact,
         "next to loop-carried values; before values are recomputed, because what is stored in a narrow type is read "
         "in it"},
        {"reduce-where-it-is-made", reduce_where_it_is_made, Numerics::kReassociated,
         "before values are sunk or recomputed, because a stack that is gone needs neither; after stacks are narrowed",
         Numerics::kExact},
        {"multiply-outer-products", multiply_outer_products, Numerics::kValueExact,
         "before values are sunk or recomputed, because a multiplication is cheap to repeat and a dot is not"},
        {"split-concatenated-convolutions", split_concatenated_convolutions, Numerics::kReassociated,
         "before values are sunk, recomputed or streamed, because a concatenation that is no longer stored needs none "
         "of it",
         Numerics::kExact},
        {"convolve-unrepeated", convolve_unrepeated, Numerics::kReassociated,
         "after gathers and scatters of upsampling are repetitions and sums; before streaming, because the input is "
         "smaller then",
         Numerics::kExact},
        {"batch-counted-indices", batch_counted_indices, Numerics::kExact,
         "after constants are folded, which shows the indices that count; before streaming, which follows batch "
         "dimensions"},
        {"split-merged-dimensions", split_merged_dimensions, Numerics::kExact,
         "after indices that only count became batch dimensions, which it can follow; before streaming"},
        {"sink-hoisted-values", sink_hoisted_values, Numerics::kExact,
         "after random numbers are written out, since they are elementwise then; before passes that look into loop "
         "bodies"},
        {"recompute-stacks", recompute_cheap_stacks, Numerics::kExact,
         "after hoisted values were moved back into loops, because they are then part of what an iteration computes"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "after values were sunk, recomputed or narrowed, which leaves loop-carried values without readers"},
        {"gather-one-hot-products", gather_one_hot_products, Numerics::kValueExact,
         "after constants are folded, which decides masks; before streaming, because a gather needs no stream"},
        {"scatter-one-hot-gradients", scatter_one_hot_gradients, Numerics::kReassociated,
         "after gathers, because of two one-hot operands the contracted one is replaced first"},
        {"accumulate-where-it-lies", accumulate_where_it_lies, Numerics::kReassociated,
         "after products became scatters; before stacks are written over, because sums become updates of one of their "
         "operands",
         Numerics::kValueExact},
        {"select-single-places", select_single_places, Numerics::kExact,
         "after parts are added in place, because what remains is a single scatter; before streaming, which then "
         "follows its indices"},
        {"sink-transposes", sink_transposes, Numerics::kExact,
         "after scatters became elementwise selections; before streaming, because transpositions hide that dimensions "
         "correspond"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "after transpositions were moved, which leaves what was computed before without readers"},
        {"widen-scatters", widen_scatters, Numerics::kExact,
         "after scatters became elementwise selections, because the remaining ones are stored; before streaming"},
        {"write-over-consumed-stacks", write_over_consumed_stacks, Numerics::kExact,
         "before slices are updated in their stack, because the stack that is read and the one that is written become "
         "one"},
        {"update-where-it-lies", update_where_it_lies, Numerics::kExact,
         "before streaming, because a slice that is updated in its stack needs no memory of its own"},
        {"stream-windows", [](Module& m, const Target& target) { return stream_windows(m, target); }, Numerics::kExact,
         "before other streams, because all stages of a stencil should share one loop"},
        {"stream-slices", [](Module& m, const Target& target) { return stream_slices(m, target); },
         Numerics::kReassociated, "before reductions are split, because their parts would no longer share a dimension",
         Numerics::kExact},
        {"share-invariants", share_invariants, Numerics::kExact,
         "after streaming, because loops may then be given one value twice: as computed and as recomputed"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "after streaming, because the original operations, which nothing reads, still read values that only tiles "
         "need"},
        {"update-where-it-lies", update_where_it_lies, Numerics::kExact,
         "again, because streams update tiles of a stack's slices"},
        {"write-over-consumed-stacks", write_over_consumed_stacks, Numerics::kExact,
         "again, because streams read their operands slice by slice for the last time"},
        {"fill-emptied-slots", fill_emptied_slots, Numerics::kExact,
         "after streaming, which knows loops over whole stacks; after stacks of one shape were written over, which is "
         "simpler"},
        {"sink-hoisted-values", sink_hoisted_values, Numerics::kExact,
         "again, because a value that a stream reads whole may be computed in it instead"},
        {"slice-operands", slice_operands, Numerics::kExact,
         "after streaming, which leaves slices of values that it doesn't compute in tiles; after sinking, which looks "
         "for these"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "after operands are sliced, which leaves the whole values without readers"},
        {"add-products-where-they-lie", add_products_where_they_lie, Numerics::kReassociated,
         "after streaming, which makes sums over tiles, and knows only dots of two operands"},
        {"split-long-reductions", split_long_reductions, Numerics::kReassociated,
         "before regions are formed: a sum with few results becomes two, the first of which runs on all threads",
         Numerics::kExact},
        {"split-long-products", split_long_products, Numerics::kReassociated, "next to reductions, for the same reason",
         Numerics::kExact},
        {"split-long-scatters", split_long_scatters, Numerics::kReassociated,
         "next to reductions, for the same reason; after streaming, which divides scatters as well", Numerics::kExact},
        {"separate-fills", separate_fills, Numerics::kExact,
         "after the last pass that shares equal values, which would undo it"},
        {"separate-bodies", separate_bodies, Numerics::kExact,
         "again, because streams copy loops together with the bodies that these share"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "last, because unrolled and copied loops leave their bodies without callers"},
    };
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }();
  return kPipeline;
}

const std::vector<Pass>& decided_passes() {
  static const std::vector<Pass> kPasses = {
      {"recompute", [](Module& m, const Target& t) { return recompute(m, t, {t.cost().kept_byte_ns()}); },
       Numerics::kExact, "before streaming, which then includes the recomputed values"},
      {"hoist-loop-invariants", hoist_loop_invariants, Numerics::kExact,
       "after recompute, which decides for the program as it was; before streaming, which may keep hoisted values in "
       "tiles"},
      {"save-every",
       [](Module& m, const Target&) {
         const std::vector<Grouping> all = groupings(m);
         return all.empty() ? Result<PassResult>(PassResult()) : save_every(m, all.back());
       },
       Numerics::kExact, "after recompute, because what remains saved is what iterations begin with"},
      {"offload", [](Module& m, const Target&) { return offload(m, offloadable(m)); }, Numerics::kExact,
       "after recompute, because recomputed values need no room in the host's memory"},
      {"update-where-it-is-made", update_where_it_is_made, Numerics::kReassociated,
       "after values are chosen to be saved or recomputed, because these read the arrays as they are before loops "
       "update them",
       Numerics::kExact},
  };
  return kPasses;
}

}  // namespace lowtide::engine
