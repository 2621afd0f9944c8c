#include "passes/rules/join_boxes.h"

#include <algorithm>

#include "ops/collective.h"
#include "passes/rules/known_values.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestBox = 16;  ///< operations looked through

/// Elements [start, start + size) of an array.
struct Part {
  Instruction* of = nullptr;
  Dims start, size;
};

/// The part that a slice with stride 1 reads; any other value is a part as a whole.
Part part_of(Instruction* i) {
  if (i->opcode == Opcode::kSlice) {
    const auto& a = i->as<SliceAttributes>();
    if (std::ranges::all_of(a.strides, [](int64_t s) { return s == 1; }))
      return {i->operands[0], a.starts, i->shape.dims};
  }
  return {i, Dims(i->shape.dims.size(), 0), i->shape.dims};
}

bool covers(const Part& outer, const Part& inner) {
  for (size_t d = 0; d < outer.size.size(); ++d) {
    if (inner.start[d] < outer.start[d] || inner.start[d] + inner.size[d] > outer.start[d] + outer.size[d])
      return false;
  }
  return true;
}

/// The part that an update with a known start writes; `of` is its second operand.
std::optional<Part> written(const Instruction& i) {
  if (i.opcode != Opcode::kDynamicUpdateSlice) return std::nullopt;
  const Dims& size = i.operand(1).shape.dims;
  const auto corner = known_corner(i, 2, size);
  if (!corner) return std::nullopt;
  return Part{i.operands[1], *corner, size};
}

Instruction* join_concatenate(const Instruction& i, Maker& maker) {
  const auto along = static_cast<size_t>(i.as<DimensionsAttributes>().dimensions[0]);
  std::vector<Part> parts;
  for (Instruction* operand : i.operands) {
    Part next = part_of(operand);
    if (!parts.empty()) {
      Part& last = parts.back();
      Part moved = next;
      moved.start[along] = last.start[along], moved.size[along] = last.size[along];
      const bool beside = last.of == next.of && next.start[along] == last.start[along] + last.size[along] &&
                          moved.start == last.start && moved.size == last.size;
      if (beside) {
        last.size[along] += next.size[along];
        continue;
      }
    }
    parts.push_back(std::move(next));
  }
  if (parts.size() == i.operands.size()) return nullptr;
  std::vector<Instruction*> operands;
  for (const Part& part : parts) operands.push_back(box_of(part.of, part.start, part.size, maker));
  if (operands.size() == 1) return operands[0];
  return maker.make(Opcode::kConcatenate, Shape::array(i.shape.type, i.shape.dims), operands, i.attributes);
}

/// For an update by a concatenation: writes only parts that the array doesn't have there already.
Instruction* leave_what_stands(const Instruction& i, const Part& all, Maker& maker) {
  if (all.of->opcode != Opcode::kConcatenate) return nullptr;
  const auto along = static_cast<size_t>(all.of->as<DimensionsAttributes>().dimensions[0]);
  Instruction* now = i.operands[0];
  bool left = false;
  Dims at = all.start;
  std::vector<std::pair<Instruction*, Dims>> rest;
  for (Instruction* operand : all.of->operands) {
    const Part part = part_of(operand);
    const bool stands = part.of == i.operands[0] && part.start == at;
    if (!stands) rest.emplace_back(operand, at);
    left = left || stands;
    at[along] += operand->shape.dims[along];
  }
  if (!left) return nullptr;
  for (const auto& [part, start] : rest) now = with_box(now, part, start, maker);
  return now;
}

/// For nested updates that together write everything, in full rows along one dimension: concatenates them.
Instruction* concatenate_updates(const Instruction& i, Maker& maker) {
  const Dims& extents = i.shape.dims;
  std::optional<size_t> along;
  std::vector<Part> seen;  // visible parts of the updates, by place
  int64_t filled = 0;
  for (const Instruction* update = &i;;) {
    const auto part = written(*update);
    if (!part) return nullptr;
    for (size_t d = 0; d < extents.size(); ++d) {
      if (part->size[d] == extents[d]) continue;
      if (along.value_or(d) != d) return nullptr;
      along = d;
    }
    if (!along) return nullptr;
    int64_t from = part->start[*along];
    const int64_t end = from + part->size[*along];
    std::vector<Part> more;
    for (size_t k = 0; k <= seen.size() && from < end; ++k) {
      const int64_t next = k < seen.size() ? seen[k].start[*along] : end;
      if (std::min(next, end) > from) {
        Part piece = *part;
        piece.start[*along] = from, piece.size[*along] = std::min(next, end) - from;
        // Relative to the update.
        piece.of = box_of(
            part->of,
            [&] {
              Dims start(extents.size(), 0);
              start[*along] = from - part->start[*along];
              return start;
            }(),
            piece.size, maker);
        more.push_back(piece);
      }
      if (k < seen.size()) from = std::max(from, next + seen[k].size[*along]);
    }
    for (Part& piece : more) filled += piece.size[*along], seen.push_back(std::move(piece));
    std::ranges::sort(seen, {}, [&](const Part& p) { return p.start[*along]; });
    if (filled == extents[*along]) break;
    update = &update->operand(0);
  }
  if (i.operand(0).opcode != Opcode::kDynamicUpdateSlice) return nullptr;
  std::vector<Instruction*> operands;
  for (const Part& part : seen) operands.push_back(part.of);
  return maker.make(Opcode::kConcatenate, Shape::array(i.shape.type, extents), operands,
                    DimensionsAttributes{{static_cast<int64_t>(*along)}});
}

/// Could nested updates cover everything? Checked before anything is created.
bool may_concatenate(const Instruction& i) {
  int64_t most = 0;
  for (const Instruction* update = &i; update->opcode == Opcode::kDynamicUpdateSlice; update = &update->operand(0)) {
    most += element_count(update->operand(1).shape);
  }
  return most >= element_count(i.shape) && i.operand(0).opcode == Opcode::kDynamicUpdateSlice;
}

/// Does an update read, through elementwise work, a slice of the array that overlaps the written part, but isn't equal
/// to it?
bool reads_beside_its_place(const Instruction& value, const Instruction& array, const Part& place, int depth) {
  if (depth > kDeepestBox || value.shape.dims != place.size) return false;
  if (value.opcode == Opcode::kSlice) {
    const Part part = part_of(const_cast<Instruction*>(&value));
    if (part.of != &array || part.start == place.start) return false;
    for (size_t d = 0; d < place.size.size(); ++d) {
      if (std::abs(part.start[d] - place.start[d]) >= place.size[d]) return false;  // a disjoint box
    }
    return true;
  }
  if (memory_class(value.opcode) != MemoryClass::kElementwise) return false;
  return std::ranges::any_of(value.operands, [&](const Instruction* operand) {
    return reads_beside_its_place(*operand, array, place, depth + 1);
  });
}

/// Replaces an update that can't be done in place by a new array, which may be written over the old one.
Instruction* concatenate_shifted(const Instruction& i, const Part& part, Maker& maker) {
  const Dims& extents = i.shape.dims;
  if (part.size == extents || !reads_beside_its_place(*part.of, i.operand(0), part, 0)) return nullptr;
  Instruction* made = part.of;
  Dims start = part.start, size = part.size;  // of the part computed so far
  for (size_t d = extents.size(); d-- > 0;) {
    if (size[d] == extents[d]) continue;
    std::vector<Instruction*> operands{made};
    const int64_t end = start[d] + size[d];
    if (start[d] > 0) {
      Dims before = start, count = size;
      before[d] = 0, count[d] = start[d];
      operands.insert(operands.begin(), box_of(i.operands[0], before, count, maker));
    }
    if (end < extents[d]) {
      Dims after = start, count = size;
      after[d] = end, count[d] = extents[d] - end;
      operands.push_back(box_of(i.operands[0], after, count, maker));
    }
    start[d] = 0, size[d] = extents[d];
    made = maker.make(Opcode::kConcatenate, Shape::array(i.shape.type, size), operands,
                      DimensionsAttributes{{static_cast<int64_t>(d)}});
  }
  return made;
}

Instruction* join_update(const Instruction& i, Maker& maker) {
  const auto part = written(i);
  if (!part) return nullptr;
  if (const auto before = written(i.operand(0)); before && covers(*part, *before)) {
    return with_box(i.operand(0).operands[0], part->of, part->start, maker);
  }
  if (Instruction* made = leave_what_stands(i, *part, maker)) return made;
  Instruction* made = may_concatenate(i) ? concatenate_updates(i, maker) : nullptr;
  return made ? made : concatenate_shifted(i, *part, maker);
}

Instruction* join_slice(const Instruction& i, Maker& maker) {
  const Instruction& from = i.operand(0);
  const Part outer = part_of(const_cast<Instruction*>(&i)), inner = part_of(i.operands[0]);
  if (outer.of == &i || from.opcode != Opcode::kSlice || inner.of == &from) return nullptr;
  Dims start = outer.start;
  for (size_t d = 0; d < start.size(); ++d) start[d] += inner.start[d];
  return box_of(inner.of, start, outer.size, maker);
}

Instruction* join_dynamic_slice(const Instruction& i, Maker& maker) {
  const auto corner = known_corner(i, 1, i.shape.dims);
  return corner ? box_of(i.operands[0], *corner, i.shape.dims, maker) : nullptr;
}

Instruction* operand_of_alone(const Instruction& i) {
  const bool moves_nothing = i.opcode == Opcode::kAllReduce || i.opcode == Opcode::kAllGather ||
                             i.opcode == Opcode::kReduceScatter || i.opcode == Opcode::kAllToAll;
  const bool to_itself = i.opcode == Opcode::kCollectivePermute && i.operands.size() == 1 &&
                         i.as<CollectiveAttributes>().source_target_pairs == "{{0,0}}";
  if (i.operands.size() != 1 || i.shape.dims != i.operand(0).shape.dims) return nullptr;
  return (moves_nothing || to_itself) && is_alone(i) ? i.operands[0] : nullptr;
}

Instruction* join(const Instruction& i, bool partitioned, Maker& maker) {
  switch (i.opcode) {
    case Opcode::kConcatenate: return join_concatenate(i, maker);
    case Opcode::kDynamicUpdateSlice: return join_update(i, maker);
    case Opcode::kDynamicSlice: return join_dynamic_slice(i, maker);
    case Opcode::kSlice: return join_slice(i, maker);
    default: return partitioned ? nullptr : operand_of_alone(i);
  }
}

}  // namespace

Result<PassResult> join_boxes(Module& module) {
  const bool partitioned = is_partitioned(module);
  return rewrite_each(
      module,
      [&](Instruction& i, Maker& maker) -> Instruction* {
        if (!i.shape.dynamic.empty() || (partitioned && i.sharding)) return nullptr;
        return join(i, partitioned, maker);
      },
      "moves joined");
}

}  // namespace lowtide::engine
