#pragma once
/// Parses MLIR text to a syntax tree: modules, functions, operations in their pretty and generic forms, regions. It
/// knows brackets and punctuation, but not the meaning of operations.

#include "base/status.h"
#include "text/stablehlo/mlir_scanner.h"
#include "text/stablehlo/mlir_types.h"
#include "text/stablehlo/syntax.h"

namespace lowtide::engine {

class MlirReader {
 public:
  explicit MlirReader(const Source& source) : source_(source) {}
  Result<MlirModule> read();

 private:
  // mlir_reader.cpp
  Status read_aliases(MlirScanner& scanner);
  Status read_resources(MlirScanner& scanner);
  Status read_module(MlirScanner& scanner);
  Status read_function(MlirScanner& scanner, MlirOperation& function);
  Status read_declared(MlirScanner& scanner);  ///< the parameters of a function without a body
  Status normalise_function(MlirOperation& function);
  Status read_operation(MlirScanner& scanner, MlirOperation& operation, int depth);
  void skip_declaration(MlirScanner& scanner);  ///< of a foreign dialect, to which no program here refers
  Status read_results(MlirScanner& scanner, MlirOperation& operation);
  Status read_generic(MlirScanner& scanner, MlirOperation& operation, int depth);
  Status read_region(MlirScanner& scanner, MlirRegion& region, int depth);
  Status read_arguments(MlirScanner& scanner, std::vector<MlirArgument>& arguments, std::string_view close);
  Status read_use(MlirScanner& scanner, std::vector<MlirUse>& uses);
  Status read_dictionary(MlirScanner& scanner, MlirAttributes& attributes, std::string_view close = "}");
  Status read_location(MlirScanner& scanner, std::string_view& location);

  friend class PrettyForm;  // pretty_form.cpp
  Status read_pretty(MlirScanner& scanner, MlirOperation& operation, int depth);

  const Source& source_;
  MlirModule module_;
};

/// Reads `{key = value, ...}`, or the same in other brackets; values are as in dictionaries.
Status read_mlir_entries(MlirScanner& scanner, MlirAttributes& entries, std::string_view close);

}  // namespace lowtide::engine
