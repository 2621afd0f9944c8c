#include "ops/window.h"
#include "passes/resize/operation_extents.h"

namespace lowtide::engine {
namespace {

using Slot = ExtentTie::Slot;

/// Along one dimension: base, window, and where windows stand. `window`: of which it has its size; null: a literal one.
struct Line {
  const Product* base = nullptr;
  const Product* window = nullptr;
  const Product* positions = nullptr;
};

void relate_line(const Instruction& i, const Window& w, size_t d, const Line& line, ModuleExtents& extents) {
  Atoms& atoms = extents.atoms();
  const ExtentReason why = {"windows over it", &i};
  const int64_t base = atoms.extent(*line.base), positions = atoms.extent(*line.positions), size = w.size[d];
  const bool plain = w.stride[d] == 1 && w.lhs_dilate[d] == 1 && w.rhs_dilate[d] == 1;
  if (plain && line.window == nullptr && size == base && size > 1) {
    // Windows over all elements, or over all preceding or following ones.
    const bool all = positions == 1 && w.pad_low[d] == 0 && w.pad_high[d] == 0;
    const bool before = positions == base && w.pad_low[d] == base - 1 && w.pad_high[d] == 0;
    const bool after = positions == base && w.pad_low[d] == 0 && w.pad_high[d] == base - 1;
    if (all || before || after) {
      if (!all) atoms.unite(*line.base, *line.positions, why);
      extents.tie(i, Slot::kWindowSize, d, ExtentSum(*line.base));
      if (before) extents.tie(i, Slot::kWindowLow, d, ExtentSum(*line.base, -1));
      if (after) extents.tie(i, Slot::kWindowHigh, d, ExtentSum(*line.base, -1));
      return;
    }
  }
  if (size == 1 && plain && base == positions) return atoms.unite(*line.base, *line.positions, why);
  if (base == 0 || positions == 0) return atoms.freeze(*line.base, why), atoms.freeze(*line.positions, why);
  // lhs_dilate base - stride positions - rhs_dilate window is the same; what a last window leaves over included.
  ExtentSum zero;
  zero.add(w.lhs_dilate[d], *line.base).add(-w.stride[d], *line.positions);
  zero.constant = w.stride[d] * positions - w.lhs_dilate[d] * base;
  if (line.window != nullptr) {
    zero.add(-w.rhs_dilate[d], *line.window);
    zero.constant += w.rhs_dilate[d] * size;
    extents.tie(i, Slot::kWindowSize, d, ExtentSum(*line.window));
  }
  extents.relate(zero, why);
}

void relate_groups(const Instruction& i, const ConvolutionAttributes& a, ModuleExtents& extents) {
  Atoms& atoms = extents.atoms();
  const auto dim = [&](size_t k, int64_t d) { return extents.dimension(i.operand(k), 0, static_cast<size_t>(d)); };
  const auto result = [&](int64_t d) { return extents.dimension(i, 0, static_cast<size_t>(d)); };
  const ExtentReason why = {"groups of features", &i};
  const auto times = [](Product a, const Product& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  if (a.feature_group_count > 1) {
    const Product groups = atoms.make(a.feature_group_count);
    const Product each = atoms.make(atoms.extent(dim(1, a.kernel_output_feature)) / a.feature_group_count);
    atoms.unite(dim(0, a.input_feature), times(groups, dim(1, a.kernel_input_feature)), why);
    atoms.unite(dim(1, a.kernel_output_feature), times(groups, each), why);
    atoms.unite(result(a.output_feature), dim(1, a.kernel_output_feature), why);
    extents.tie(i, Slot::kGroups, 0, ExtentSum(groups));
  }
  if (a.batch_group_count > 1) {
    const Product groups = atoms.make(a.batch_group_count);
    const Product each = atoms.make(atoms.extent(dim(1, a.kernel_output_feature)) / a.batch_group_count);
    atoms.unite(dim(0, a.input_batch), times(groups, result(a.output_batch)), why);
    atoms.unite(dim(1, a.kernel_output_feature), times(groups, each), why);
    atoms.unite(result(a.output_feature), dim(1, a.kernel_output_feature), why);
    atoms.unite(dim(0, a.input_feature), dim(1, a.kernel_input_feature), why);
    extents.tie(i, Slot::kBatchGroups, 0, ExtentSum(groups));
  }
}

}  // namespace

void relate_windows(const Instruction& i, ModuleExtents& extents) {
  if (i.opcode == Opcode::kConvolution) {
    const auto& a = i.as<ConvolutionAttributes>();
    if (a.dim_labels.find('?') != std::string::npos) {
      for (const Instruction* operand : i.operands) extents.freeze(*operand, {"a convolution without labels", &i});
      return extents.freeze(i, {"a convolution without labels", &i});
    }
    for (size_t w = 0; w < a.window.size.size(); ++w) {
      relate_line(i, a.window, w,
                  {&extents.dimension(i.operand(0), 0, static_cast<size_t>(a.input_spatial[w])),
                   &extents.dimension(i.operand(1), 0, static_cast<size_t>(a.kernel_spatial[w])),
                   &extents.dimension(i, 0, static_cast<size_t>(a.output_spatial[w]))},
                  extents);
    }
    return relate_groups(i, a, extents);
  }
  const Window& window = i.as<WindowAttributes>().window;
  const bool selects = i.opcode == Opcode::kSelectAndScatter;
  if (selects) extents.same(i, 0, i.operand(0), 0, i);
  for (size_t d = 0; d < window.size.size(); ++d) {
    relate_line(i, window, d,
                {&extents.dimension(i.operand(0), 0, d), nullptr,
                 selects ? &extents.dimension(i.operand(1), 0, d) : &extents.dimension(i, 0, d)},
                extents);
  }
  const size_t inputs = selects ? 1 : i.operands.size() / 2;
  for (size_t k = 1; k < inputs; ++k) extents.same(i.operand(0), 0, i.operand(k), 0, i);
}

}  // namespace lowtide::engine
