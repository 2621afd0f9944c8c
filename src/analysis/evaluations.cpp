#include "analysis/evaluations.h"

#include <algorithm>
#include <cstdlib>

#include "analysis/trip_count.h"

namespace lowtide::engine {
namespace {

constexpr uint64_t kScalarMap = 1;  ///< nothing varies: one evaluation serves a whole kernel

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

uint64_t mix(uint64_t hash, const Dims& dims) {
  hash = mix(hash, dims.size());
  for (const int64_t d : dims) hash = mix(hash, static_cast<uint64_t>(d));
  return hash;
}

uint64_t attributes_hash(const Instruction& user) {
  uint64_t hash = static_cast<uint64_t>(user.opcode);
  if (const auto* a = user.if_as<DimensionsAttributes>()) hash = mix(hash, a->dimensions);
  if (const auto* a = user.if_as<SliceAttributes>()) hash = mix(mix(mix(hash, a->starts), a->limits), a->strides);
  if (const auto* a = user.if_as<PadAttributes>()) hash = mix(mix(mix(hash, a->low), a->high), a->interior);
  if (const auto* a = user.if_as<DynamicSliceAttributes>()) hash = mix(hash, a->sizes);
  if (const auto* a = user.if_as<GatherAttributes>()) hash = mix(mix(hash, a->slice_sizes), a->start_index_map);
  return hash;
}

/// Does operand dimension order put every new dimension of a broadcast inside those it keeps?
bool adds_inner_dimensions(const Instruction& broadcast) {
  const Dims& map = broadcast.as<DimensionsAttributes>().dimensions;
  const Dims& extents = broadcast.shape.dims;
  std::vector<bool> kept(extents.size(), false);
  for (const int64_t d : map) kept[static_cast<size_t>(d)] = true;
  bool fresh = false;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) continue;
    if (kept[d] && fresh) return false;
    fresh |= !kept[d];
  }
  return true;
}

bool has_equal_operands(const Instruction& user) {
  return std::ranges::all_of(user.operands,
                             [&](const Instruction* o) { return o->shape.dims == user.operand(0).shape.dims; });
}

double product(const Dims& dims) {
  double all = 1;
  for (const int64_t d : dims) all *= static_cast<double>(std::max<int64_t>(d, 1));
  return all;
}

double contracted(const Instruction& dot) {
  double all = 1;
  for (const int64_t d : dot.as<DotAttributes>().lhs_contracting_dims) {
    all *= static_cast<double>(dot.operand(0).shape.dims[static_cast<size_t>(d)]);
  }
  return all;
}

double taps(const Instruction& convolution) {
  const auto& a = convolution.as<ConvolutionAttributes>();
  return product(a.window.size) *
         static_cast<double>(convolution.operand(1).shape.dims[static_cast<size_t>(a.kernel_input_feature)]);
}

}  // namespace

double elements_of(const Shape& shape) {
  double most = 0;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (leaf.is_array()) most = std::max(most, product(leaf.dims));
  });
  return most;
}

double terms_of(const Instruction& i) {
  const Evaluations one = evaluations_of_operand({0, 0, 1, true}, i, 0, i.operand(0).shape, false);
  return std::max(1.0, one.count);
}

double guessed_trips(const Instruction& loop) {
  // `i < n` or its like against a constant: the constant is the count as a rule, in steps. Beside another condition it
  // is what the loop should not reach.
  constexpr double kMostOfSeveral = 100;
  const double most = loop.called[0]->root->opcode == Opcode::kAnd ? kMostOfSeveral : 1e9;
  for (const auto& i : loop.called[0]->instructions()) {
    if (i->opcode != Opcode::kConstant || !is_integral(i->shape.type) || element_count(i->shape) != 1) continue;
    const Literal& value = *i->as<ConstantAttributes>().value;
    if (!value.known()) continue;
    const double step = static_cast<double>(std::abs(trip_step(loop).value_or(1)));
    return std::clamp(static_cast<double>(integer_at(value, 0)) / std::max(1.0, step), 1.0, most);
  }
  return 32;
}

Evaluations evaluations_of_root(int32_t kernel, const Shape& shape) {
  uint64_t map = 7;
  double most = -1;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (!leaf.is_array() || product(leaf.dims) <= most) return;
    most = product(leaf.dims);
    map = mix(7, leaf.dims);
  });
  return {kernel, map, std::max(most, 1.0), true};
}

Evaluations evaluations_of_operand(const Evaluations& of_user, const Instruction& user, int32_t operand,
                                   const Shape& read, bool update) {
  Evaluations e = of_user;
  const double count = product(read.dims);
  if (count <= 1) return {e.kernel, kScalarMap, 1, true};
  const double whole = std::max(1.0, elements_of(user.shape));
  const double repeats = std::max(1.0, e.count / whole);  // of the user, as far as it isn't merely in part
  const auto through = [&](double evaluations, bool ordered) {
    e.map = mix(mix(mix(e.map, attributes_hash(user)), read.dims), user.shape.dims);
    e.count = evaluations;
    e.ordered = e.ordered && ordered;
  };
  const auto in_own_loop = [&](double evaluations) {
    through(evaluations, true);
    e.map = mix(mix(e.map, static_cast<uint64_t>(user.id)), static_cast<uint64_t>(operand));
  };
  if (update) {
    in_own_loop(count);
    return e;
  }
  switch (user.opcode) {
    case Opcode::kBroadcast: {
      const bool hoisted = e.ordered && adds_inner_dimensions(user);
      through(hoisted ? repeats * count : e.count, hoisted || count == whole);
      return e;
    }
    case Opcode::kBitcastConvert:
      if (user.shape.dims == read.dims) return e;  // element by element
      through(e.count, true);
      return e;
    case Opcode::kReshape:
    case Opcode::kBitcast: through(e.count, true); return e;
    case Opcode::kTranspose: through(e.count, false); return e;
    case Opcode::kSlice:
    case Opcode::kReverse: through(e.count, true); return e;
    case Opcode::kConcatenate:
      // Parts of equal extents are made together, and share what they have in common.
      through(std::min(e.count, repeats * count), true);
      if (!has_equal_operands(user)) e.map = mix(e.map, static_cast<uint64_t>(operand));
      return e;
    case Opcode::kPad:
      through(std::min(e.count, repeats * count), true);
      e.map = mix(e.map, static_cast<uint64_t>(operand));
      return e;
    case Opcode::kDynamicSlice:
      for (const Instruction* o : user.operands) e.map = mix(e.map, static_cast<uint64_t>(o->id));
      through(e.count, true);
      return e;
    case Opcode::kDynamicUpdateSlice: through(e.count, operand == 0); return e;
    case Opcode::kGather:
      if (operand == 0) {
        e.map = mix(e.map, static_cast<uint64_t>(user.operand(1).id));
        through(e.count, false);
      } else if (user.shape.dims == read.dims && user.as<GatherAttributes>().offset_dims.empty()) {
        return e;  // one index for each element, and of no dimension of its own: a table is looked up
      } else {
        through(std::max(count, e.count / product(user.as<GatherAttributes>().slice_sizes)), true);
      }
      return e;
    case Opcode::kReduce: in_own_loop(e.count * std::max(1.0, count / whole)); return e;
    case Opcode::kReduceWindow: in_own_loop(e.count * product(user.as<WindowAttributes>().window.size)); return e;
    case Opcode::kSelectAndScatter: in_own_loop(e.count * product(user.as<WindowAttributes>().window.size)); return e;
    case Opcode::kDot: in_own_loop(e.count * contracted(user)); return e;
    case Opcode::kRngBitGenerator: in_own_loop(count); return e;
    case Opcode::kConvolution: in_own_loop(e.count * taps(user)); return e;
    default: break;
  }
  bool same = false;
  for_each_leaf(user.shape, [&](const ShapeIndex&, const Shape& leaf) { same |= leaf.dims == read.dims; });
  // A loop, or a branch, may read its invariant operands anywhere.
  if (same && memory_class(user.opcode) != MemoryClass::kElementwise) through(e.count, true);
  if (!same) in_own_loop(std::max(e.count, count));
  return e;
}

}  // namespace lowtide::engine
