#pragma once
/// The parser of HLO text. It knows no particular operation: each operation's rule parses what follows the operands.

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/module.h"
#include "ops/attribute_text.h"
#include "text/hlo/scanner.h"

namespace lowtide::engine {

class HloParser {
 public:
  HloParser(std::shared_ptr<const Source> source, std::shared_ptr<Context> context);
  Result<std::unique_ptr<Module>> parse();

 private:
  /// The names defined so far in a computation that is being read.
  struct Scope {
    Computation* computation = nullptr;
    std::unordered_map<std::string_view, Instruction*> instructions;  ///< keys are the instructions' own names
    std::unordered_set<const Instruction*> unnamed;                   ///< nested instructions with invented names
    int depth = 0;                                                    ///< nesting of inline computations
  };
  using Item = AttributeReader::Item;

  // header.cpp
  Status read_header(Scanner& scanner);
  Status read_header_attribute(Scanner& scanner, std::string_view key, Offset place);
  Status read_entry_layout(std::string_view text, Offset place);
  Status read_stack_tables(Scanner& scanner);
  Status check_header();

  // parser.cpp
  /// Registers every computation by name, so that forward references work. It stops silently at malformed text, for
  /// which the parser reports the error.
  void find_computations(Scanner scanner);
  Status read_computation(Scanner& scanner);
  Status read_signature(Scanner& scanner);
  Status read_body(Scanner& scanner, Scope& scope, Offset place);
  Status check_parameters(const Scanner& scanner, const Computation& computation, Offset place);
  Status finish();
  Result<Computation*> find_computation(std::string_view text, Offset place);
  Result<Computation*> read_inline(Offset place);

  // instruction.cpp
  Status read_instruction(Scanner& scanner, Scope& scope);
  /// Reads an operation from its shape on. `name` is empty for a nested operation, which has no attributes.
  Result<Instruction*> read_operation(Scanner& scanner, Scope& scope, std::string_view name, Offset place, int depth);
  Status read_opcode(Scanner& scanner, Instruction& instruction);
  Status read_operands(Scanner& scanner, Scope& scope, Instruction& instruction, int depth);
  Result<Instruction*> read_operand(Scanner& scanner, Scope& scope, int depth);
  Result<Instruction*> find_instruction(const Scanner& scanner, const Scope& scope, std::string_view name,
                                        Offset place) const;
  Status read_attributes(Scanner& scanner, Scope& scope, Instruction& instruction, std::vector<Item>& items);
  Status read_shared_attribute(const Scanner& scanner, const Scope& scope, Instruction& instruction, const Item& item,
                               bool& known);
  Status apply_rule(Scope& scope, Instruction& instruction, std::string_view payload, Offset payload_place,
                    std::vector<Item> items);
  std::string name_for_unnamed(const Scope& scope, std::string_view base);

  std::shared_ptr<const Source> source_;
  std::unique_ptr<Module> module_;
  std::unordered_map<std::string_view, Computation*> computations_;  ///< by name, defined or not
  std::unordered_set<const Computation*> defined_;
  std::unordered_map<std::string_view, std::shared_ptr<const Sharding>> shardings_;  ///< by text, since they repeat
  std::unordered_map<std::string, int64_t> unnamed_;  ///< how often a base name was used for unnamed instructions
  Offset alias_place_ = kNowhere;
  Offset donor_place_ = kNowhere;
  Computation* last_ = nullptr;  ///< the last computation of the text: the entry if none is marked ENTRY
  std::optional<Stage> stage_;
  Scope* scope_ = nullptr;  ///< the innermost computation being read
};

/// Reads metadata={...}; false if the text has no known form.
bool read_metadata(std::string_view text, Metadata& metadata);

}  // namespace lowtide::engine
