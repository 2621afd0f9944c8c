#pragma once
/// Converts an instruction's attributes to MLIR's, by the rows of spellings.h.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "text/stablehlo/spellings.h"

namespace lowtide::engine {

/// `key = text`; a unit attribute has no text.
struct MlirText {
  std::string key, text;
};

/// The instruction's attributes that the row describes, without regions.
std::vector<MlirText> mlir_attributes(const OperationSpelling& row, const Instruction& instruction);

/// The instruction's attributes as `key=text` of HLO: those of its rule, and those kept as text.
std::vector<RawAttribute> hlo_items(const Instruction& instruction);

/// The entries of an MLIR dictionary for HLO's frontend attributes, which are given in braces.
std::string frontend_dictionary(std::string_view braces);

std::string mlir_list(const Dims& dims);          ///< [1, 2]
std::string mlir_array(const Dims& dims);         ///< array<i64: 1, 2>
std::string mlir_quote(std::string_view text);    ///< with MLIR's escapes
std::string mlir_symbol(std::string_view name);   ///< @name or @"na-me"
std::string mlir_float(std::string_view number);  ///< f32, with the decimal point that MLIR requires, or bits
std::string joined(const std::vector<MlirText>& attributes);

}  // namespace lowtide::engine
