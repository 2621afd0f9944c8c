#pragma once
/// Builds a Module from MLIR syntax: functions and regions become computations, several results become a tuple, and
/// values that a region captures become operands. Most operations are described by the table of spellings; each of the
/// others has a function.

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

/// Values that a reducer captures. They become additional parameters before argument `at`, and once more at the end if
/// `twice` (if `at` is the end, too, both parameters of a value are adjacent); if `returned`, they are also results.
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
  /// A computation that is being built.
  struct Scope {
    Computation* computation = nullptr;
    Scope* outer = nullptr;  ///< the enclosing scope of a region
    std::unordered_map<std::string_view, std::vector<Part>> values;
    std::unordered_map<const Instruction*, Part> captured;  ///< by the outer value
    std::unordered_map<const Instruction*, Instruction*> cloned;
    std::unordered_map<std::string, Instruction*> constants;  ///< constants and their broadcasts, by content
  };

  // module_maker.cpp: values
  Result<Instruction*> value(Scope& scope, const MlirUse& use);
  Result<std::vector<Instruction*>> operands(Scope& scope, const MlirOperation& operation);
  /// Appends an instruction; its rule reads the attributes, and those that the rule doesn't know are kept as text.
  Result<Instruction*> add(Scope& scope, const MlirOperation& operation, Opcode opcode, Shape shape,
                           std::vector<Instruction*> operands, std::vector<HloAttribute> attributes = {});
  Result<Instruction*> add_constant(Scope& scope, const MlirOperation& operation, Value value);
  /// Sets the operation's result to this value; several results are the first elements of this tuple.
  void bind(Scope& scope, const MlirOperation& operation, Instruction* result, bool elements = false);
  void bind_each(Scope& scope, const MlirOperation& operation, const std::vector<Instruction*>& results);
  /// `dims[i]` is the result's dimension for the operand's dimension i; extents of 1 are expanded.
  Result<Instruction*> broadcast(Scope& scope, const MlirOperation& operation, Instruction* operand,
                                 const Dims& extents, const Dims& dims);
  /// The single value, or a tuple if there are several values or none.
  Result<Instruction*> bundle(Scope& scope, const MlirOperation& operation, std::vector<Instruction*> values);

  // computations.cpp
  Result<Computation*> function(std::string_view symbol, Offset place);
  /// The computation of a region whose block arguments are its parameters; besides `captured`, the region may use only
  /// constants from outside.
  Result<Computation*> reducer(Scope& outer, const MlirRegion& region, std::string_view name,
                               const CapturedScalars& captured = {});
  /// The computation of a region with a single parameter for all its arguments and `captures`; if `loops`, the captures
  /// are also results.
  Result<Computation*> branch(Scope& outer, const MlirRegion& region, std::string_view name,
                              const std::vector<Instruction*>& captures, bool loops);
  /// The values that the regions capture, without those that are recomputed inside.
  Result<std::vector<Instruction*>> captures(Scope& scope, const std::vector<const MlirRegion*>& regions);
  /// Builds the block's instructions; returns the values that the block returns.
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
  /// Keeps a text alive as long as this object, since attributes are views.
  const std::string& keep(std::string text) { return kept_.emplace_back(std::move(text)); }
  /// The metadata of `loc(...)`.
  const Metadata& metadata(std::string_view location);

 private:
  Status make_entry(const MlirOperation& main);
  Status read_module_attributes();
  Result<const MlirOperation*> find_entry(const std::string& entry) const;
  void drop_unreachable();
  void read_donations(const MlirOperation& main);
  void read_notes(const MlirOperation& main);
  std::optional<AliasEntry> alias_of(const MlirAttribute& entry, const MlirOperation& main) const;
  // result_shardings.cpp: as XLA does when it reads StableHLO
  /// Marks results that have a Shardy sharding by a custom call.
  Status mark_results(Scope& scope, const MlirOperation& function, std::vector<Instruction*>& results);
  /// Annotates the root with the shardings of all results.
  Status shard_results(Scope& scope, const MlirOperation& function);
  Status annotate(Instruction& instruction, const MlirAttributes& attributes);
  /// Drops unused instructions and names the others.
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
  std::unordered_set<const Computation*> effects_;  ///< computations with side effects
  int depth_ = 0;                                   ///< nesting of the functions and regions being built
};

/// Can this be recomputed in another computation instead of being passed? True for constants, and for values that are
/// computed from constants alone.
bool is_constant_like(const Instruction& instruction, int depth = 0);

/// Reads loc(...): the framework's name, the user's file and line. Aliases are looked up in the module.
Metadata read_mlir_location(std::string_view text, const MlirModule& module);

/// `#sdy.sharding<@mesh, [{"x"}, {}]>`, or the first value of `#sdy.sharding_per_value<[...]>`, as HLO text; empty if
/// HLO can't express it.
std::string hlo_sharding_of_shardy(std::string_view text, const MlirModule& module);
/// `#sdy.sharding_per_value<[<@mesh, ...>, <@mesh, ...>]>` as HLO's sharding of a tuple.
std::string hlo_shardings_of_shardy(std::string_view text, const MlirModule& module);

/// `{name = "value"}` as HLO's frontend attributes: `{name="value"}`.
Result<std::string> frontend_attributes_of(const MlirAttribute& dictionary, const MlirValues& values);

}  // namespace lowtide::engine
