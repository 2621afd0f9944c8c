// cpu_csr_sparse_dense_ffi, JAX's call on CPUs for the product of a sparse matrix (compressed rows, CSR) and a dense
// vector or matrix, as operations of HLO.
#include <fmt/format.h>

#include "text/stablehlo/operations.h"

namespace lowtide::engine {
namespace {

using Scope = ModuleMaker::Scope;

class CsrProduct {
 public:
  CsrProduct(ModuleMaker& maker, Scope& scope, const MlirOperation& operation)
      : maker_(maker), scope_(scope), operation_(operation) {}

  Status make() {
    LT_ASSIGN_OR_RETURN(const Instructions operands, maker_.operands(scope_, operation_));
    if (operands.size() != 4 || operation_.types.size() != 1 || !fits(operands)) {
      return maker_.fault(operation_.place,
                          "cpu_csr_sparse_dense_ffi: expected elements, where each row begins and the last ends, the "
                          "elements' columns, a vector or matrix, and their product");
    }
    const Shape& result = operation_.types[0];
    const int64_t elements = operands[0]->shape.dims[0];
    LT_ASSIGN_OR_RETURN(Instruction * product, filled(result, 0));
    if (elements > 0) {
      LT_ASSIGN_OR_RETURN(Instruction * rows, rows_of(operands[1], elements));
      LT_ASSIGN_OR_RETURN(Instruction * terms, terms_of(operands));
      LT_ASSIGN_OR_RETURN(product, scatter(product, rows, terms));
    }
    maker_.bind(scope_, operation_, product);
    return {};
  }

 private:
  bool fits(const Instructions& operands) const {
    const Shape &elements = operands[0]->shape, &starts = operands[1]->shape, &columns = operands[2]->shape;
    const Shape &dense = operands[3]->shape, &result = operation_.types[0];
    for (const Instruction* operand : operands) {
      if (!operand->shape.is_array()) return false;
    }
    const bool ranks = elements.rank() == 1 && starts.rank() == 1 && columns.rank() == 1 && dense.rank() >= 1 &&
                       dense.rank() <= 2 && result.is_array() && result.rank() == dense.rank();
    return ranks && is_integral(starts.type) && is_integral(columns.type) && elements.dims == columns.dims &&
           starts.dims[0] == result.dims[0] + 1 && (dense.rank() == 1 || dense.dims[1] == result.dims[1]) &&
           elements.type == result.type && dense.type == result.type;
  }

  /// The row of each element: the number of rows that end at or before it. Elements after the last row's end get an
  /// index out of bounds, so that their updates are dropped.
  Result<Instruction*> rows_of(Instruction* starts, int64_t elements) {
    Shape ends_shape = starts->shape, marks_shape = starts->shape;
    ends_shape.dims[0] -= 1;
    marks_shape.dims[0] = elements;
    LT_ASSIGN_OR_RETURN(Instruction * ends, maker_.add(scope_, operation_, Opcode::kSlice, ends_shape, {starts},
                                                       {{"slice", fmt::format("{{[1:{}]}}", starts->shape.dims[0])}}));
    LT_ASSIGN_OR_RETURN(Instruction * marks, filled(marks_shape, 0));
    LT_ASSIGN_OR_RETURN(Instruction * ones, filled(ends_shape, 1));
    LT_ASSIGN_OR_RETURN(marks, scatter(marks, ends, ones));
    LT_ASSIGN_OR_RETURN(const Computation* sum, addition(starts->shape.type));
    LT_ASSIGN_OR_RETURN(Instruction * zero, number(starts->shape.type, 0));
    return maker_.add(
        scope_, operation_, Opcode::kReduceWindow, marks_shape, {marks, zero},
        {{"window", fmt::format("{{size={} pad={}_0}}", elements, elements - 1)}, {"to_apply", '%' + sum->name}});
  }

  /// Each element times the row of the dense array at its column index.
  Result<Instruction*> terms_of(const Instructions& operands) {
    const Shape& dense = operands[3]->shape;
    Shape shape = dense;
    shape.dims[0] = operands[0]->shape.dims[0];
    Dims sizes = dense.dims;
    sizes[0] = 1;
    LT_ASSIGN_OR_RETURN(Instruction * taken,
                        maker_.add(scope_, operation_, Opcode::kGather, shape, {operands[3], operands[2]},
                                   {{"offset_dims", dense.rank() == 2 ? "{1}" : "{}"},
                                    {"collapsed_slice_dims", "{0}"},
                                    {"start_index_map", "{0}"},
                                    {"index_vector_dim", "1"},
                                    {"slice_sizes", braced_dims(sizes)}}));
    LT_ASSIGN_OR_RETURN(Instruction * factor, maker_.broadcast(scope_, operation_, operands[0], shape.dims, {0}));
    return maker_.add(scope_, operation_, Opcode::kMultiply, shape, {factor, taken});
  }

  /// Adds the updates to the array's rows at the indices.
  Result<Instruction*> scatter(Instruction* array, Instruction* indices, Instruction* updates) {
    LT_ASSIGN_OR_RETURN(const Computation* sum, addition(array->shape.type));
    return maker_.add(scope_, operation_, Opcode::kScatter, array->shape, {array, indices, updates},
                      {{"update_window_dims", array->shape.rank() == 2 ? "{1}" : "{}"},
                       {"inserted_window_dims", "{0}"},
                       {"scatter_dims_to_operand_dims", "{0}"},
                       {"index_vector_dim", "1"},
                       {"to_apply", '%' + sum->name}});
  }

  Result<Computation*> addition(ElementType type) {
    return maker_.reducer(scope_, adding_region(type, operation_.place), "add");
  }

  Result<Instruction*> number(ElementType type, int value) {
    auto literal = std::make_shared<Literal>(Shape::scalar(ElementType::kS32));
    literal->data<int32_t>()[0] = value;
    LT_ASSIGN_OR_RETURN(Instruction * constant, maker_.add_constant(scope_, operation_, std::move(literal)));
    if (type == ElementType::kS32) return constant;
    return maker_.add(scope_, operation_, Opcode::kConvert, Shape::scalar(type), {constant});
  }

  Result<Instruction*> filled(const Shape& shape, int value) {
    LT_ASSIGN_OR_RETURN(Instruction * scalar, number(shape.type, value));
    return maker_.broadcast(scope_, operation_, scalar, shape.dims, {});
  }

  ModuleMaker& maker_;
  Scope& scope_;
  const MlirOperation& operation_;
};

}  // namespace

Status make_csr_product(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  return CsrProduct(maker, scope, operation).make();
}

}  // namespace lowtide::engine
