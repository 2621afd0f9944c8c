/// bitcast: the same bytes under another shape; element k of the operand in the order of its layout becomes element k
/// of the result in the order of its own.
///   operand T[s]{layout} -> U[r]{layout}, declared
///   (C1) operand and result are arrays  (C2) they have equally many bits: logical ones or, if a tiled layout pads
///   either, bits with padding (programs for TPUs read a scalar from the start of a padded vector)
///
/// bitcast-convert: the bits of each element, read as another type.
///   operand T[s] -> U[s]               where T and U have equally many bits
///                -> U[s, bits(T)/bits(U)]  where U is narrower
///   operand T[s, bits(U)/bits(T)] -> U[s]  where U is wider
///   (C1) operand and result are arrays  (C2) the extents are those above

#include <fmt/format.h>

#include <algorithm>

#include "ops/bit_elements.h"
#include "ops/dimension_roles.h"
#include "ops/elementwise.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

bool is_tiled(const Shape& shape) { return shape.layout && !shape.layout->tiles.empty(); }

/// Do both have equally many bits? Counted in units of the narrower type's width.
bool same_logical_bits(const Shape& a, const Shape& b) {
  const int64_t unit = std::min(type_bits(a.type), type_bits(b.type));  // widths are powers of two
  int64_t bits_a = 0, bits_b = 0;
  return !__builtin_mul_overflow(element_count(a), type_bits(a.type) / unit, &bits_a) &&
         !__builtin_mul_overflow(element_count(b), type_bits(b.type) / unit, &bits_b) && bits_a == bits_b;
}

Result<Shape> infer_bitcast(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Shape& result = instruction.shape;
  LT_RETURN_IF_ERROR(checked(instruction, operand).status());
  const bool unbounded = contains(operand.dims, kUnboundedDim) || contains(result.dims, kUnboundedDim);
  const bool padded = is_tiled(operand) && is_tiled(result) && padded_bytes(operand) == padded_bytes(result);
  if (!unbounded && !padded && !same_logical_bits(operand, result)) {
    return broken(instruction, "C2",
                  fmt::format("{} and {} do not have equally many bits", to_string_without_layout(operand),
                              to_string_without_layout(result)));
  }
  return result;
}

Result<Shape> infer_convert(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const int64_t from = type_bits(operand.type);
  const int64_t to = type_bits(instruction.shape.type);
  Shape result = with_type(operand, instruction.shape.type);
  if (from > to && from % to == 0) {
    result.dims.push_back(from / to);
    if (!result.dynamic.empty()) result.dynamic.push_back(false);
  } else if (from < to && to % from == 0 && !result.dims.empty() && agree(result.dims.back(), to / from)) {
    result.dims.pop_back();
    if (!result.dynamic.empty()) result.dynamic.pop_back();
  } else if (from != to) {
    return broken(instruction, "C2",
                  fmt::format("{} elements of {} bits cannot be read as {} of {} bits",
                              to_string_without_layout(operand), from, type_name(result.type), to));
  }
  if (!same_extents(result, instruction.shape)) {
    return broken(instruction, "C2",
                  fmt::format("{} read as {} has shape {}, but {} is declared", to_string_without_layout(operand),
                              type_name(result.type), to_string_without_layout(result),
                              to_string_without_layout(instruction.shape)));
  }
  return result;
}

/// The strides of an array's elements stored in the order of its layout, without padding.
Dims physical_steps(const Shape& shape) {
  if (!shape.layout || shape.layout->minor_to_major.size() != shape.dims.size()) return row_major_strides(shape.dims);
  Dims steps(shape.dims.size(), 1);
  int64_t step = 1;
  for (const int64_t d : shape.layout->minor_to_major) {
    steps[d] = step;
    step *= shape.dims[d];
  }
  return steps;
}

/// Appends the bits of all elements in order, the lowest bit first.
void append_bits(const Literal& array, std::vector<bool>& bits) {
  const int width = type_bits(array.shape().type);
  const int bytes = stored_bytes(array.shape().type);
  for (int64_t i = 0; i < array.size(); ++i) {
    for (int b = 0; b < width; ++b) {
      const auto byte = array.bytes()[i * bytes + b / 8];
      bits.push_back((std::to_integer<int>(byte) >> (b % 8)) & 1);
    }
  }
}

void set_bits(const std::vector<bool>& bits, Literal& array) {
  const int width = type_bits(array.shape().type);
  const int bytes = stored_bytes(array.shape().type);
  const bool extends = type_kind(array.shape().type) == TypeKind::kSigned && width < 8;
  for (int64_t i = 0; i < array.size(); ++i) {
    for (int b = 0; b < bytes * 8; ++b) {
      const int from = b < width ? b : width - 1;  // above the width: copies of the sign, or zeros
      if ((b < width || extends) && bits[i * width + from]) {
        array.bytes()[i * bytes + b / 8] |= std::byte(1 << (b % 8));
      }
    }
  }
}

/// Copies the elements in row-major order, with their bits read as the type of `to`.
void reinterpret(const Literal& from, Literal& to) {
  const bool whole_bytes = type_bits(from.shape().type) % 8 == 0 && type_bits(to.shape().type) % 8 == 0;
  if (whole_bytes && to.shape().type != ElementType::kPred) {
    std::ranges::copy(from.bytes(), to.bytes().begin());
    return;
  }
  if (whole_bytes) {  // any byte but zero is a true predicate
    std::ranges::transform(from.bytes(), to.bytes().begin(),
                           [](std::byte byte) { return std::byte{byte != std::byte{0}}; });
    return;
  }
  std::vector<bool> bits;
  bits.reserve(static_cast<size_t>(from.size() * type_bits(from.shape().type)));
  append_bits(from, bits);
  set_bits(bits, to);
}

Result<Value> eval_bitcast(const Instruction& instruction, Operands operands, EvalContext&) {
  const Shape& shape = instruction.operand(0).shape;
  if (!same_logical_bits(shape, instruction.shape)) {
    return Status::unsupported("bitcast: reading into the padding of a tiled layout is not executed");
  }
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> from, new_array(shape));
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> to, new_array(instruction.shape));
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  copy_strided({shape.dims, physical_steps(shape), row_major_strides(shape.dims)}, *operands[0], *from);
  reinterpret(*from, *to);
  copy_strided({to->shape().dims, row_major_strides(to->shape().dims), physical_steps(to->shape())}, *to, *result);
  return Value(result);
}

Result<Value> eval_convert(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  reinterpret(*operands[0], *result);
  return Value(result);
}

/// Dimensions from the outermost in memory to the innermost.
std::vector<size_t> physical_order(const Shape& shape) {
  std::vector<size_t> order(shape.dims.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  if (shape.layout && shape.layout->minor_to_major.size() == order.size()) {
    const Dims& minor_to_major = shape.layout->minor_to_major;
    for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<size_t>(minor_to_major[order.size() - 1 - d]);
  }
  return order;
}

Affine physical_position(NestBuilder& nest, const Shape& shape, const Index& index) {
  Index ordered;
  Dims extents;
  for (const size_t d : physical_order(shape)) {
    ordered.push_back(index[d]);
    extents.push_back(shape.dims[d]);
  }
  return nest.position(ordered, extents);
}

Index index_at_physical(NestBuilder& nest, const Shape& shape, const Affine& position) {
  const std::vector<size_t> order = physical_order(shape);
  Dims extents;
  for (const size_t d : order) extents.push_back(shape.dims[d]);
  const Index ordered = nest.index_at(position, extents);
  Index index(order.size());
  for (size_t k = 0; k < order.size(); ++k) index[order[k]] = ordered[k];
  return index;
}

void element_bitcast(ElementContext& context, const Instruction& instruction, const Index& index,
                     std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const Instruction& operand = instruction.operand(0);
  const Shape& result = instruction.shape;
  const int from = type_bits(operand.shape.type), to = type_bits(result.type);
  const Affine at = physical_position(nest, result, index);
  const auto element = [&](const Affine& position) {
    return context.element(operand, index_at_physical(nest, operand.shape, position));
  };
  if (from > to) {
    leaves[0] =
        part_of_bits(nest, element(nest.floor_divide(at, from / to)), nest.remainder(at, from / to), result.type);
    return;
  }
  std::vector<NodeId> parts;
  for (int64_t k = 0; k < to / from; ++k) {
    parts.push_back(element(nest.plus(nest.times(at, to / from), NestBuilder::fixed(k))));
  }
  leaves[0] = joined_bits(nest, parts, result.type);
}

bool has_element_bitcast(const Instruction& instruction) {
  return same_logical_bits(instruction.operand(0).shape, instruction.shape);
}

void element_convert(ElementContext& context, const Instruction& instruction, const Index& index,
                     std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const Instruction& operand = instruction.operand(0);
  const ElementType type = instruction.shape.type;
  const int from = type_bits(operand.shape.type), to = type_bits(type);
  if (from > to) {
    const Index outer(index.begin(), index.end() - 1);
    leaves[0] = part_of_bits(nest, context.element(operand, outer), index.back(), type);
    return;
  }
  std::vector<NodeId> parts;
  for (int64_t k = 0; k < to / from; ++k) {
    Index at = index;
    if (from < to) at.push_back(NestBuilder::fixed(k));
    parts.push_back(context.element(operand, at));
  }
  leaves[0] = joined_bits(nest, parts, type);
}

void extents_of_bitcast_convert(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const size_t whole = std::min(i.shape.dims.size(), i.operand(0).shape.dims.size());
  for (size_t d = 0; d < whole; ++d) r.unite(r.mine(d), r.of_operand(0, d));
  const ExtentReason reason = r.why("bits of one element");
  for (size_t d = whole; d < i.shape.dims.size(); ++d) r.all().freeze(r.mine(d), reason);
  for (size_t d = whole; d < i.operand(0).shape.dims.size(); ++d) r.all().freeze(r.of_operand(0, d), reason);
}

/// The dimensions in memory order, outermost first; nullopt if tiles pad them.
std::optional<Product> as_it_lies(const ExtentRelater& r, const Instruction& array) {
  const std::vector<Product>& dims = r.leaf_of(array, 0);
  if (!array.shape.layout) return row_major(dims);
  if (!array.shape.layout->tiles.empty()) return std::nullopt;
  std::vector<Product> lying;
  for (const int64_t d : array.shape.layout->minor_to_major) lying.insert(lying.begin(), dims[d]);
  return row_major(lying);
}

void extents_of_bitcast(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const auto from = as_it_lies(r, i.operand(0)), to = as_it_lies(r, i);
  const bool regroups = from && to && i.shape.type == i.operand(0).shape.type;
  if (regroups)
    r.regroup(*from, *to);
  else
    unknown_extents(r);
}

/// Reads element by element if operand and result have the same extents, otherwise in order.
void reads_of_bitcast_convert(OperandReads& reads) {
  if (reads.user().shape.dims != reads.read().dims) reads_in_order(reads);
}

}  // namespace

const OpRule kBitcastRule{
    .infer = infer_bitcast,
    .eval = eval_bitcast,
    .element = element_bitcast,
    .has_element = has_element_bitcast,
    .slicing = not_sliced(regrouped_dimensions),
    .extents = extents_of_bitcast,
    .reads = reads_in_order,
    .arithmetic = {.plain = 2, .complex = 2, .code = 1, .rounds = Rounds::kNever, .terms = no_sum}};
const OpRule kBitcastConvertRule{.infer = infer_convert,
                                 .eval = eval_convert,
                                 .element = element_convert,
                                 .slicing = not_sliced(same_dimensions),
                                 .extents = extents_of_bitcast_convert,
                                 .reads = reads_of_bitcast_convert,
                                 .arithmetic = kOneOperation};

}  // namespace lowtide::engine
