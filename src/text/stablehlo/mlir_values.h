#pragma once
/// Values of MLIR attributes: integers and lists of them in every spelling, words of enumerations, strings, fields.

#include <optional>
#include <string>

#include "base/status.h"
#include "text/stablehlo/syntax.h"

namespace lowtide::engine {

std::string mlir_unquote(std::string_view inner);  ///< what stands between quotes, its escapes resolved

class MlirValues {
 public:
  MlirValues(const Source& source, const MlirModule& module) : source_(source), module_(module) {}

  /// The attribute of that name; `name.field` is a field of a structure, `name.1` the second of `[..] x [..]`.
  std::optional<MlirAttribute> find(const MlirAttributes& attributes, std::string_view path) const;
  /// The first of these paths, separated by `|`, that is there.
  std::optional<MlirAttribute> find_any(const MlirAttributes& attributes, std::string_view paths) const;

  Result<int64_t> integer(const MlirAttribute& attribute) const;  ///< `3 : i64`, true, false, a unit attribute
  Result<Dims> integers(const MlirAttribute& attribute) const;    ///< flattened, row by row
  /// The extents of a list of lists.
  Result<Dims> extents(const MlirAttribute& attribute) const;
  /// LT of `LT` and `#stablehlo<comparison_direction LT>`: letters that HLO takes as they are.
  Result<std::string_view> word(const MlirAttribute& attribute) const;
  Result<std::string_view> number(const MlirAttribute& attribute) const;  ///< 1.0e-3 of `1.0e-3 : f32`
  Result<std::string> string(const MlirAttribute& attribute) const;
  MlirAttributes elements(const MlirAttribute& attribute) const;  ///< of `[a, b]`, with empty keys
  Result<MlirAttributes> fields(
      const MlirAttribute& attribute) const;  ///< of `<a = 1>`, `#stablehlo.dot<a = 1>`, `{a = 1}`

  Status fault(const MlirAttribute& attribute, std::string message) const;
  /// What an alias stands for, or the attribute itself.
  MlirAttribute resolve(MlirAttribute attribute) const;

 private:
  const Source& source_;
  const MlirModule& module_;
};

}  // namespace lowtide::engine
