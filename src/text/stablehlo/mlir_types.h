#pragma once
/// Reads and writes MLIR's types: tensor<2x?xf32>, tuple<...>, !stablehlo.token.

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/shape.h"
#include "text/stablehlo/mlir_scanner.h"

namespace lowtide::engine {

using MlirAliases = std::unordered_map<std::string_view, std::string_view>;

Result<Shape> read_mlir_type(MlirScanner& scanner, const MlirAliases& aliases);

/// `(T, U) -> V` or `(T) -> (U, V)`: operands and results.
struct MlirFunctionType {
  std::vector<Shape> operands, results;
};
Result<MlirFunctionType> read_mlir_function_type(MlirScanner& scanner, const MlirAliases& aliases);
/// `(T, U)`, or one type without parentheses.
Result<std::vector<Shape>> read_mlir_results(MlirScanner& scanner, const MlirAliases& aliases);

/// Does the shape agree with this type, whose extents may be `?`?
bool is_of_type(const Shape& shape, const Shape& type);
bool has_unknown_extent(const Shape& type);  ///< an array, also in a tuple, has an extent `?`

std::string mlir_type_name(ElementType type);  ///< "i32", "ui8", "complex<f32>"
std::string mlir_type_text(const Shape& shape);

}  // namespace lowtide::engine
