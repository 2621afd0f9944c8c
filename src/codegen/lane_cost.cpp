#include "codegen/lane_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "codegen/clamped.h"
#include "codegen/rotation.h"
#include "codegen/rows_in_lanes.h"
#include "codegen/short_steps.h"
#include "codegen/side_by_side.h"

namespace lowtide::engine {
namespace {

constexpr double kScalarOperation = 0.4, kVectorOperation = 0.6;  // cycles; of a vector operation: per register
constexpr double kScalarAccess = 0.6, kVectorAccess = 1;
constexpr double kGatheredLane = 1.2, kScatteredLane = 1.7, kSlowLane = 2.5;
constexpr double kFarLine = 8, kNearLine = 1;  // a cache line from memory, and from the second-level cache
constexpr double kLineBytes = 64;
constexpr double kCachedLines = 8192;  // of half the second-level cache
constexpr double kNearestLines = 256;  // of a third of the first-level cache

/// The cost of an operation on one register, relative to an addition of floats.
double weight(const Node& node, ElementType operand) {
  const bool is_64_bit = type_bits(node.type) == 64 || type_bits(operand) == 64;
  switch (node.opcode) {
    case Opcode::kDivide:
    case Opcode::kRemainder:
      if (is_floating(node.type)) return is_64_bit ? 10 : 8;
      return 20;
    case Opcode::kSqrt: return is_64_bit ? 14 : 9;
    case Opcode::kMultiply: return is_integral(node.type) ? (is_64_bit ? 3 : 2) : 1;
    case Opcode::kMaximum:
    case Opcode::kMinimum: return is_floating(node.type) ? 3 : 1;
    case Opcode::kConvert: return 1.5;
    case Opcode::kBitcastConvert:
    case Opcode::kCopy: return 0;
    default: return 1;
  }
}

bool contains(const std::vector<NodeId>& loads, NodeId id) { return std::ranges::find(loads, id) != loads.end(); }

}  // namespace

int64_t LaneCost::trips(const Loop& loop) const {
  constexpr int64_t kUnknownTrips = 4;  // of a while loop; slow paths usually run none
  return loop.kind == LoopKind::kWhile ? kUnknownTrips : loop.extent;
}

double LaneCost::registers(ElementType type, int32_t width) const {
  const double bits = type == ElementType::kPred ? 32 : std::max(type_bits(type), 8);
  return std::max(1.0, bits * width / (avx512_ ? 512 : 256));
}

double LaneCost::scalar_node(const Node& node) const {
  switch (node.kind) {
    case NodeKind::kLoad: return kScalarAccess;
    case NodeKind::kFma: return kScalarOperation;
    case NodeKind::kTable: return kScalarAccess;
    case NodeKind::kOperation: return kScalarOperation * weight(node, nest_.nodes[node.operands[0]].type);
    case NodeKind::kAffine: return 0.3 * static_cast<double>(node.affine.terms.size());
    default: return 0;
  }
}

// The lines in which the element can lie for one value of each loop index, if some of its index is computed; 1: none
// is; 0: anywhere.
double LaneCost::computed_lines(const Affine& index, int bytes) const {
  double lines = 1;
  for (const auto& term : index.terms) {
    const Node& atom = nest_.nodes[term.atom];
    if (atom.kind == NodeKind::kLoopIndex) continue;
    const double values = static_cast<double>(atom.greatest) - static_cast<double>(atom.least);
    lines *= 1 + values * std::abs(static_cast<double>(term.coefficient)) * bytes / kLineBytes;
    if (lines > kCachedLines) return 0;
  }
  return lines;
}

// The cost of a line at a computed index, likely of a small table.
double LaneCost::near_line(const Affine& index, int bytes) const {
  const double lines = computed_lines(index, bytes);
  return lines > 0 && lines <= kNearestLines ? 0 : kNearLine;
}

// The cost of fetching a cache line that may have been fetched before: a loop that doesn't move the index repeats the
// reads inside it, which hit the core's cache from the second time on unless they are more than it holds.
double LaneCost::fetched_line(const Affine& index, int bytes, int32_t block, const Spread* spread) const {
  const auto coefficient = [&](int32_t loop) {
    return static_cast<double>(std::llabs(index.coefficient_of(nest_.loops[loop].index)));
  };
  const double computed = computed_lines(index, bytes);
  if (computed == 0) return kFarLine;
  const auto lines_of = [&](double trips, double step) {
    return std::max(1.0, trips * std::min(1.0, step * bytes / kLineBytes));
  };
  double lines = computed * (spread ? lines_of(spread->width, coefficient(spread->loop)) : 1);
  double far = 1, nearest = 1;
  for (int32_t at = block; at != kNoId && lines <= kCachedLines; at = nest_.blocks[at].parent) {
    const int32_t id = nest_.blocks[at].loop;
    if (id == kNoId) break;
    const double width = spread && id == spread->loop ? spread->width : 1;
    const double iterations = std::max(1.0, static_cast<double>(trips(nest_.loops[id])) / width);
    const double step = coefficient(id);
    if (step == 0) far /= iterations;
    if (step == 0 && computed > 1 && lines <= kNearestLines) nearest = far;
    lines *= step == 0 ? 1 : lines_of(iterations, step * width);
  }
  return far * kFarLine + (nearest - far) * kNearLine;
}

// The cost of the cache lines that a scalar access fetches in one iteration of the loop around it.
double LaneCost::scalar_lines(const Affine& index, int bytes, int32_t block) const {
  const int32_t own = nest_.blocks[block].loop;
  double walked = 0, along = 1;
  for (const auto& term : index.terms) {
    const Node& atom = nest_.nodes[term.atom];
    if (atom.kind != NodeKind::kLoopIndex) return near_line(index, bytes);
    const double part = std::min(1.0, static_cast<double>(std::llabs(term.coefficient)) * bytes / kLineBytes);
    (atom.loop == own ? walked : along) = atom.loop == own ? part : std::min(along, part);
  }
  const double fetched = fetched_line(index, bytes, block, nullptr);
  if (walked < 1) return walked * fetched;
  const bool stays = own != kNoId && nest_.loops[own].extent <= kCachedLines;
  return stays ? along * fetched + kNearLine : fetched;
}

double LaneCost::scalar_items(int32_t block) const { return scalar_items(nest_.blocks[block].items, block); }

double LaneCost::scalar_items(std::span<const Item> items, int32_t block) const {
  double cost = 0;
  for (const Item& item : items) {
    if (item.kind == Item::kNode) {
      const Node& node = nest_.nodes[item.id];
      cost += scalar_node(node);
      if (node.kind == NodeKind::kLoad) cost += scalar_lines(node.affine, stored_bytes(node.type), block);
    } else if (item.kind == Item::kStore) {
      const Store& store = nest_.stores[item.id];
      const ElementType type = nest_.buffers[store.buffer].type;
      cost += kScalarAccess + scalar_lines(store.index, stored_bytes(type), block);
    }
  }
  return cost;
}

bool LaneCost::needs_gather(const Affine& index, const Spread& spread, int64_t* step) const {
  *step = 0;
  bool any = false;
  for (const auto& term : index.terms) {
    const Node& atom = nest_.nodes[term.atom];
    if (atom.kind == NodeKind::kLoopIndex && atom.loop == spread.loop) {
      *step += term.coefficient;
    } else {
      any = any || varies(term.atom, spread);
    }
  }
  return any || std::llabs(*step) > 1;
}

bool LaneCost::reads_apart(const Affine& index, const Spread& spread) const {
  int64_t step = 0;
  needs_gather(index, spread, &step);
  const auto is_same = [&](const Affine::Term& term) {
    const Node& atom = nest_.nodes[term.atom];
    return (atom.kind == NodeKind::kLoopIndex && atom.loop == spread.loop) || !varies(term.atom, spread);
  };
  return is_short_step(step) && std::ranges::all_of(index.terms, is_same);
}

// How many of the first stores in `items` are written together, as whole registers.
size_t LaneCost::stored_together(std::span<const Item> items, const Spread& spread) const {
  const std::vector<int32_t> stores = side_by_side(nest_, items);
  if (stores.empty()) return 0;
  const Affine& index = nest_.stores[stores[0]].index;
  int64_t step = 0;
  needs_gather(index, spread, &step);
  return step == static_cast<int64_t>(stores.size()) && reads_apart(index, spread) ? stores.size() : 0;
}

// The cost of the cache lines fetched per lane. If another loop, inside or outside the lane loop, moves along the lines
// that the lanes read, each line is fetched once, unless too many others are read in between.
double LaneCost::lines(const Affine& index, int bytes, int32_t block, const Spread& spread) const {
  int64_t step = 0;
  const bool gathers = needs_gather(index, spread, &step);
  const double fetched = fetched_line(index, bytes, block, &spread);
  if (!gathers) return std::min(1.0, static_cast<double>(std::llabs(step)) * bytes / kLineBytes) * fetched;
  if (step == 0) return near_line(index, bytes);
  const double own = std::min(1.0, static_cast<double>(std::llabs(step)) * bytes / kLineBytes);
  double along = 1;
  bool inside = false;
  for (const auto& term : index.terms) {
    const Node& atom = nest_.nodes[term.atom];
    if (atom.kind != NodeKind::kLoopIndex || atom.loop == spread.loop) continue;
    const double walked = std::min(1.0, static_cast<double>(std::llabs(term.coefficient)) * bytes / kLineBytes);
    if (walked < along) {
      along = walked;
      // loops are numbered outside in: a later one lies inside
      inside = atom.loop > spread.loop;
    }
  }
  const Loop& loop = nest_.loops[spread.loop];
  const double lines_between = inside ? spread.width : static_cast<double>(loop.extent);
  if (lines_between > kCachedLines) along = 1;
  return own * (along * fetched + (inside ? 0 : kNearLine));
}

double LaneCost::lane_access(const Affine& index, ElementType type, bool is_store, int32_t block,
                             const Spread& spread) const {
  int64_t step = 0;
  const bool gathers = needs_gather(index, spread, &step);
  const int bytes = stored_bytes(type);
  if (!gathers && step == 0) return kScalarAccess;
  const double traffic = lines(index, bytes, block, spread) * spread.width;
  if (!gathers) return registers(type, spread.width) * kVectorAccess * (is_store ? 1.5 : 1) + traffic;
  if (!is_store && reads_apart(index, spread)) {
    // AVX2 has no arbitrary shuffle of two registers.
    const double shuffle = (avx512_ ? 1 : 4) * kVectorOperation;
    const auto reads = static_cast<double>(step);
    return registers(type, spread.width) * (reads * kVectorAccess + (reads - 1) * shuffle) + traffic;
  }
  const bool one_by_one = bytes < 4 || !avx512_;
  const double lane = one_by_one ? kSlowLane : is_store ? kScatteredLane : kGatheredLane;
  return lane * spread.width + traffic;
}

std::vector<NodeId> LaneCost::row_loads(int32_t inner, const Spread& spread) const {
  return loads_in_rows(nest_, inner, spread.loop, *spread.varying, avx512_);
}

bool LaneCost::reads_rows(NodeId load, const Spread& spread) const {
  const int32_t block = nest_.nodes[load].block;
  const int32_t inner = nest_.blocks[block].loop;
  return inner != spread.loop && contains(row_loads(inner, spread), load);
}

// An element of each lane's row: its share of reading, transposing and, mostly, spilling a block.
double LaneCost::row_load(const Node& node, const Spread& spread) const {
  constexpr double kShuffle = 1;  // there is one port for those that cross lanes
  const Loop& terms = nest_.loops[nest_.blocks[node.block].loop];
  const int32_t side = row_block_side(avx512_), width = row_block_width(terms.extent, side);
  const double shuffles = registers(node.type, side) * width * std::log2(width) * kShuffle;
  const double block =
      side * registers(node.type, width) * kVectorAccess + (side - width) * kVectorOperation + shuffles;
  const double elements = std::min<double>(side, static_cast<double>(terms.extent));
  const double spilt = 2 * registers(node.type, spread.width) * kVectorAccess;
  const int bytes = stored_bytes(node.type);
  const double lines =
      spread.width * std::min(1.0, bytes / kLineBytes) * fetched_line(node.affine, bytes, node.block, &spread);
  const double blocks = static_cast<double>(spread.width) / side;
  return blocks * block / elements + spilt + lines;
}

double LaneCost::lane_node(NodeId id, const Spread& spread) const {
  const Node& node = nest_.nodes[id];
  if (!varies(id, spread)) return scalar_node(node);
  const int32_t width = spread.width / group(id, spread);
  switch (node.kind) {
    case NodeKind::kLoad:
      if (spread.tiled != nullptr && contains(*spread.tiled, id)) {
        constexpr double kTransposed = 8;  // of one row of a tile
        return kTransposed + spread.width * stored_bytes(node.type) / kLineBytes * kFarLine;
      }
      if (reads_rows(id, spread)) return row_load(node, spread);
      if (const auto clamped = clamped_index(nest_, node.affine, spread.loop, *spread.varying)) {
        constexpr double kBranch = 3;
        Affine linear = clamped->rest;
        linear.terms.push_back({nest_.loops[spread.loop].index, clamped->step});
        return kBranch + lane_access(linear, node.type, false, node.block, spread);
      }
      return lane_access(node.affine, node.type, false, node.block, spread);
    case NodeKind::kAffine: return registers(ElementType::kS32, width) * kVectorOperation;
    case NodeKind::kFma: return registers(node.type, width) * kVectorOperation;
    case NodeKind::kTable: {
      const double rows = static_cast<double>(node.table->elements.size()) * type_bits(node.type) / 512;
      return avx512_ ? registers(node.type, spread.width) * std::max(1.0, 2 * rows) * kVectorOperation
                     : kGatheredLane * spread.width;
    }
    case NodeKind::kOperation: {
      const Node& operand = nest_.nodes[node.operands[0]];
      const bool long_division = (node.opcode == Opcode::kDivide || node.opcode == Opcode::kRemainder) &&
                                 is_integral(node.type) && nest_.nodes[node.operands[1]].kind != NodeKind::kConstant;
      if (long_division) return 12.0 * spread.width;
      return std::max(registers(node.type, width), registers(operand.type, width)) * kVectorOperation *
             weight(node, operand.type);
    }
    default: return 0;
  }
}

double LaneCost::lane_block(int32_t block, const Spread& spread) const {
  double cost = 0;
  std::span<const Item> items = nest_.blocks[block].items;
  for (; !items.empty(); items = items.subspan(1)) {
    const Item& item = items.front();
    switch (item.kind) {
      case Item::kNode: cost += lane_node(item.id, spread); break;
      case Item::kStore: {
        const Store& store = nest_.stores[item.id];
        const ElementType type = nest_.buffers[store.buffer].type;
        if (const size_t together = stored_together(items, spread); together > 0) {
          const double shuffled = 2 * registers(type, spread.width) * kVectorAccess * static_cast<double>(together);
          cost += shuffled + lines(store.index, stored_bytes(type), store.block, spread) * spread.width;
          items = items.subspan(together - 1);
        } else {
          cost += lane_access(store.index, type, true, store.block, spread);
        }
        break;
      }
      case Item::kLoop: {
        const Loop& loop = nest_.loops[item.id];
        double once = lane_block(loop.body, spread) + 1;
        if (loop.head != kNoId) once += lane_block(loop.head, spread);
        cost += once * static_cast<double>(trips(loop));
        break;
      }
    }
  }
  return cost;
}

double LaneCost::merge(const Spread& spread) const {
  const Loop& loop = nest_.loops[spread.loop];
  if (loop.carried.empty() || !loop.combine) return 0;
  const auto operations = static_cast<double>(loop.combine->nodes.size());
  constexpr double kLatency = 4;  // the last steps are sequential, of one register each
  return operations * (registers(loop.carried[0].type, spread.width) + kLatency * 5);
}

void LaneCost::for_uses(const Item& item, const std::function<void(NodeId)>& use) const {
  if (item.kind == Item::kLoop) {
    const Loop& loop = nest_.loops[item.id];
    for (const Carried& carried : loop.carried) use(carried.initial), use(carried.next);
    for (const int32_t block : {loop.head, loop.body}) {
      if (block == kNoId) continue;
      for (const Item& inner : nest_.blocks[block].items) for_uses(inner, use);
    }
  } else if (item.kind == Item::kStore) {
    const Store& store = nest_.stores[item.id];
    use(store.value);
    use(store.guard);
    for (const auto& term : store.index.terms) use(term.atom);
  } else if (const auto rotation = rotation_of(nest_, item.id)) {
    use(rotation->value);  // its shifts aren't emitted
  } else {
    const Node& node = nest_.nodes[item.id];
    for (const NodeId operand : node.operands) use(operand);
    for (const auto& term : node.affine.terms) use(term.atom);
  }
}

// Such a select is computed at its use: until then only its predicate is in a register.
bool LaneCost::chooses_constant(const Node& node) const {
  const auto is_constant = [&](NodeId id) { return nest_.nodes[id].kind == NodeKind::kConstant; };
  return node.kind == NodeKind::kOperation && node.opcode == Opcode::kSelect && is_constant(node.operands[1]) &&
         is_constant(node.operands[2]);
}

double LaneCost::live_in(int32_t block, const Spread& spread, double outside, std::vector<size_t>& last_use) const {
  const auto& items = nest_.blocks[block].items;
  std::vector<double> ends(items.size() + 1, 0);
  const auto use = [&](NodeId id, size_t at) {
    if (id != kNoId && nest_.nodes[id].block == block) last_use[id] = at + 1;
  };
  double most = outside;
  for (size_t at = 0; at < items.size(); ++at) {
    for_uses(items[at], [&](NodeId id) { use(id, at); });
  }
  if (const int32_t own = nest_.blocks[block].loop; own != kNoId) {
    for (const Carried& carried : nest_.loops[own].carried) use(carried.next, items.size());
  }
  double live = outside;
  for (size_t at = 0; at < items.size(); ++at) {
    if (items[at].kind == Item::kLoop) {
      const Loop& loop = nest_.loops[items[at].id];
      double carried = 0;
      for (const Carried& c : loop.carried) carried += std::max(1.0, type_bits(c.type) / 32.0);
      double elements = 0;  // of a block of rows, all of which are there at once
      for (const NodeId row : row_loads(items[at].id, spread)) {
        const auto read = static_cast<double>(std::min<int64_t>(loop.extent, row_block_side(avx512_)));
        elements += read * std::max(1.0, type_bits(nest_.nodes[row].type) / 32.0);
      }
      most = std::max(most, live_in(loop.body, spread, live + carried + elements, last_use));
      live += carried;  // its results
    } else if (items[at].kind == Item::kNode) {
      const NodeId id = items[at].id;
      const Node& node = nest_.nodes[id];
      const size_t last = last_use[id];
      const bool is_held = varies(id, spread) && node.type != ElementType::kPred && node.kind != NodeKind::kAffine &&
                           !chooses_constant(node);
      if (is_held && last != 0) {
        const double size = std::max(1.0, type_bits(node.type) / 32.0) / group(id, spread);
        live += size;
        ends[last - 1] += size;
      }
    }
    most = std::max(most, live);
    live -= ends[at];
  }
  return most;
}

double LaneCost::live_values(const Spread& spread) const {
  const Loop& loop = nest_.loops[spread.loop];
  double carried = 0;
  for (const Carried& c : loop.carried) carried += std::max(1.0, type_bits(c.type) / 32.0);
  std::vector<size_t> last_use(nest_.nodes.size(), 0);
  return std::max(1.0, live_in(loop.body, spread, carried, last_use));
}

bool LaneCost::slow_lanes_in(int32_t block, const Spread& spread) const {
  const auto one_by_one = [&](const Affine& index, ElementType type) {
    int64_t step = 0;
    return needs_gather(index, spread, &step) && (stored_bytes(type) < 4 || !avx512_);
  };
  std::span<const Item> items = nest_.blocks[block].items;
  for (; !items.empty(); items = items.subspan(1)) {
    const Item& item = items.front();
    if (item.kind == Item::kLoop) {
      const Loop& loop = nest_.loops[item.id];
      if (slow_lanes_in(loop.body, spread) || (loop.head != kNoId && slow_lanes_in(loop.head, spread))) return true;
    } else if (item.kind == Item::kStore) {
      const Store& store = nest_.stores[item.id];
      if (const size_t together = stored_together(items, spread); together > 0) {
        items = items.subspan(together - 1);
      } else if (one_by_one(store.index, nest_.buffers[store.buffer].type)) {
        return true;
      }
    } else {
      const Node& node = nest_.nodes[item.id];
      if (!varies(item.id, spread)) continue;
      if (node.kind == NodeKind::kLoad && one_by_one(node.affine, node.type)) {
        const bool is_near = reads_apart(node.affine, spread) || reads_rows(item.id, spread) ||
                             clamped_index(nest_, node.affine, spread.loop, *spread.varying).has_value();
        if (!is_near) return true;
      }
      const bool divides = node.kind == NodeKind::kOperation && is_integral(node.type) &&
                           (node.opcode == Opcode::kDivide || node.opcode == Opcode::kRemainder);
      if (divides && nest_.nodes[node.operands[1]].kind != NodeKind::kConstant) return true;
    }
  }
  return false;
}

bool LaneCost::has_slow_lanes(const Spread& spread) const {
  return slow_lanes_in(nest_.loops[spread.loop].body, spread);
}

}  // namespace lowtide::engine
