#pragma once
/// One row per operation that StableHLO (or chlo, mhlo) spells otherwise than HLO: its opcode, how its attributes are
/// called here and there, and what its regions are. Operations without a row have the same name and no attributes.
/// Reader and printer use the same rows, so that no operation is described twice.

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
  // Several attributes here are one there; their names are in hlo_attributes.cpp.
  kSlice,
  kPadding,
  kWindow,
  kDimLabels,
  kAlgorithm,
  kAccuracy,
};

struct Spelling {
  std::string_view mlir;  ///< `name`, `structure.field`; after `|` the pretty form's, if that differs
  std::string_view hlo;
  Spell how = Spell::kDims;
  std::string_view detail = {};  ///< the enumeration's name; of kInteger, i32 instead of i64
  std::string_view prefix = {};  ///< of kLowerWord
  bool always = false;           ///< printed when HLO leaves it out: MLIR wants it
};

struct OperationSpelling {
  std::string_view name;  ///< without dialect
  Opcode opcode;
  std::vector<Spelling> attributes = {};
  std::vector<std::string_view> regions = {};  ///< HLO attributes that name the computations
  std::string_view dialect = "stablehlo";      ///< the printer's
  std::string_view structure = {};             ///< `dot` of `dot_dimension_numbers = #stablehlo.dot<...>`
};

/// The row of a name, or of an opcode (the first one); null where there is none.
const OperationSpelling* spelling_of(std::string_view name);
const OperationSpelling* spelling_of(Opcode opcode);

}  // namespace lowtide::engine
