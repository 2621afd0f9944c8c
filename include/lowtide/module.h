#pragma once
/// A program: read from a file or from memory (Session::read, Session::parse), or built operation by operation.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/explanation.h"
#include "lowtide/program_array.h"
#include "lowtide/visibility.h"

namespace lowtide {

struct BuilderParts;

/// Where a program calls a function of the host's (lowtide/host_call.h).
struct HostCallSite {
  std::string name, config;
  bool has_effect = false;  ///< it isn't pure
  bool operator==(const HostCallSite&) const = default;
};

/// Immutable and shared: copies are cheap, and any number of threads may use them at once. Of one session.
class LOWTIDE_PUBLIC Module {
 public:
  const std::string& name() const;
  int64_t instructions() const;
  std::vector<ProgramArray> arguments() const;
  std::vector<ProgramArray> results() const;
  /// Operations on numbers that a run takes, as XLA's cost analysis counts them.
  double flops() const;
  /// What a reader of the figures should know: parts that the text abbreviates, shardings that contradict its header.
  const std::vector<std::string>& warnings() const;
  /// Bytes as it stands: a scheduled module in XLA's order and fusions, any other in a plain one.
  Result<Sizes> as_given() const;
  /// No order of the operations as they stand, and no executor, needs less.
  Result<LowerBound> floor_of_order() const;
  Result<LowerBound> floor_of_any() const;
  /// kInput where the text leaves out elements of constants ({...}): that can be planned, and not run.
  Result<void> has_all_values() const;
  /// The same, and kUnsupported where it is a program of several devices.
  Result<void> can_run() const;
  /// Of a program of several devices what each runs by itself, on its parts of the arrays: the program as it is, where
  /// all arrays are whole on all devices, or the region where manual regions (JAX's pmap and shard_map) are all of it.
  /// kUnsupported: arrays are divided elsewhere, results as nobody states, or devices talk to each other.
  Result<Module> on_each_device() const;
  /// The same program, of which this argument may be given away too (Argument::donated). kUsage: it has none of the
  /// number.
  Result<Module> giving(int64_t argument) const;
  /// The same program, of which tokens among arguments and results are arrays pred[0], as hosts hand them over that
  /// know of ordered effects (JAX). Otherwise arguments and results are the arrays alone.
  Result<Module> with_tokens_as_arrays() const;
  /// The calls of the host's functions in it, equal ones once.
  std::vector<HostCallSite> host_calls() const;
  /// HLO text that XLA reads, and this library.
  std::string hlo() const;
  /// StableHLO text that jaxlib reads. kUnsupported names an operation that StableHLO lacks.
  Result<std::string> stablehlo() const;
  /// The same as MLIR bytecode, a portable artifact of StableHLO's: what stablehlo.deserialize_portable_artifact reads.
  Result<std::string> bytecode() const;

  struct State;
  explicit Module(std::shared_ptr<const State> state);
  const std::shared_ptr<const State>& state() const { return state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// Builds a program. Operations have HLO's names and attributes, as HLO's text has them; shapes follow from the
/// operands, and are stated only where they don't (iota, reshape, broadcast, rng). Faults are kept until finish().
///
///   lowtide::ModuleBuilder builder("scaled");
///   auto& main = builder.entry();
///   const auto x = main.parameter("f32", {1024, 1024});
///   const auto two = main.add("broadcast", {main.constant("f32", {}, &number)}, {{"dimensions", "{}"}}, {"f32", {1024,
///   1024}}); main.result({main.add("multiply", {x, two})}); lowtide::Result<lowtide::Module> module =
///   session.build(builder);
class LOWTIDE_PUBLIC ModuleBuilder {
 public:
  struct Shape {
    std::string type;  ///< empty: follows from the operands
    std::vector<int64_t> dims;
    std::vector<Shape> elements;  ///< of a tuple, whose type is "tuple"
  };
  struct Attribute {
    std::string key, text;  ///< "dimensions", "{0,1}"; a computation by its name: "to_apply", "add"
  };
  /// A value of one function; made by it alone.
  struct Value {
    int32_t number = -1;
  };

  /// The entry, or what operations call: reducers, bodies and conditions of loops, branches.
  class LOWTIDE_PUBLIC Function {
   public:
    Value parameter(std::string type, std::vector<int64_t> dims);
    /// One that may be a tuple, as bodies and conditions of loops take their carries.
    Value parameter(Shape shape);
    /// elements: row-major, in the type's own bytes; copied.
    Value constant(std::string type, std::vector<int64_t> dims, const void* elements);
    Value add(std::string_view operation, std::vector<Value> operands, std::vector<Attribute> attributes = {},
              Shape shape = {});
    /// One value, or several as a tuple.
    void result(std::vector<Value> values);

   private:
    friend class ModuleBuilder;
    friend struct BuilderParts;
    struct State;
    explicit Function(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
  };

  explicit ModuleBuilder(std::string name);
  Function& entry();
  /// One that operations name; to be finished before the first of them is added.
  Function& function(const std::string& name);
  /// Result `result` may live in the memory of argument `argument`, if that is donated when it is run.
  void donate(int64_t argument, int64_t result);

  struct State;
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace lowtide
