/// dot: by oneDNN if that is fast, otherwise, and if sums are made in order, by panels.
#include <algorithm>
#include <numeric>

#include "library/dot_by_panels.h"
#include "library/dot_complex.h"
#include "library/dot_few_columns.h"
#include "library/dot_onednn.h"
#include "library/dot_unpacked.h"
#include "library/gemm.h"
#include "library/routines.h"
#include "ops/dot_checks.h"
#include "ops/index_space.h"

namespace lowtide::engine {
namespace {

/// Contracting dimensions of both operands, pair by pair, major first.
struct Contracted {
  Dims left, right;
};

/// How often a copy of an operand begins a new stretch of memory if its contracted dimensions are walked in this order;
/// 0: they are one dimension.
double stretches(const Shape& operand, const Dims& contracted) {
  const StridedGroup group(operand.dims, row_major_strides(operand.dims), contracted);
  if (group.is_one()) return 0;
  // Either the group or the other dimensions end in the one along which memory runs.
  const int64_t last = operand.rank() - 1;
  const bool ends_in_others = std::ranges::find(contracted, last) == contracted.end();
  const bool ends_near = group.dims.back().stride == 1;
  const int64_t run = ends_in_others ? operand.dims.back() : ends_near ? group.dims.back().extent : 1;
  return 1 + static_cast<double>(element_count(operand)) / static_cast<double>(run);
}

/// The same pairs in the order in which both operands are copied in the longest stretches; sums must be allowed in any
/// order.
Contracted in_memory_order(const DotAttributes& dot, const Shape& left, const Shape& right) {
  const Contracted given{dot.lhs_contracting_dims, dot.rhs_contracting_dims};
  const auto cost = [&](const Contracted& dims) { return stretches(left, dims.left) + stretches(right, dims.right); };
  Contracted best = given;
  for (const Dims* key : {&given.right, &given.left}) {
    std::vector<size_t> order(key->size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t k) { return (*key)[k]; });
    Contracted sorted;
    for (const size_t k : order) {
      sorted.left.push_back(given.left[k]);
      sorted.right.push_back(given.right[k]);
    }
    if (cost(sorted) < cost(best)) best = sorted;
  }
  return best;
}

}  // namespace

bool is_dot_in_library(const Instruction& dot) {
  return (dot.operands.size() == 2 || has_addend(dot)) && dot.shape.is_array() &&
         PanelGemm::supports(dot.operand(0).shape.type, dot.operand(1).shape.type, dot.shape.type);
}

std::unique_ptr<LibraryRoutine> make_dot(const Instruction& dot) {
  if (!is_dot_in_library(dot)) return nullptr;
  const Shape &l = dot.operand(0).shape, &r = dot.operand(1).shape;
  const auto& attributes = dot.as<DotAttributes>();
  const Dims left_strides = row_major_strides(l.dims), right_strides = row_major_strides(r.dims);
  const bool in_order = dot.parent->module().sums_in_order;
  const Contracted contracted = in_order ? Contracted{attributes.lhs_contracting_dims, attributes.rhs_contracting_dims}
                                         : in_memory_order(attributes, l, r);
  MatrixView left, right;
  left.type = l.type;
  left.batch = {l.dims, left_strides, attributes.lhs_batch_dims};
  left.rows = {l.dims, left_strides, free_dims(l.rank(), attributes.lhs_contracting_dims, attributes.lhs_batch_dims)};
  left.columns = {l.dims, left_strides, contracted.left};
  right.type = r.type;
  right.batch = {r.dims, right_strides, attributes.rhs_batch_dims};
  right.rows = {r.dims, right_strides, contracted.right};
  right.columns = {r.dims, right_strides,
                   free_dims(r.rank(), attributes.rhs_contracting_dims, attributes.rhs_batch_dims)};
  const bool adds = has_addend(dot);
  // Panels add the terms of an element one after another, whatever the number of rows and columns; oneDNN may not.
  if (!in_order || is_integral(dot.shape.type)) {
    if (auto few = make_dot_of_few_columns(left, right, dot.shape.type, adds)) return few;
    if (auto by_onednn = make_dot_by_onednn(left, right, dot.shape.type, adds)) return by_onednn;
    if (auto unpacked = make_dot_unpacked(left, right, dot.shape.type, adds)) return unpacked;
    if (auto complex = make_dot_complex(left, right, dot.shape.type, adds)) return complex;
  }
  return make_dot_by_panels(left, right, dot.shape.type, adds, in_order ? Joining::kInOrder : Joining::kAsPart);
}

}  // namespace lowtide::engine
