#include "passes/xla/flatten_products.h"

#include <algorithm>
#include <optional>

#include "passes/rules/maker.h"
#include "target/target.h"

namespace lowtide::engine {
namespace {

/// An operand as a matrix, of the same elements in the same order.
struct Matrix {
  Dims dims;               ///< rows and columns
  bool sums_rows = false;  ///< contracted along its rows, otherwise along its columns
};

int64_t product_of(const Dims& dims, size_t from, size_t to) {
  int64_t product = 1;
  for (size_t d = from; d < to; ++d) product *= dims[d];
  return product;
}

/// Nothing unless the contracted dimensions are the first or the last ones, in their order.
std::optional<Matrix> matrix_of(const Instruction& operand, const Dims& contracted) {
  const Dims& dims = operand.shape.dims;
  const size_t rank = dims.size(), count = contracted.size();
  if (count == 0 || count >= rank) return std::nullopt;
  const size_t first = static_cast<size_t>(contracted.front());
  for (size_t k = 0; k < count; ++k) {
    if (contracted[k] != static_cast<int64_t>(first + k)) return std::nullopt;
  }
  if (first != 0 && first + count != rank) return std::nullopt;
  const bool sums_rows = first == 0;
  const size_t split = sums_rows ? count : first;
  return Matrix{{product_of(dims, 0, split), product_of(dims, split, rank)}, sums_rows};
}

/// The array behind reshapes that may lie in another order than it is read: a transposed one, or one that a loop made;
/// null: none.
const Instruction* in_another_order(const Instruction& operand) {
  const Instruction* at = &operand;
  while (at->opcode == Opcode::kReshape) at = at->operands[0];
  const bool is_element = at->opcode == Opcode::kGetTupleElement && at->operand(0).opcode == Opcode::kWhile;
  return (is_element || at->opcode == Opcode::kTranspose) && is_plain_array(*at) ? at : nullptr;
}

/// Does a side of the matrix merge dimensions of the array of which the innermost is no multiple of a tile?
bool merges_awkwardly(const Instruction& array, const Matrix& matrix) {
  const Dims& dims = array.shape.dims;
  size_t from = 0;
  for (const int64_t side : matrix.dims) {
    size_t to = from;
    int64_t merged = 0, product = 1, innermost = 1;
    for (; to < dims.size() && product < side; ++to) {
      product *= dims[to];
      if (dims[to] > 1) ++merged, innermost = dims[to];
    }
    if (product != side) return false;
    if (merged > 1 && innermost % kTileMultiple != 0) return true;
    from = to;
  }
  return false;
}

bool is_stored_apart(const Instruction& operand, const Matrix& matrix) {
  const Instruction* array = in_another_order(operand);
  return array != nullptr && merges_awkwardly(*array, matrix);
}

Instruction* flat(Instruction& operand, const Matrix& matrix, bool is_apart, Maker& maker) {
  Instruction* rows = maker.reshape(&operand, matrix.dims);
  if (!is_apart) return rows;
  const Shape held = Shape::tuple({rows->shape});
  Instruction* barrier = maker.make(Opcode::kOptBarrier, held, {maker.make(Opcode::kTuple, held, {rows})});
  return maker.element(*barrier, 0);
}

Instruction* flattened(Instruction& dot, Maker& maker) {
  if (!is_plain_array(dot)) return nullptr;
  const auto& a = dot.as<DotAttributes>();
  if (!a.lhs_batch_dims.empty()) return nullptr;
  const std::optional<Matrix> left = matrix_of(dot.operand(0), a.lhs_contracting_dims);
  const std::optional<Matrix> right = matrix_of(dot.operand(1), a.rhs_contracting_dims);
  if (!left || !right) return nullptr;
  const bool stores_left = is_stored_apart(dot.operand(0), *left);
  const bool stores_right = is_stored_apart(dot.operand(1), *right);
  if (!stores_left && !stores_right) return nullptr;
  const std::vector<Instruction*> operands = {flat(*dot.operands[0], *left, stores_left, maker),
                                              flat(*dot.operands[1], *right, stores_right, maker)};
  DotAttributes now = a;
  now.lhs_contracting_dims = {left->sums_rows ? 0 : 1};
  now.rhs_contracting_dims = {right->sums_rows ? 0 : 1};
  const Dims dims = {left->dims[left->sums_rows ? 1 : 0], right->dims[right->sums_rows ? 1 : 0]};
  Instruction* product = maker.like(dot, Shape::array(dot.shape.type, dims), operands);
  product->attributes = std::move(now);
  return maker.reshape(product, dot.shape.dims);
}

}  // namespace

Result<PassResult> flatten_products(Module& module, const Target& target) {
  if (target.xla_backend() == XlaBackend::kCpu) return PassResult{};  // its products read any order
  return rewrite_each(module, {Opcode::kDot}, flattened, "products of matrices that lie in another order");
}

}  // namespace lowtide::engine
