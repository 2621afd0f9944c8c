#pragma once
/// A table with one row per operation that StableHLO (or chlo, mhlo) spells differently from HLO: its opcode, the names
/// of its attributes in both, and its regions. Operations without a row have the same name and no attributes. Reader
/// and printer use the same rows, so that no operation is described twice.

#include <span>
#include <string_view>
#include <vector>

#include "ir/opcode.h"

namespace lowtide::engine {

enum class Spell : uint8_t {
  kDims,       ///< array<i64: 1, 2>                         {1,2}
  kInteger,    ///< 1 : i64                                  1
  kOneDim,     ///< 1 : i64                                  {1}
  kFlag,       ///< true                                     true
  kWord,       ///< #stablehlo<comparison_direction LT>      LT
  kLowerWord,  ///< #stablehlo<rng_distribution UNIFORM>     rng_uniform: `prefix` and lower case
  kWords,      ///< [#stablehlo<precision HIGHEST>, ...]     {highest,default}
  kPairs,      ///< dense<[[0, 1], [2, 3]]>                  {{0,1},{2,3}}: rows; -1 ends a shorter row
  kNumber,     ///< 1.0e-3 : f32                             0.001
  kHandle,     ///< #stablehlo.channel_handle<handle = 1>    1
  // Several MLIR attributes that form one HLO attribute; their names are in hlo_attributes.cpp.
  kSlice,
  kPadding,
  kWindow,
  kDimLabels,
  kAlgorithm,
  kAccuracy,
};

struct Spelling {
  std::string_view mlir;  ///< `name` or `structure.field`; after `|` the name in the pretty form, if that differs
  std::string_view hlo;
  Spell how = Spell::kDims;
  std::string_view detail = {};  ///< the enumeration's name; for kInteger "i32", if the type isn't i64
  std::string_view prefix = {};  ///< for kLowerWord
  bool always = false;           ///< printed even if HLO omits it, because MLIR requires it
};

struct OperationSpelling {
  std::string_view name;  ///< without dialect
  Opcode opcode;
  std::vector<Spelling> attributes = {};
  std::vector<std::string_view> regions = {};  ///< the HLO attributes that name the regions' computations
  std::string_view dialect = "stablehlo";      ///< used by the printer
  std::string_view structure = {};             ///< `dot` of `dot_dimension_numbers = #stablehlo.dot<...>`
};

/// The row for a name, or the first row for an opcode; null if there is none.
const OperationSpelling* spelling_of(std::string_view name);
const OperationSpelling* spelling_of(Opcode opcode);

}  // namespace lowtide::engine
