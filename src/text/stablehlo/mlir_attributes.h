#pragma once
/// An instruction's attributes as MLIR writes them: the rows of spellings.h read the other way.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "text/stablehlo/spellings.h"

namespace lowtide::engine {

/// `key = text`; without text a unit attribute.
struct MlirText {
  std::string key, text;
};

/// What the row says of this instruction; regions aside.
std::vector<MlirText> mlir_attributes(const OperationSpelling& row, const Instruction& instruction);

/// `key=text` as HLO writes it for this instruction: its rule's attributes and those kept as text.
std::vector<RawAttribute> hlo_items(const Instruction& instruction);

/// What stands between the braces of HLO's frontend attributes, as a dictionary.
std::string frontend_dictionary(std::string_view braces);

std::string mlir_list(const Dims& dims);          ///< [1, 2]
std::string mlir_array(const Dims& dims);         ///< array<i64: 1, 2>
std::string mlir_quote(std::string_view text);    ///< with MLIR's escapes
std::string mlir_symbol(std::string_view name);   ///< @name or @"na-me"
std::string mlir_float(std::string_view number);  ///< with the point that MLIR wants
std::string joined(const std::vector<MlirText>& attributes);

}  // namespace lowtide::engine
