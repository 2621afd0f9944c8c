#pragma once
/// Converts the attributes in StableHLO's text to the properties of VHLO's operations: the inverse of
/// stablehlo_properties.h.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/bytecode/entry_pool.h"
#include "text/stablehlo/mlir_values.h"
#include "text/stablehlo/syntax.h"

namespace lowtide::engine {

class VhloProperties {
 public:
  using Number = EntryPool::Number;

  VhloProperties(const Source& source, const MlirModule& module, EntryPool& pool)
      : source_(source), module_(module), values_(source, module), pool_(pool) {}

  /// The attributes in the order of `names`, a sorted list of words. Errors name the operation, and the attribute that
  /// can't be expressed.
  Result<std::vector<Number>> of(const MlirOperation& operation, std::string_view names);
  /// An attribute from its text alone: a string, a number, a flag, or a list or dictionary of these. builtin: in the
  /// builtin dialect instead of VHLO.
  Result<Number> plain(const MlirAttribute& attribute, bool builtin);
  /// The entries of a dictionary with the operation's attributes that aren't properties, such as `mhlo.sharding`.
  Result<std::vector<std::pair<Number, Number>>> others(const MlirAttributes& attributes, bool builtin_values);

 private:
  Result<Number> property(const MlirOperation& operation, std::string_view name);
  Result<Number> field(const MlirOperation& operation, std::string_view name, std::string_view structure);
  Result<Number> algorithm(const MlirOperation& operation, std::string_view name);
  Result<Number> list(const MlirOperation& operation, std::string_view path, std::string_view name);
  Result<Number> table(const MlirOperation& operation, std::string_view name);
  Result<Number> constant(const MlirOperation& operation);
  Result<Number> precisions(const MlirOperation& operation);
  Result<Number> layouts(const MlirOperation& operation, std::string_view name);
  Result<Number> aliases(const MlirOperation& operation);
  Result<Number> convolution_dimension(const MlirOperation& operation, std::string_view name);
  Result<int64_t> number(const MlirOperation& operation, std::string_view path, int64_t otherwise);
  Result<std::string> text(const MlirOperation& operation, std::string_view name);
  Status fault(const MlirOperation& operation, std::string_view name) const;

  const Source& source_;
  const MlirModule& module_;
  MlirValues values_;
  EntryPool& pool_;
};

}  // namespace lowtide::engine
