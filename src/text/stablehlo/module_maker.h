#pragma once
/// From MLIR syntax to a Module: functions and regions become computations, several results a tuple, values that a
/// region takes from outside become operands. The table of spellings says what most operations are; the others have a
/// function each.

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "text/stablehlo/hlo_attributes.h"
#include "text/stablehlo/mlir_values.h"
#include "text/stablehlo/syntax.h"

namespace lowtide::engine {

/// What a reducer takes from outside: parameters of their own in front of argument `at` (and of the end, if `twice`; of
/// neighbours, where both are the end), which it gives back as well if `returned`.
struct CapturedScalars {
  std::vector<Instruction*> values;
  size_t at = 0;
  bool twice = false, returned = false;
};

using Instructions = std::vector<Instruction*>;

class ModuleMaker {
 public:
  ModuleMaker(std::shared_ptr<const Source> source, MlirModule syntax, std::shared_ptr<Context> context);
  Result<std::unique_ptr<Module>> make(const std::string& entry);

  /// A value, or an element of a tuple that is extracted when it is first used.
  struct Part {
    Instruction* value = nullptr;
    Instruction* tuple = nullptr;
    int64_t index = 0;
  };
  /// One computation while it is made.
  struct Scope {
    Computation* computation = nullptr;
    Scope* outer = nullptr;  ///< around a region
    std::unordered_map<std::string_view, std::vector<Part>> values;
    std::unordered_map<const Instruction*, Part> captured;  ///< by the outer value
    std::unordered_map<const Instruction*, Instruction*> cloned;
    std::unordered_map<std::string, Instruction*> constants;  ///< and what is broadcast of them, by what they say
  };

  // module_maker.cpp: values
  Result<Instruction*> value(Scope& scope, const MlirUse& use);
  Result<std::vector<Instruction*>> operands(Scope& scope, const MlirOperation& operation);
  /// Appends an instruction; its rule reads the attributes, what it doesn't take stays as text.
  Result<Instruction*> add(Scope& scope, const MlirOperation& operation, Opcode opcode, Shape shape,
                           std::vector<Instruction*> operands, std::vector<HloAttribute> attributes = {});
  Result<Instruction*> add_constant(Scope& scope, const MlirOperation& operation, Value value);
  /// The operation's results are this value, or the first elements of this tuple where there are several.
  void bind(Scope& scope, const MlirOperation& operation, Instruction* result, bool elements = false);
  void bind_each(Scope& scope, const MlirOperation& operation, const std::vector<Instruction*>& results);
  /// `dims[i]` is where the operand's dimension i goes; extents of 1 are repeated.
  Result<Instruction*> broadcast(Scope& scope, const MlirOperation& operation, Instruction* operand,
                                 const Dims& extents, const Dims& dims);
  /// One value, or a tuple of several or none.
  Result<Instruction*> bundle(Scope& scope, const MlirOperation& operation, std::vector<Instruction*> values);

  // computations.cpp
  Result<Computation*> function(std::string_view symbol, Offset place);
  /// A region whose block arguments are the parameters; it takes no other values but constants from outside.
  Result<Computation*> reducer(Scope& outer, const MlirRegion& region, std::string_view name,
                               const CapturedScalars& captured = {});
  /// A region with one parameter for all its arguments and `captures`, which it gives back as well if `loops`.
  Result<Computation*> branch(Scope& outer, const MlirRegion& region, std::string_view name,
                              const std::vector<Instruction*>& captures, bool loops);
  /// Values from outside that the regions use, those aside that are recomputed inside.
  Result<std::vector<Instruction*>> captures(Scope& scope, const std::vector<const MlirRegion*>& regions);
  /// Makes instructions until the block's end; what it returns.
  Result<std::vector<Instruction*>> block(Scope& scope, const std::vector<MlirOperation>& operations);
  Instruction* add_parameter(Scope& scope, int64_t number, Shape shape);

  // operations.cpp
  Status operation(Scope& scope, const MlirOperation& operation);

  const MlirValues& values() const { return values_; }
  const MlirModule& syntax() const { return syntax_; }
  const Source& source() const { return *source_; }
  Module& module() { return *module_; }
  Status fault(Offset place, std::string message) const {
    return Status::input(std::move(message)).at(*source_, place);
  }
  Status unsupported(Offset place, std::string message) const {
    return Status::unsupported(std::move(message)).at(*source_, place);
  }
  /// A text that lives as long as this: attributes are views.
  const std::string& keep(std::string text) { return kept_.emplace_back(std::move(text)); }
  /// Metadata of `loc(...)`.
  const Metadata& metadata(std::string_view location);

 private:
  Status make_entry(const MlirOperation& main);
  Status read_module_attributes();
  Result<const MlirOperation*> find_entry(const std::string& entry) const;
  void drop_unreachable();
  void read_donations(const MlirOperation& main);
  void read_notes(const MlirOperation& main);
  std::optional<AliasEntry> alias_of(const MlirAttribute& entry, const MlirOperation& main) const;
  // result_shardings.cpp: as XLA has them where it reads StableHLO
  /// Results with a sharding of Shardy's are marked by a call.
  Status mark_results(Scope& scope, const MlirOperation& function, std::vector<Instruction*>& results);
  /// The root carries the shardings of all results.
  Status shard_results(Scope& scope, const MlirOperation& function);
  Status annotate(Instruction& instruction, const MlirAttributes& attributes);
  /// Drops what nothing uses and names the rest.
  void finish(Computation& computation);
  void finish_names(Computation& computation);
  bool has_effect(const Instruction& instruction) const;
  Computation* new_computation(std::string_view base);
  Result<Instruction*> clone_constant(Scope& scope, const Instruction& constant);

  struct Function {
    const MlirOperation* syntax = nullptr;
    Computation* made = nullptr;
    bool in_progress = false;
  };

  std::shared_ptr<const Source> source_;
  MlirModule syntax_;
  MlirValues values_;
  std::unique_ptr<Module> module_;
  std::unordered_map<std::string_view, Function> functions_;
  std::unordered_map<std::string, int64_t> name_counts_;
  std::unordered_map<std::string_view, Metadata> metadata_;
  std::deque<std::string> kept_;
  std::unordered_set<const Computation*> effects_;  ///< those that do something beside their result
  int depth_ = 0;                                   ///< of functions and regions being made
};

/// Can this be recomputed in another computation instead of being passed: constants and what is made of them alone.
bool is_constant_like(const Instruction& instruction, int depth = 0);

/// loc(...): the framework's name, the user's file and line. Aliases are looked up in the module.
Metadata read_mlir_location(std::string_view text, const MlirModule& module);

/// `#sdy.sharding<@mesh, [{"x"}, {}]>`, or the first value of `#sdy.sharding_per_value<[...]>`, as HLO writes it; empty
/// where HLO has no form.
std::string hlo_sharding_of_shardy(std::string_view text, const MlirModule& module);
/// `#sdy.sharding_per_value<[<@mesh, ...>, <@mesh, ...>]>` as HLO writes it of a tuple.
std::string hlo_shardings_of_shardy(std::string_view text, const MlirModule& module);

/// `{name = "value"}` as HLO's frontend attributes: `{name="value"}`.
Result<std::string> frontend_attributes_of(const MlirAttribute& dictionary, const MlirValues& values);

}  // namespace lowtide::engine
