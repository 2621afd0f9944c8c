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
       "first: what stands on both sides of a call can't be seen together before"},
      {"take-known-branches", take_known_branches, Numerics::kExact,
       "after calls are inlined: callers pass what decides; before bundles are folded: a branch takes one"},
      // From here on no call remains, except those that bound a manually partitioned region.
      {"fold-tuples", fold_tuples, Numerics::kExact,
       "inlining leaves bundles that are taken apart at once; all that follows looks through values, not bundles"},
      {"drop-annotations", drop_annotations, Numerics::kExact,
       "before casts and copies: an annotation between two of them hides that they cancel"},
      {"remove-noop-casts", remove_noop_casts, Numerics::kExact,
       "before copies: a cast to the own type leaves reshapes that meet"},
      {"remove-noop-copies", remove_noop_copies, Numerics::kExact,
       "before constants and sharing: both compare operands, and a copy is another operand"},
      {"fold-constants", fold_constants, Numerics::kExact,
       "before sharing: equal values may have been spelt by different constants"},
      {"share-common-subexpressions", share_common_subexpressions, Numerics::kExact,
       "after everything that makes equal things look equal"},
      {"remove-dead-code", remove_dead_code, Numerics::kExact,
       "last: the others only redirect readers, and what lost its last one goes here, with the elements of loops that "
       "only fed it"},
      // From here on every instruction, and every element of a loop's carry, is needed.
  };
  return kPipeline;
}

const std::vector<Pass>& execution_pipeline() {
  static const std::vector<Pass> kPipeline = [] {
    std::vector<Pass> all = {
        {"expand-fusions", expand_fusions, Numerics::kExact,
         "first: another compiler's kernels hide their inside; ours are formed anew"},
        {"spell-random-numbers", spell_random_numbers, Numerics::kExact,
         "before the generator's state is threaded: it draws from it"},
        {"thread-generator-state", thread_generator_state, Numerics::kExact,
         "before anything is inlined, dropped or shared: what draws a number has its turn in the text"},
        {"flatten-carries", flatten_carries, Numerics::kExact,
         "before everything that looks into loops; after the generator's state, which is put beside what there was"},
        {"forget-plans", forget_plans, Numerics::kExact,
         "before everything that looks for carries that don't change: a copy hides them, a note keeps them"},
        {"spell-bitcasts", spell_bitcasts, Numerics::kExact,
         "before the canonical form, which merges reshapes, and before rules, which read them"},
        {"spell-iotas", spell_iotas, Numerics::kExact,
         "before values are shared and streamed: indices look the same then, however they were spelt"},
        {"spell-batch-norms", spell_batch_norms, Numerics::kReassociated,
         "before the canonical form: training and gradient make the same differences", Numerics::kExact},
        {"spell-scaled-products", spell_scaled_products, Numerics::kExact,
         "before the canonical form: then they are products like all others"},
        {"spell-factorisations", spell_factorisations, Numerics::kExact,
         "before the canonical form, which folds the bundles of their results"},
        {"ignore-placements", ignore_placements, Numerics::kExact,
         "before the canonical form, which keeps away from values that are placed differently"},
        {"open-manual-regions", open_manual_regions, Numerics::kExact,
         "before calls are inlined: what stands in a region is planned with what stands around it"},
        {"simplify-shared-bodies", simplify_shared_bodies, Numerics::kExact,
         "before calls are inlined: what is folded in a body is not copied a thousand times"},
    };
    all.insert(all.end(), pipeline().begin(), pipeline().end());
    const std::vector<Pass> own = {
        // Only for running here: from here on the module is prepared for regions and isn't passed on.
        {"separate-bodies", separate_bodies, Numerics::kExact,
         "after calls are inlined, which leaves their loops with one body; before everything that changes a loop, "
         "which can't change a body of several"},
        {"spell-host-moves", spell_host_moves, Numerics::kExact,
         "after calls are inlined and bundles folded, which stand between a stack's slice and its move; before what "
         "asks where a stack lies"},
        {"fold-transposes", fold_transposes, Numerics::kExact,
         "before rules and streaming look at products: a transposed operand is one that they don't see"},
        {"read-convolutions-past-moves", read_convolutions_past_moves, Numerics::kExact,
         "beside products, for the same reason"},
        {"split-by-readers", split_by_readers, Numerics::kExact,
         "after transposes are folded into products; before values are saved, recomputed and streamed: a part can be "
         "without the others"},
        {"unroll-elementwise-loops", unroll_elementwise_loops, Numerics::kExact,
         "after constants are folded: they give the trip counts; before constants are folded again: rotation amounts"},
        {"fold-tuples", fold_tuples, Numerics::kExact, "unrolling leaves bundles between the trips"},
        {"fold-constants", fold_constants, Numerics::kExact, "what a loop counted is constant now"},
        {"share-common-subexpressions", share_common_subexpressions, Numerics::kExact,
         "trips of a loop compute the same round keys"},
        {"decide-predicates", decide_predicates, Numerics::kExact,
         "after constants are folded and equal values are one; before gathers: what guards them hides them"},
        {"slice-known-gathers", slice_known_gathers, Numerics::kExact,
         "before boxes are joined: it makes boxes; before one-hot products, whose gathers have indices that nobody "
         "knows"},
        {"update-known-scatters", update_known_scatters, Numerics::kExact, "before boxes are joined, as gathers"},
        {"join-boxes", join_boxes, Numerics::kExact, "before values are sunk or recomputed: what is joined reads less"},
        {"keep-rows-read-again", keep_rows_read_again, Numerics::kExact,
         "after scatters of rows are updates and wraps of their places decided; before what looks into loop bodies"},
        {"narrow-carries", narrow_carries, Numerics::kExact,
         "after boxes are joined: then the same moves look the same; before what looks into loop bodies"},
        {"narrow-stacks", narrow_stacks, Numerics::kExact,
         "beside carries; before values are recomputed: what is stored narrow is read narrow"},
        {"reduce-where-it-is-made", reduce_where_it_is_made, Numerics::kReassociated,
         "before values are sunk or recomputed: a stack that is gone needs neither; after stacks are narrowed",
         Numerics::kExact},
        {"multiply-outer-products", multiply_outer_products, Numerics::kValueExact,
         "before values are sunk or recomputed: a product is light, a dot is not"},
        {"split-concatenated-convolutions", split_concatenated_convolutions, Numerics::kReassociated,
         "before values are sunk, recomputed or streamed: what is no longer stored needs neither", Numerics::kExact},
        {"convolve-unrepeated", convolve_unrepeated, Numerics::kReassociated,
         "after gathers and scatters are repetitions and sums; before values are streamed: a layer's input is smaller",
         Numerics::kExact},
        {"batch-counted-indices", batch_counted_indices, Numerics::kExact,
         "after constants are folded: they tell what counts; before streaming, which walks batch dimensions"},
        {"split-merged-dimensions", split_merged_dimensions, Numerics::kExact,
         "after indices that only count are batch dimensions, which correspond; before streams"},
        {"sink-hoisted-values", sink_hoisted_values, Numerics::kExact,
         "after random numbers are written out: then they are elementwise; before what looks into loop bodies"},
        {"recompute-stacks", recompute_cheap_stacks, Numerics::kExact,
         "after what was hoisted is back: it is then part of what a trip computes"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "elements of carries that were sunk, recomputed or cut"},
        {"gather-one-hot-products", gather_one_hot_products, Numerics::kValueExact,
         "after constants are folded: they decide masks; before streaming: a product that is gone needs none"},
        {"scatter-one-hot-gradients", scatter_one_hot_gradients, Numerics::kReassociated,
         "after gathers: of two one-hot operands the contracted one goes first"},
        {"accumulate-where-it-lies", accumulate_where_it_lies, Numerics::kReassociated,
         "after scatters are made of products; before stacks: it makes updates of what they were added to",
         Numerics::kValueExact},
        {"select-single-places", select_single_places, Numerics::kExact,
         "after parts are added where they lie: what is left of zeros and of what they were added to is one scatter; "
         "before streaming, which walks along the places then"},
        {"sink-transposes", sink_transposes, Numerics::kExact,
         "after single places are chosen, element by element; before streaming, which slices a value along one of its "
         "dimensions"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact, "what was computed transposed"},
        {"widen-scatters", widen_scatters, Numerics::kExact,
         "after single places are chosen: what is left is stored; before streaming, which would hide what need not be"},
        {"write-over-consumed-stacks", write_over_consumed_stacks, Numerics::kExact,
         "before slices are updated in their stack: it makes the stack read and the stack written one"},
        {"update-where-it-lies", update_where_it_lies, Numerics::kExact,
         "before streaming: what is not taken out of a stack need not be streamed"},
        {"stream-windows", [](Module& m, const Target& target) { return stream_windows(m, target); }, Numerics::kExact,
         "before slices are streamed: those of a stencil's stages are few, and all stages want one loop"},
        {"stream-slices", [](Module& m, const Target& target) { return stream_slices(m, target); },
         Numerics::kReassociated, "before reductions are split: their parts would no longer share the dimension",
         Numerics::kExact},
        {"share-invariants", share_invariants, Numerics::kExact,
         "after streaming, which joins readers of what was made and of what was made again"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "what was streamed still reads, dead, what only its tiles consume"},
        {"update-where-it-lies", update_where_it_lies, Numerics::kExact,
         "again: a tile of a slot is updated in the slot's stack"},
        {"write-over-consumed-stacks", write_over_consumed_stacks, Numerics::kExact,
         "again: what is streamed consumes its operand slice by slice"},
        {"fill-emptied-slots", fill_emptied_slots, Numerics::kExact,
         "after streaming, which knows loops over whole stacks; after stacks of one shape, which need no order in a "
         "trip"},
        {"sink-hoisted-values", sink_hoisted_values, Numerics::kExact,
         "again: what a stream reads whole need not stand beside it"},
        {"slice-operands", slice_operands, Numerics::kExact,
         "after streaming, which slices what it doesn't make tile by tile; after sinking, which looks for such slices"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact, "what was sliced after the work"},
        {"add-products-where-they-lie", add_products_where_they_lie, Numerics::kReassociated,
         "after streaming, which makes sums over tiles, and knows dots of two operands alone"},
        {"split-long-reductions", split_long_reductions, Numerics::kReassociated,
         "before regions: a sum to few values becomes two, the first of which runs on all threads", Numerics::kExact},
        {"split-long-products", split_long_products, Numerics::kReassociated, "beside reductions, for the same reason",
         Numerics::kExact},
        {"split-long-scatters", split_long_scatters, Numerics::kReassociated,
         "beside reductions, for the same reason; after streaming, which cuts scatters as well", Numerics::kExact},
        {"separate-fills", separate_fills, Numerics::kExact,
         "after the last pass that shares equal values, which would share these"},
        {"separate-bodies", separate_bodies, Numerics::kExact,
         "again, after streams, which copy loops with the bodies that they have"},
        {"remove-dead-code", remove_dead_code, Numerics::kExact,
         "last: what was unrolled and shared leaves bodies behind"},
    };
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }();
  return kPipeline;
}

const std::vector<Pass>& decided_passes() {
  static const std::vector<Pass> kPasses = {
      {"recompute", [](Module& m, const Target& t) { return recompute(m, t, {t.cost().kept_byte_ns()}); },
       Numerics::kExact, "before streams, which then take what is made again with them"},
      {"hoist-loop-invariants", hoist_loop_invariants, Numerics::kExact,
       "after recompute, which decides for the program as it was; before streams, which may then hide what is read"},
      {"save-every",
       [](Module& m, const Target&) {
         const std::vector<Grouping> all = groupings(m);
         return all.empty() ? Result<PassResult>(PassResult()) : save_every(m, all.back());
       },
       Numerics::kExact, "after recompute, which leaves what trips begin with"},
      {"offload", [](Module& m, const Target&) { return offload(m, offloadable(m)); }, Numerics::kExact,
       "after what is recomputed is no longer kept anywhere"},
      {"update-where-it-is-made", update_where_it_is_made, Numerics::kReassociated,
       "after what saves and makes again, which reads what loops update as it was", Numerics::kExact},
  };
  return kPasses;
}

}  // namespace lowtide::engine
