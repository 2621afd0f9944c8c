/// Lowers a region to a nest: one parallel loop per dimension of the outputs. Outputs with equal extents share their
/// loops, with all stores after all loads and computation. In-place updates come last: those that write boxes of equal
/// extents share loops, each other one has its own.
///
/// If an operation tests whether an index is in a range (pad, concatenate, masks on iota, ...), and bounds can't decide
/// it, the index space is cut there and its parts are computed one by one: in each, bounds decide. A position in rows
/// is an index as well; if only positions matter, all elements are walked in one loop. Parts of equal extents that need
/// the same nodes are computed together (the two words of one hash), and parts of the same rows row by row
/// (nest/join.h).

#include "nest/collapse.h"
#include "nest/join.h"
#include "nest/turn_short_loops.h"
#include "ops/evaluate.h"
#include "region/region_elements.h"
#include "target/roles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/leaves.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostBoxes = 300;     // of one group of outputs
constexpr size_t kMostNodes = 2000;    // of all boxes of a group; bounds compile time
constexpr size_t kMostTrials = 64;     // of computing boxes together
constexpr int64_t kFewElements = 256;  // smaller groups are cut only if that makes less code

struct Box {
  Dims starts, extents;
};

/// Boxes of equal extents, computed in one loop nest.
using Piece = std::vector<Box>;

/// Outputs with equal extents.
struct RegionGroup {
  Dims dims;     ///< of the outputs
  Dims extents;  ///< of the loops: dims, or a single loop over all elements
  std::vector<size_t> outputs;
};

class Lowering {
 public:
  explicit Lowering(const Region& region) : region_(region) {}

  Nest run() {
    std::map<Dims, size_t> by_extents;
    std::vector<RegionGroup> groups;
    std::vector<Updates> updates;
    for (size_t k = 0; k < region_.outputs.size(); ++k) {
      const LeafRef& output = region_.outputs[k];
      if (is_update(k)) {
        add_update(*output.instruction, updates);
        continue;
      }
      const Dims& extents = leaf_shape(output.instruction->shape, output.leaf)->dims;
      if (std::find(extents.begin(), extents.end(), 0) != extents.end()) continue;
      const auto [place, is_new] = by_extents.emplace(extents, groups.size());
      if (is_new) groups.push_back({extents, extents, {}});
      groups[place->second].outputs.push_back(k);
    }
    if (groups.size() == 1 && updates.empty()) {  // most regions are one piece
      NestBuilder nest(evaluate);
      make_whole(nest, groups[0]);
      if (nest.cuts().empty()) return turn_short_loops(collapse_loops(nest.take()));
    }
    std::vector<std::vector<Piece>> pieces;
    for (RegionGroup& group : groups) pieces.push_back(pieces_of(group));
    NestBuilder nest(evaluate);
    RegionElements elements(nest, region_);
    for (size_t g = 0; g < groups.size(); ++g) {
      for (const Piece& piece : pieces[g]) make(nest, elements, groups[g], piece);
    }
    elements.set_home(0);
    for (const Updates& together : updates) make(nest, elements, together);
    return turn_short_loops(collapse_loops(join_loops(nest.take())));
  }

 private:
  /// Updates that store elements of boxes with these extents; or only one, which makes its own loops.
  struct Updates {
    std::vector<const Instruction*> all;
    const Dims* box = nullptr;
  };

  static void add_update(const Instruction& update, std::vector<Updates>& updates) {
    const auto box_of = rule_of(update.opcode).stored_box;
    const Dims* box = box_of == nullptr ? nullptr : &box_of(update);
    for (Updates& together : updates) {
      if (std::ranges::find(together.all, &update) != together.all.end()) return;  // with another of its leaves
      if (box != nullptr && together.box != nullptr && *box == *together.box) {
        together.all.push_back(&update);
        return;
      }
    }
    updates.push_back({{&update}, box});
  }

  static void make(NestBuilder& nest, RegionElements& elements, const Updates& updates) {
    if (updates.box == nullptr) {
      rule_of(updates.all[0]->opcode).update(elements, *updates.all[0]);
      return;
    }
    if (std::ranges::find(*updates.box, 0) != updates.box->end()) return;
    std::vector<int32_t> loops;
    Index index;
    for (const int64_t extent : *updates.box) {
      loops.push_back(nest.begin_parallel(extent));
      index.push_back(nest.index_of(loops.back()));
    }
    std::vector<ElementStore> stores;
    for (const Instruction* update : updates.all)
      stores.push_back(rule_of(update->opcode).store(elements, *update, index));
    for (const ElementStore& store : stores) nest.store(store.buffer, store.at, store.value);
    for (size_t d = loops.size(); d-- > 0;) nest.end_parallel(loops[d]);
  }

  bool is_update(size_t k) const {
    const Instruction& made = *region_.outputs[k].instruction;
    if (k < region_.updates.size() && region_.updates[k].instruction) return true;
    // an update that writes every element has a faster form than element by element
    return has_update(made) && (!has_element(made) || !rule_of(made.opcode).updated_operand);
  }

  void make(NestBuilder& nest, RegionElements& elements, const RegionGroup& group, const Piece& piece) const {
    const Dims& extents = piece[0].extents;
    const bool in_one = group.extents != group.dims;
    std::vector<int32_t> loops;
    if (extents.empty()) loops.push_back(nest.begin_parallel(1));
    for (const int64_t extent : extents) loops.push_back(nest.begin_parallel(extent));
    elements.set_home(is_single(extents) ? nest.current_block() : 0);
    struct Made {
      size_t output;
      Affine at;
      NodeId value;
    };
    std::vector<Made> made;
    for (const Box& box : piece) {
      Index index;
      for (size_t d = 0; d < extents.size(); ++d) {
        index.push_back(nest.plus(nest.index_of(loops[d]), NestBuilder::fixed(box.starts[d])));
      }
      const Affine at = nest.position(index, group.extents);
      if (in_one) index = nest.index_at(at, group.dims);
      for (const size_t k : group.outputs) {
        const LeafRef& output = region_.outputs[k];
        made.push_back({k, at, elements.element(*output.instruction, output.leaf, index)});
      }
    }
    for (const Made& store : made) nest.store(elements.buffer_of_output(store.output), store.at, store.value);
    while (!loops.empty()) {
      nest.end_parallel(loops.back());
      loops.pop_back();
    }
  }

  /// If conditions on positions, which no loop's index decides alone, can be decided by cutting one loop over all
  /// elements, and nothing needs the indices apart, that is how the group is walked.
  bool walks_in_one_loop(RegionGroup& group) const {
    if (group.dims.size() < 2) return false;
    RegionGroup in_one = group;
    in_one.extents = {1};
    for (const int64_t extent : group.dims) in_one.extents[0] *= extent;
    NestBuilder apart(evaluate), together(evaluate);
    make_whole(apart, group);
    make_whole(together, in_one);
    if (divisions(together.take()) != divisions(apart.take())) return false;
    group = std::move(in_one);
    return true;
  }

  void make_whole(NestBuilder& nest, const RegionGroup& group) const {
    RegionElements elements(nest, region_);
    make(nest, elements, group, whole(group));
  }

  static int64_t divisions(const Nest& nest) {
    return std::ranges::count_if(nest.nodes, [](const Node& node) {
      return node.opcode == Opcode::kDivide || node.opcode == Opcode::kRemainder;
    });
  }

  /// The number of nodes of a piece, and the indices, by dimension, at which its single box should be cut.
  struct Trial {
    size_t nodes = 0;
    std::vector<Dims> cuts;
    bool has_mixed_cuts = false;
  };
  Trial try_out(const RegionGroup& group, const Piece& piece) const {
    NestBuilder nest(evaluate);
    RegionElements elements(nest, region_);
    make(nest, elements, group, piece);
    const size_t rank = group.extents.size();
    Trial trial{0, std::vector<Dims>(rank), nest.has_mixed_cuts()};
    for (const Cut& cut : nest.cuts()) {
      if (static_cast<size_t>(cut.loop) >= rank) continue;  // the loops of the piece are the first ones, in order
      const auto d = static_cast<size_t>(cut.loop);
      trial.cuts[d].push_back(piece[0].starts[d] + cut.at);
    }
    for (const Node& node : nest.nest().nodes) {
      trial.nodes += node.kind == NodeKind::kOperation || node.kind == NodeKind::kLoad;
    }
    return trial;
  }

  struct Cost {
    Piece piece;
    size_t nodes = 0;
  };

  /// Merges boxes of equal extents into one piece if that saves an eighth of the nodes; single elements always.
  std::vector<Piece> pieces_of(RegionGroup& group) const {
    Trial of_whole = try_out(group, whole(group));
    if (of_whole.has_mixed_cuts && walks_in_one_loop(group)) of_whole = try_out(group, whole(group));
    std::vector<Cost> made;
    size_t trials = 0;
    for (Cost& box : boxes_of(group, std::move(of_whole))) {
      const bool single = is_single(box.piece[0].extents);
      bool joined = false;
      for (size_t k = 0; k < made.size() && !joined && (single || trials < kMostTrials); ++k) {
        if (made[k].piece[0].extents != box.piece[0].extents) continue;
        Cost together = made[k];
        together.piece.push_back(box.piece[0]);
        together.nodes = single ? together.nodes + box.nodes : try_out(group, together.piece).nodes;
        trials += !single;
        joined = single || 8 * together.nodes <= 7 * (made[k].nodes + box.nodes);
        if (joined) made[k] = std::move(together);
      }
      if (!joined) made.push_back(std::move(box));
    }
    std::vector<Piece> pieces;
    for (Cost& cost : made) pieces.push_back(std::move(cost.piece));
    return pieces;
  }

  static Piece whole(const RegionGroup& group) { return {{Dims(group.extents.size(), 0), group.extents}}; }

  static bool is_single(const Dims& extents) {
    return std::all_of(extents.begin(), extents.end(), [](int64_t n) { return n == 1; });
  }

  /// Pieces of one box each: cuts the index space along the outermost dimension with cuts, then tries its parts.
  std::vector<Cost> boxes_of(const RegionGroup& group, std::optional<Trial> of_whole) const {
    int64_t count = 1;
    for (const int64_t extent : group.extents) count *= extent;
    std::vector<Box> open = whole(group);
    std::vector<Cost> done;
    size_t nodes = 0, most_nodes = 0, nodes_of_whole = 0;
    while (!open.empty()) {
      const Box box = std::move(open.back());
      open.pop_back();
      const Trial trial = of_whole ? *std::exchange(of_whole, {}) : try_out(group, {box});
      if (most_nodes == 0) {
        nodes_of_whole = trial.nodes;
        most_nodes = 1 + (count < kFewElements ? trial.nodes : std::max(kMostNodes, trial.nodes));
      }
      const auto cut = std::find_if(trial.cuts.begin(), trial.cuts.end(), [](const Dims& at) { return !at.empty(); });
      if (cut == trial.cuts.end()) {
        nodes += trial.nodes;
        done.push_back({{box}, trial.nodes});
        if (nodes > most_nodes && done.size() > 1) return {{whole(group), nodes_of_whole}};
        continue;
      }
      if (open.size() + done.size() + cut->size() + 1 > kMostBoxes) return {{whole(group), nodes_of_whole}};
      const auto d = static_cast<size_t>(cut - trial.cuts.begin());
      Dims ends = *cut;
      ends.push_back(box.starts[d] + box.extents[d]);
      for (size_t k = ends.size(); k-- > 0;) {
        Box part = box;
        part.starts[d] = k == 0 ? box.starts[d] : ends[k - 1];
        part.extents[d] = ends[k] - part.starts[d];
        open.push_back(std::move(part));
      }
    }
    return done;
  }

  const Region& region_;
};

}  // namespace

Nest lower(const Region& region) { return Lowering(region).run(); }

}  // namespace lowtide::engine
