#pragma once
/// A program: computations of instructions. The order of a computation's instructions is its schedule.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/context.h"
#include "base/status.h"
#include "ir/attributes.h"
#include "ir/opcode.h"
#include "ir/shape.h"
#include "ir/sharding.h"

namespace lowtide::engine {

class Computation;
class Module;

/// An attribute kept as text: `key=text`.
struct RawAttribute {
  std::string key;
  std::string text;
};

/// metadata={...}: where an instruction came from.
struct Metadata {
  std::string op_name;      ///< "jit(step)/layers/mlp/dot_general"
  std::string op_type;      ///< older dumps
  std::string source_file;  ///< older dumps; newer ones have stack_frame_id
  int64_t source_line = 0;
  int64_t stack_frame_id = 0;      ///< 1-based index into Module::frames; 0: none
  std::vector<RawAttribute> rest;  ///< scheduling_name="...", as written, in order
  bool empty() const {
    return op_name.empty() && op_type.empty() && source_file.empty() && !source_line && !stack_frame_id && rest.empty();
  }
};

struct Instruction {
  int32_t id = 0;  ///< unique in the module, dense enough to index a vector of Module::id_limit() entries
  Opcode opcode = Opcode::kTuple;
  std::string name;  ///< without `%`; unique in its computation
  Shape shape;
  std::vector<Instruction*> operands;
  std::vector<Computation*> called;  ///< to_apply; condition, body; branches; calls; select, scatter; in that order
  std::vector<Instruction*> control_predecessors;
  Attributes attributes;
  std::shared_ptr<const Sharding> sharding;
  Metadata metadata;
  std::string frontend_attributes;  ///< `{...}` as written
  std::string backend_config;       ///< `"..."` or `{...}` as written
  std::vector<RawAttribute> extra;  ///< everything else, as written, in order
  Offset place = kNowhere;          ///< of the name in the module's source
  Computation* parent = nullptr;

  /// The attributes as T; the operation must have that kind.
  template <class T>
  const T& as() const {
    LT_ASSERT(std::holds_alternative<T>(attributes), "attributes of " + name + " are of another kind");
    return std::get<T>(attributes);
  }
  template <class T>
  const T* if_as() const {
    return std::get_if<T>(&attributes);
  }
  const Instruction& operand(size_t i) const { return *operands[i]; }
};

class Computation {
 public:
  Computation(Module* module, std::string name) : name(std::move(name)), module_(module) {}

  std::string name;
  Instruction* root = nullptr;
  std::string execution_thread;  ///< empty: the main one
  Offset place = kNowhere;

  Module& module() const { return *module_; }
  const std::vector<std::unique_ptr<Instruction>>& instructions() const { return instructions_; }

  /// Appends an instruction; id and parent are set here. The caller keeps operands before users.
  Instruction* append(std::unique_ptr<Instruction> instruction);
  /// The parameters by number; null for a number that no instruction has.
  std::vector<Instruction*> parameters() const;
  /// Puts the instructions in this order, which must be a permutation of them with operands before users.
  void reorder(const std::vector<Instruction*>& order);
  /// Removes every instruction for which dead(i) holds; nothing that stays may refer to them.
  void remove_if(const std::function<bool(const Instruction&)>& dead);
  /// Appends all instructions of `other`, parameters included.
  void take_all(Computation& other);

 private:
  Module* module_;
  std::vector<std::unique_ptr<Instruction>> instructions_;
};

/// A line of source: one row of FileLocations, with its names resolved.
struct SourceLocation {
  std::string file;
  std::string function;
  int64_t line = 0;
};

/// The tables FileNames, FunctionNames, FileLocations, StackFrames; ids in the text are 1-based, as here.
struct StackFrames {
  struct Location {
    int64_t file = 0, function = 0, line = 0, end_line = 0, column = 0, end_column = 0;
  };
  struct Frame {
    int64_t location = 0;
    int64_t parent = 0;  ///< as the text has it: the calling frame's id + 1; 1: a root
  };
  std::vector<std::string> files, functions;
  std::vector<Location> locations;
  std::vector<Frame> frames;
  bool empty() const { return files.empty() && functions.empty() && locations.empty() && frames.empty(); }
};

class Module {
 public:
  /// context: the session of the module and its clones; null: a new one with default settings.
  explicit Module(std::shared_ptr<Context> context = {})
      : context_(context ? std::move(context) : std::make_shared<Context>()) {}
  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  /// For one of several calls that use the session at once.
  void set_context(std::shared_ptr<Context> context) { context_ = std::move(context); }

  std::string name;
  std::shared_ptr<const Source> source;  ///< null for a module that was built, not read
  bool is_scheduled = false;
  /// Planner and executor must compute every sum of floats in one order, the same for all plans. Not printed.
  bool sums_in_order = false;
  int64_t replica_count = 1;
  std::optional<int64_t> num_partitions;
  std::vector<AliasEntry> input_output_alias;
  struct Donor {
    int64_t parameter = 0;
    ShapeIndex index;
  };
  std::vector<Donor> buffer_donors;
  std::optional<Shape> entry_layout;  ///< entry_computation_layout as a tuple ((parameters...), result)
  std::string frontend_attributes;    ///< `{...}` as written
  std::vector<RawAttribute> extra;    ///< other header attributes, as written, in order
  StackFrames stack;

  Computation* entry = nullptr;
  const std::vector<std::unique_ptr<Computation>>& computations() const { return computations_; }
  Computation* add_computation(std::string name);
  Computation* find_computation(std::string_view name) const;
  /// Every computation, each after those it calls, otherwise in their order. If calls form a cycle, one computation of
  /// the cycle precedes its callee.
  std::vector<Computation*> callees_first() const;
  /// Puts the computations in this order, which must be a permutation of them.
  void reorder(const std::vector<Computation*>& order);
  /// Removes computations for which dead(c) holds; nothing may refer to them.
  void remove_if(const std::function<bool(const Computation&)>& dead);
  /// A name not used by any computation: `base`, or `base.1`, `base.2`, ...
  std::string unused_computation_name(std::string_view base) const;

  int32_t next_id() { return next_id_++; }
  int32_t id_limit() const { return next_id_; }
  int64_t instruction_count() const;
  std::unique_ptr<Module> clone() const;

  /// The user's source line for an instruction, from its metadata or stack frame; nullopt if there is none.
  std::optional<SourceLocation> location_of(const Instruction& instruction) const;

 private:
  std::vector<std::unique_ptr<Computation>> computations_;
  std::unordered_map<std::string, Computation*> by_name_;
  int32_t next_id_ = 0;
  std::shared_ptr<Context> context_;
};

/// kUnsupported: the operation, its name, the reason, and its place in the text.
Status unsupported_at(const Instruction& instruction, const std::string& why);

}  // namespace lowtide::engine
