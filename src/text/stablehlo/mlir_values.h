#pragma once
/// Reads values of MLIR attributes: integers and lists of integers in every spelling, words of enumerations, strings,
/// fields.

#include <optional>
#include <string>

#include "base/status.h"
#include "text/stablehlo/syntax.h"

namespace lowtide::engine {

/// A float of decimal digits or, as infinities and NaNs are written, of the hexadecimal digits of its bits.
std::optional<double> mlir_number(std::string_view text, bool is_double);
std::string mlir_unquote(std::string_view inner);  ///< resolves the escapes in the text between quotes

class MlirValues {
 public:
  MlirValues(const Source& source, const MlirModule& module) : source_(source), module_(module) {}

  /// The attribute at this path: `name`, `name.field` for a field of a structure, `name.1` for the second of
  /// `[..] x [..]`.
  std::optional<MlirAttribute> find(const MlirAttributes& attributes, std::string_view path) const;
  /// The attribute at the first path that exists; paths are separated by `|`.
  std::optional<MlirAttribute> find_any(const MlirAttributes& attributes, std::string_view paths) const;

  Result<int64_t> integer(const MlirAttribute& attribute) const;  ///< `3 : i64`, true, false, a unit attribute
  Result<Dims> integers(const MlirAttribute& attribute) const;    ///< flattened, row by row
  /// The extents of a list of lists.
  Result<Dims> extents(const MlirAttribute& attribute) const;
  /// LT from `LT` or `#stablehlo<comparison_direction LT>`: a word that HLO uses unchanged.
  Result<std::string_view> word(const MlirAttribute& attribute) const;
  Result<std::string_view> number(const MlirAttribute& attribute) const;  ///< 1.0e-3 from `1.0e-3 : f32`
  Result<std::string> string(const MlirAttribute& attribute) const;
  MlirAttributes elements(const MlirAttribute& attribute) const;  ///< of `[a, b]`, with empty keys
  Result<MlirAttributes> fields(
      const MlirAttribute& attribute) const;  ///< of `<a = 1>`, `#stablehlo.dot<a = 1>`, `{a = 1}`

  const MlirModule& module() const { return module_; }
  Status fault(const MlirAttribute& attribute, std::string message) const;
  /// The definition if the attribute is an alias, or else the attribute itself.
  MlirAttribute resolve(MlirAttribute attribute) const;

 private:
  const Source& source_;
  const MlirModule& module_;
};

}  // namespace lowtide::engine
