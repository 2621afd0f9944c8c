#include "passes/rules/split_concatenated_convolutions.h"

#include <algorithm>
#include <optional>

#include "ops/dimension_roles.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLeastBytes = int64_t{1} << 20;

/// Operand `joined` of a product, a concatenation along dimension `along`.
struct Joined {
  size_t operand;
  int64_t along;
  OperandDimension role;  ///< of that dimension
};

/// Extents of the array with those of one dimension replaced.
Dims resized(const Shape& shape, int64_t d, int64_t extent) {
  Dims dims = shape.dims;
  dims[d] = extent;
  return dims;
}

/// The product with the concatenation replaced by one of its parts.
Instruction* product_of(const Instruction& product, const Joined& joined, Instruction* part, Instruction* other,
                        const Dims& dims, Maker& maker) {
  std::vector<Instruction*> operands{part, other};
  if (joined.operand == 1) std::swap(operands[0], operands[1]);
  return maker.like(product, Shape::array(product.shape.type, dims), std::move(operands));
}

/// Products of rows of the concatenation are rows of the result.
Instruction* concatenated(const Instruction& product, const Joined& joined, Maker& maker) {
  const Instruction& whole = product.operand(joined.operand);
  const int64_t rows = joined.role.result_dimension;
  const auto has_rows = [&](const OperandDimension& role) { return role.result_dimension == rows; };
  if (!joined.role.is_in_step() || std::ranges::any_of(operand_roles(product, 1 - joined.operand), has_rows) ||
      2 * logical_bytes(product.shape) > logical_bytes(whole.shape)) {
    return nullptr;
  }
  std::vector<Instruction*> parts;
  for (Instruction* part : whole.operands) {
    const Dims dims = resized(product.shape, rows, part->shape.dims[joined.along]);
    parts.push_back(product_of(product, joined, part, product.operands[1 - joined.operand], dims, maker));
  }
  return maker.make(Opcode::kConcatenate, Shape::array(product.shape.type, product.shape.dims), std::move(parts),
                    DimensionsAttributes{{rows}});
}

/// The dimension of the other operand that is summed over together with the concatenation's.
std::optional<int64_t> summed_together(const Instruction& product, const Joined& joined) {
  const std::vector<OperandDimension> roles = operand_roles(product, 1 - joined.operand);
  const auto matches = [&](const OperandDimension& role) {
    return role.role == DimensionRole::kReduced && role.fold == joined.role.fold;
  };
  const auto found = std::ranges::find_if(roles, matches);
  const int64_t d = found - roles.begin();
  const Shape &other = product.operand(1 - joined.operand).shape, &whole = product.operand(joined.operand).shape;
  if (found == roles.end() || other.dims[d] != whole.dims[joined.along]) return std::nullopt;
  return d;
}

/// Sums over parts of the concatenation are added up.
Instruction* added(const Instruction& product, const Joined& joined, Maker& maker) {
  const Instruction& whole = product.operand(joined.operand);
  Instruction* const other = product.operands[1 - joined.operand];
  const bool is_rounded_once = is_wide_float(product.shape.type);
  const int64_t sums = std::ssize(whole.operands) - 1;
  if (joined.role.role != DimensionRole::kReduced || !is_rounded_once ||
      2 * sums * logical_bytes(product.shape) > logical_bytes(whole.shape)) {
    return nullptr;
  }
  const std::optional<int64_t> d = summed_together(product, joined);
  if (!d) return nullptr;
  Instruction* sum = nullptr;
  SliceAttributes slice{Dims(other->shape.dims.size(), 0), other->shape.dims, Dims(other->shape.dims.size(), 1)};
  int64_t at = 0;
  for (Instruction* part : whole.operands) {
    const int64_t extent = part->shape.dims[joined.along];
    slice.starts[*d] = at;
    slice.limits[*d] = at += extent;
    Instruction* const read =
        maker.make(Opcode::kSlice, Shape::array(other->shape.type, resized(other->shape, *d, extent)), {other}, slice);
    Instruction* const term = product_of(product, joined, part, read, product.shape.dims, maker);
    sum = sum == nullptr ? term : maker.binary(Opcode::kAdd, sum, term);
  }
  return sum;
}

Instruction* of_parts(const Instruction& product, Maker& maker) {
  if (!product.shape.dynamic.empty()) return nullptr;
  for (const size_t k : {size_t{0}, size_t{1}}) {
    const Instruction& whole = product.operand(k);
    if (whole.opcode != Opcode::kConcatenate || !whole.shape.dynamic.empty() || whole.operands.size() < 2) continue;
    if (logical_bytes(whole.shape) < kLeastBytes) continue;
    Joined joined{k, whole.as<DimensionsAttributes>().dimensions[0], {}};
    joined.role = operand_roles(product, k)[static_cast<size_t>(joined.along)];
    if (Instruction* made = concatenated(product, joined, maker)) return made;
    if (product.parent->module().sums_in_order) continue;
    if (Instruction* made = added(product, joined, maker)) return made;
  }
  return nullptr;
}

}  // namespace

Result<PassResult> split_concatenated_convolutions(Module& module) {
  return rewrite_each(module, {Opcode::kConvolution}, of_parts, "convolutions of concatenations");
}

}  // namespace lowtide::engine
