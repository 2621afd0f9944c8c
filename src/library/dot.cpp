/// dot: oneDNN where it is fast, panels elsewhere.
#include "library/dot_onednn.h"
#include "library/gemm.h"
#include "library/routines.h"
#include "ops/dot_checks.h"
#include "ops/index_space.h"

namespace lowtide {
namespace {

class DotByPanels : public LibraryRoutine {
 public:
  DotByPanels(MatrixView left, MatrixView right, ElementType result)
      : gemm_(std::move(left), std::move(right), result) {}
  int64_t scratch_bytes() const override { return gemm_.scratch_bytes(); }
  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    gemm_.run(operands[0], operands[1], results[0], scratch, pool);
    return {};
  }

 private:
  PanelGemm gemm_;
};

}  // namespace

bool is_dot_in_library(const Instruction& dot) {
  return dot.operands.size() == 2 && dot.shape.is_array() &&
         PanelGemm::supports(dot.operand(0).shape.type, dot.operand(1).shape.type, dot.shape.type);
}

std::unique_ptr<LibraryRoutine> make_dot(const Instruction& dot) {
  if (!is_dot_in_library(dot)) return nullptr;
  const Shape &l = dot.operand(0).shape, &r = dot.operand(1).shape;
  const auto& attributes = dot.as<DotAttributes>();
  const Dims left_strides = row_major_strides(l.dims), right_strides = row_major_strides(r.dims);
  MatrixView left, right;
  left.type = l.type;
  left.batch = {l.dims, left_strides, attributes.lhs_batch_dims};
  left.rows = {l.dims, left_strides, free_dims(l.rank(), attributes.lhs_contracting_dims, attributes.lhs_batch_dims)};
  left.columns = {l.dims, left_strides, attributes.lhs_contracting_dims};
  right.type = r.type;
  right.batch = {r.dims, right_strides, attributes.rhs_batch_dims};
  right.rows = {r.dims, right_strides, attributes.rhs_contracting_dims};
  right.columns = {r.dims, right_strides,
                   free_dims(r.rank(), attributes.rhs_contracting_dims, attributes.rhs_batch_dims)};
  if (auto by_onednn = make_dot_by_onednn(left, right, dot.shape.type)) return by_onednn;
  return std::make_unique<DotByPanels>(std::move(left), std::move(right), dot.shape.type);
}

}  // namespace lowtide
