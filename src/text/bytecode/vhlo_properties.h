#pragma once
/// Properties of VHLO's operations, made of the attributes that StableHLO's text gives them: what
/// stablehlo_properties.h does, the other way.

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

  /// Attributes in the order of `names`, words that are sorted. Faults name the operation and what it can't say.
  Result<std::vector<Number>> of(const MlirOperation& operation, std::string_view names);
  /// An attribute by its text alone: a string, a number, a flag, a list or a dictionary of such. builtin: of the
  /// builtin dialect rather than of VHLO.
  Result<Number> plain(const MlirAttribute& attribute, bool builtin);
  /// A dictionary of those of an operation's attributes that aren't its properties: `mhlo.sharding` and its like.
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
