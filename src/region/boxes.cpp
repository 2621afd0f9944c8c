#include "region/boxes.h"

#include <algorithm>
#include <unordered_map>

#include "ir/literal.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Box whole(const Shape& shape) {
  Box box;
  for (const int64_t d : shape.dims) box.push_back({0, d});
  return box;
}

/// Tuples have no box: they are needed whole.
Box whole_of(const Instruction& i) { return i.shape.is_array() ? whole(i.shape) : Box(); }

bool is_empty(const Box& box) {
  return std::any_of(box.begin(), box.end(), [](const Interval& i) { return i.begin >= i.end; });
}

void join(std::optional<Box>& box, const Box& more) {
  if (is_empty(more)) return;
  if (!box) {
    box = more;
    return;
  }
  for (size_t d = 0; d < more.size(); ++d) {
    (*box)[d].begin = std::min((*box)[d].begin, more[d].begin);
    (*box)[d].end = std::max((*box)[d].end, more[d].end);
  }
}

/// Maps a box back through a reshape that only adds or drops dimensions of extent one.
std::optional<Box> through_units(const Shape& from, const Shape& to, const Box& box) {
  Box read;
  size_t k = 0;
  for (const int64_t extent : from.dims) {
    if (extent == 1) {
      read.push_back({0, 1});
      continue;
    }
    while (k < to.dims.size() && to.dims[k] == 1) ++k;
    if (k == to.dims.size() || to.dims[k] != extent) return std::nullopt;
    read.push_back(box[k++]);
  }
  return read;
}

/// The box that `user` reads of its operand number `operand` to compute the elements in `box`.
Box box_of_operand(const Instruction& user, size_t operand, const Box& box) {
  const Shape& read = user.operand(operand).shape;
  Box all = whole(read);
  switch (user.opcode) {
    case Opcode::kSlice: {
      const auto& a = user.as<SliceAttributes>();
      for (size_t d = 0; d < all.size(); ++d) {
        all[d] = {a.starts[d] + box[d].begin * a.strides[d], a.starts[d] + (box[d].end - 1) * a.strides[d] + 1};
      }
      return all;
    }
    case Opcode::kReverse:
      for (size_t d = 0; d < all.size(); ++d) all[d] = box[d];
      for (const int64_t d : user.as<DimensionsAttributes>().dimensions) {
        const auto k = static_cast<size_t>(d);
        all[k] = {read.dims[k] - box[k].end, read.dims[k] - box[k].begin};
      }
      return all;
    case Opcode::kBroadcast:
    case Opcode::kTranspose: {
      const Dims& map = user.as<DimensionsAttributes>().dimensions;
      for (size_t d = 0; d < map.size(); ++d) {
        const auto m = static_cast<size_t>(map[d]);
        if (user.opcode == Opcode::kTranspose) all[m] = box[d];
        if (user.opcode == Opcode::kBroadcast && read.dims[d] != 1) all[d] = box[m];
      }
      return all;
    }
    case Opcode::kReshape: return through_units(read, user.shape, box).value_or(all);
    case Opcode::kConcatenate: {
      const auto along = static_cast<size_t>(user.as<DimensionsAttributes>().dimensions[0]);
      int64_t before = 0;
      for (size_t k = 0; k < operand; ++k) before += user.operand(k).shape.dims[along];
      for (size_t d = 0; d < all.size(); ++d) {
        if (d != along) all[d] = box[d];
      }
      all[along] = {std::max<int64_t>(0, box[along].begin - before),
                    std::min(read.dims[along], box[along].end - before)};
      return all;
    }
    case Opcode::kPad: {
      if (operand != 0) return all;
      const auto& a = user.as<PadAttributes>();
      for (size_t d = 0; d < all.size(); ++d) {
        if (a.interior[d] != 0) continue;
        all[d] = {std::max<int64_t>(0, box[d].begin - a.low[d]), std::min(read.dims[d], box[d].end - a.low[d])};
      }
      return all;
    }
    default: break;
  }
  const bool same = memory_class(user.opcode) == MemoryClass::kElementwise && read.dims == user.shape.dims;
  return same ? box : all;
}

std::optional<int64_t> constant_index(const Instruction& value, int64_t element) {
  const LeafRef made = resolve({&value, 0});
  const auto* constant = made.instruction->if_as<ConstantAttributes>();
  if (!constant || !constant->value->known() || !is_integral(constant->value->shape().type)) return std::nullopt;
  return index_at(*constant->value, element);
}

Interval clamped(int64_t start, int64_t size, int64_t extent) {
  const int64_t begin = std::clamp<int64_t>(start, 0, std::max<int64_t>(0, extent - size));
  return {begin, begin + size};
}

Box written_by_scatter(const Instruction& scatter) {
  Box box = whole(scatter.shape);
  const auto& a = scatter.as<ScatterAttributes>();
  if (scatter.operands.size() != 3 || !a.input_batching_dims.empty()) return box;
  const Instruction& indices = scatter.operand(1);
  const Shape& update = scatter.operand(2).shape;
  const auto places = static_cast<int64_t>(a.scatter_dims_to_operand_dims.size());
  if (element_count(indices.shape) != places) return box;  // more than one window
  Dims sizes(box.size(), 1);
  size_t next = 0;
  for (size_t d = 0; d < box.size(); ++d) {
    const auto& inserted = a.inserted_window_dims;
    if (std::find(inserted.begin(), inserted.end(), static_cast<int64_t>(d)) != inserted.end()) continue;
    sizes[d] = update.dims[a.update_window_dims[next++]];
    if (sizes[d] == box[d].end) continue;
    box[d] = {0, box[d].end};
  }
  for (int64_t k = 0; k < places; ++k) {
    const auto d = static_cast<size_t>(a.scatter_dims_to_operand_dims[k]);
    const std::optional<int64_t> start = constant_index(indices, k);
    if (start && *start >= 0 && *start <= box[d].end - sizes[d]) box[d] = {*start, *start + sizes[d]};
  }
  return box;
}

}  // namespace

Box written_box(const Instruction& update) {
  if (update.opcode == Opcode::kScatter) return written_by_scatter(update);
  Box box = whole(update.shape);
  if (update.opcode != Opcode::kDynamicUpdateSlice) return box;
  const Dims& sizes = update.operand(1).shape.dims;
  for (size_t d = 0; d < box.size(); ++d) {
    const std::optional<int64_t> start = constant_index(update.operand(2 + d), 0);
    if (start) box[d] = clamped(*start, sizes[d], update.shape.dims[d]);
  }
  return box;
}

std::optional<Box> box_read(const Region& region, size_t input) {
  const LeafRef wanted = region.inputs[input];
  std::optional<Box> read;
  std::unordered_map<const Instruction*, std::optional<Box>> made;
  std::unordered_map<const Instruction*, int> updated;
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    const Instruction& output = *region.outputs[k].instruction;
    join(made[&output], whole_of(output));
    if (region.updates[k].instruction) updated[&output] = updated_operand(region, k);
  }
  for (auto op = region.ops.rbegin(); op != region.ops.rend(); ++op) {
    const std::optional<Box> box = made[*op];
    if (!box) continue;
    const auto update = updated.find(*op);
    for (size_t k = 0; k < (*op)->operands.size(); ++k) {
      if (update != updated.end() && update->second == static_cast<int>(k)) continue;
      int32_t number = 0;
      for_each_leaf((*op)->operands[k]->shape, [&](const ShapeIndex&, const Shape& shape) {
        const LeafRef source = resolve({(*op)->operands[k], number++});
        if (!shape.is_array()) return;
        const bool plain = update == updated.end() && (*op)->operands[k]->shape.is_array() && (*op)->shape.is_array();
        const Box theirs = plain ? box_of_operand(**op, k, *box) : whole(shape);
        if (source == wanted) {
          join(read, theirs);
        } else {
          join(made[source.instruction], source.instruction->shape.is_array() ? theirs : Box());
        }
      });
    }
  }
  return read;
}

bool reads_apart_from_update(const Region& region, size_t output) {
  const LeafRef updated = region.updates[output];
  const auto input = std::find(region.inputs.begin(), region.inputs.end(), updated);
  if (input == region.inputs.end()) return true;
  const std::optional<Box> read = box_read(region, static_cast<size_t>(input - region.inputs.begin()));
  if (!read) return true;
  const Box written = written_box(*region.outputs[output].instruction);
  for (size_t d = 0; d < written.size(); ++d) {
    if ((*read)[d].end <= written[d].begin || written[d].end <= (*read)[d].begin) return true;
  }
  return false;
}

}  // namespace lowtide::engine
