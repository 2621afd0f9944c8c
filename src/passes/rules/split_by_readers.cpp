#include "passes/rules/split_by_readers.h"

#include <algorithm>
#include <optional>

#include "analysis/uses.h"
#include "ops/dimension_roles.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

/// Smaller values aren't worth another packed operand.
constexpr int64_t kLeastSplitBytes = int64_t{1} << 20;
constexpr int64_t kLeastPartExtent = 16;   ///< so that a part's rows or columns still fill registers
constexpr int64_t kSmallOperandShare = 8;  ///< the operand that is sliced is smaller than the result by this factor

/// The one dimension that a slice with stride 1 narrows; nullopt: none, or several.
std::optional<size_t> narrowed_dimension(const Instruction& slice) {
  const auto& attributes = slice.as<SliceAttributes>();
  const Dims& extents = slice.operand(0).shape.dims;
  std::optional<size_t> narrowed;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (attributes.strides[d] != 1) return {};
    if (slice.shape.dims[d] == extents[d]) continue;
    if (narrowed) return {};
    narrowed = d;
  }
  return narrowed;
}

/// An operand, and its dimension, that a slice of the result along d needs only a slice of.
struct SlicedOperand {
  size_t operand;
  size_t dimension;
};

/// nullopt: not exactly one operand has a dimension that is the result's d, element by element.
std::optional<SlicedOperand> operand_along(const Instruction& i, size_t d) {
  std::optional<SlicedOperand> found;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const std::vector<OperandDimension> roles = operand_roles(i, k);
    for (size_t j = 0; j < roles.size(); ++j) {
      const OperandDimension& role = roles[j];
      if (role.role == DimensionRole::kOpaque || role.role == DimensionRole::kBlocked) return {};
      const bool walks = role.role == DimensionRole::kPointwise || role.role == DimensionRole::kWindowed;
      if (!walks || role.result_dimension != static_cast<int64_t>(d)) continue;
      const bool plain = role.is_in_step() && i.operand(k).shape.dims[j] == i.shape.dims[d];
      if (!plain || found) return {};
      found = SlicedOperand{k, j};
    }
  }
  return found;
}

bool is_grouped(const Instruction& i) {
  const auto* convolution = std::get_if<ConvolutionAttributes>(&i.attributes);
  return convolution != nullptr && (convolution->feature_group_count != 1 || convolution->batch_group_count != 1);
}

class Splitter {
 public:
  explicit Splitter(const Module& module) : uses_(module), ordered_(ordered_instructions(module)) {}

  /// What a slice of a product or convolution is computed as; null: it stays a slice.
  Instruction* rewrite(const Instruction& slice, Maker& maker) const {
    if (static_cast<size_t>(slice.id) >= ordered_.size()) return nullptr;
    const Instruction& whole = slice.operand(0);
    const auto along = split_dimension(whole);
    if (!along) return nullptr;
    const SlicedOperand of = *operand_along(whole, *along);
    const auto& taken = slice.as<SliceAttributes>();
    std::vector<Instruction*> operands = whole.operands;
    Instruction* const operand = operands[of.operand];
    Shape shape = Shape::array(operand->shape.type, operand->shape.dims);
    SliceAttributes part{Dims(shape.dims.size(), 0), shape.dims, Dims(shape.dims.size(), 1)};
    part.starts[of.dimension] = taken.starts[*along];
    part.limits[of.dimension] = taken.limits[*along];
    shape.dims[of.dimension] = slice.shape.dims[*along];
    operands[of.operand] = maker.make(Opcode::kSlice, shape, {operand}, part);
    return maker.like(whole, Shape::array(whole.shape.type, slice.shape.dims), operands);
  }

 private:
  /// The dimension along which all readers of a product or convolution take parts of their own.
  std::optional<size_t> split_dimension(const Instruction& whole) const {
    const auto id = static_cast<size_t>(whole.id);
    if (whole.opcode != Opcode::kDot && whole.opcode != Opcode::kConvolution) return {};
    if (id >= ordered_.size() || ordered_[id] || &whole == whole.parent->root || !is_plain_array(whole)) return {};
    if (logical_bytes(whole.shape) < kLeastSplitBytes || is_grouped(whole)) return {};
    std::optional<size_t> along;
    std::vector<std::pair<int64_t, int64_t>> parts;
    for (const Instruction* reader : uses_.of(whole)) {
      if (reader->opcode != Opcode::kSlice) return {};
      const auto d = narrowed_dimension(*reader);
      if (!d || (along && *along != *d) || reader->shape.dims[*d] < kLeastPartExtent) return {};
      along = d;
      const auto& taken = reader->as<SliceAttributes>();
      parts.emplace_back(taken.starts[*d], taken.limits[*d]);
    }
    if (parts.size() < 2) return {};
    std::ranges::sort(parts);
    for (size_t k = 1; k < parts.size(); ++k)
      if (parts[k].first < parts[k - 1].second) return {};
    const auto of = operand_along(whole, *along);
    if (!of || logical_bytes(whole.operand(of->operand).shape) * kSmallOperandShare > logical_bytes(whole.shape))
      return {};
    return along;
  }

  Uses uses_;
  std::vector<bool> ordered_;
};

}  // namespace

Result<PassResult> split_by_readers(Module& module) {
  if (!has_any(module, {Opcode::kSlice})) return PassResult{};
  const Splitter splitter(module);
  return rewrite_each(
      module, {Opcode::kSlice}, [&](Instruction& i, Maker& maker) { return splitter.rewrite(i, maker); },
      "slices computed by themselves");
}

}  // namespace lowtide::engine
