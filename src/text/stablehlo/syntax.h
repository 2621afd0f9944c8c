#pragma once
/// The syntax tree of MLIR text: operations with operands, attributes, regions and types. Pretty and generic forms give
/// the same structures. Texts are views of the source.

#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ir/shape.h"
#include "text/stablehlo.h"

namespace lowtide::engine {

struct MlirAttribute {
  std::string_view key;
  std::string_view text;  ///< as written, with its type: `3 : i64`; empty for a unit attribute
  Offset place = kNowhere;
};
using MlirAttributes = std::vector<MlirAttribute>;

inline const MlirAttribute* find_attribute(const MlirAttributes& attributes, std::string_view key) {
  for (const MlirAttribute& attribute : attributes) {
    if (attribute.key == key) return &attribute;
  }
  return nullptr;
}

/// `%name` or `%name#1`.
struct MlirUse {
  std::string_view name;
  int64_t part = 0;
  Offset place = kNowhere;
  bool carried = false;  ///< a scan's initial value, in `inits(...)`
};

/// `%name` or `%name:2` on the left side of `=`.
struct MlirResult {
  std::string_view name;
  int64_t count = 1;
};

struct MlirArgument {
  std::string_view name;
  Shape type;
  MlirAttributes attributes;
  std::string_view location;
  Offset place = kNowhere;
};

struct MlirOperation;

/// A region of one block.
struct MlirRegion {
  std::vector<MlirArgument> arguments;
  std::vector<MlirOperation> operations;
  Offset place = kNowhere;
};

struct MlirOperation {
  std::string_view name;  ///< with its dialect: `stablehlo.add`
  Offset place = kNowhere;
  std::vector<MlirResult> results;
  std::vector<MlirUse> operands;
  MlirAttributes attributes;
  std::vector<MlirRegion> regions;
  std::vector<Shape> operand_types;               ///< empty if the form doesn't state all of them
  std::vector<Shape> types;                       ///< the results' types
  std::vector<MlirAttributes> result_attributes;  ///< of a function's results
  std::string_view location;                      ///< between the parentheses of loc(...)

  /// The type of the only result, or else the tuple of all results' types.
  Shape result_shape() const { return types.size() == 1 ? types[0] : Shape::tuple(types); }
};

struct MlirModule {
  std::string_view name;
  MlirAttributes attributes;
  std::vector<MlirOperation> operations;
  std::unordered_map<std::string_view, std::string_view> aliases;    ///< the definitions of `#name` and `!name`
  std::unordered_map<std::string_view, std::string_view> resources;  ///< `"0x..."` for each dense_resource<name>
  bool has_resources = false;        ///< the text has resources, so that a missing one is an error
  const MlirBlobs* blobs = nullptr;  ///< further resources, which aren't part of the text
};

}  // namespace lowtide::engine
