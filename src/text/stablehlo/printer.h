#pragma once
/// Prints a module as StableHLO. A tuple becomes several values, so that each instruction has one name per leaf; tuple
/// and get-tuple-element are not printed. Computations of calls become functions, all others regions.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "text/stablehlo/mlir_attributes.h"

namespace lowtide::engine {

class StableHloPrinter {
 public:
  explicit StableHloPrinter(const Module& module) : module_(module) {}
  Result<std::string> print();

 private:
  using Names = std::vector<std::string>;  ///< one per leaf: `%add.3`, `%sort.1#0`

  // printer.cpp
  void print_header();
  Status print_function(const Computation& function);
  std::string result_types(const Computation& function, const std::vector<Shape>& results) const;
  void print_arguments(const Computation& function);
  std::string donation(int64_t parameter, const ShapeIndex& index) const;
  Status print_block(const Computation& computation, std::string_view end);
  Status print_instruction(const Instruction& instruction);
  /// Prints an operation in generic form: `%name =` for the result's leaves, operands, attributes, regions, types.
  void generic(const Instruction& instruction, std::string_view operation, const Names& operands,
               const std::vector<Shape>& operand_types, const std::vector<MlirText>& properties,
               const std::string& regions = "");
  std::string begin(const Instruction& instruction);  ///< names the leaves, and returns `%name = `
  std::string annotations(const Instruction& instruction) const;
  std::string location(const Instruction& instruction) const;
  Names operands_of(const Instruction& instruction) const;
  static std::vector<Shape> leaves(const Shape& shape);
  std::vector<Shape> operand_types(const Instruction& instruction) const;
  std::string fresh(std::string_view base);
  void line(const std::string& text);
  std::string symbol_of(const Computation& computation);

  // print_regions.cpp
  Result<std::string> region(const Computation& computation, bool arguments);
  Result<std::string> branch(const Computation& computation, const Names& operand);
  Status print_while(const Instruction& loop);
  Status print_conditional(const Instruction& conditional);
  Status print_call(const Instruction& call);
  Status print_custom_call(const Instruction& call);

  // print_special.cpp
  Status print_constant(const Instruction& constant);
  Result<bool> print_special(const Instruction& instruction);  ///< false: not printed, as it needs no special form
  Status print_start(const Instruction& start);
  Status print_bitcast(const Instruction& bitcast);
  Status unsupported(const Instruction& instruction) const;

  const Module& module_;
  std::string out_;
  int indent_ = 2;
  std::unordered_map<const Instruction*, Names> names_;
  std::unordered_set<std::string> used_;       ///< visible SSA names
  std::vector<std::string> visible_;           ///< the same in the order of definition
  std::vector<const Computation*> functions_;  ///< functions to print; the first is the entry
  std::unordered_map<const Computation*, std::string> symbols_;
};

}  // namespace lowtide::engine
