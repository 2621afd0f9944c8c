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

/// A place where a program calls a host function (lowtide/host_call.h).
struct HostCallSite {
  std::string name, config;
  bool has_effect = false;  ///< the call isn't pure
  bool operator==(const HostCallSite&) const = default;
};

struct LaidOut;

/// Immutable and shared: copies are cheap, and any number of threads may use them at once. Belongs to one session.
class LOWTIDE_PUBLIC Module {
 public:
  const std::string& name() const;
  int64_t instructions() const;
  std::vector<ProgramArray> arguments() const;
  std::vector<ProgramArray> results() const;
  /// Floating-point operations of one run, as XLA's cost analysis counts them.
  double flops() const;
  /// What a reader of the sizes should know: parts that the text abbreviates, shardings that contradict its header.
  const std::vector<std::string>& warnings() const;
  /// Bytes of the program as given: of a scheduled module in XLA's order with XLA's fusions, of any other in a
  /// plain order.
  Result<Sizes> as_given() const;
  /// Lower bounds on the bytes: for any order of the operations as given, and for any executor.
  Result<LowerBound> floor_of_order() const;
  Result<LowerBound> floor_of_any() const;
  /// kInput if the text omits elements of constants ({...}): such a program can be planned but not run.
  Result<void> has_all_values() const;
  /// The same, and kUnsupported if it is a program for several devices.
  Result<void> can_run() const;
  /// The part of a program for several devices that each device runs by itself, on its shards of the arrays: the whole
  /// program if all arrays are replicated, or the manual region (JAX's pmap and shard_map) if that is all of it.
  /// kUnsupported: arrays are sharded otherwise, a result's sharding isn't stated, or devices communicate.
  Result<Module> on_each_device() const;
  /// The same program in which this argument may be donated too (Argument::donated). kUsage: there is no such argument.
  Result<Module> giving(int64_t argument) const;
  /// The same program with the tokens among its arguments and results as arrays pred[0], as hosts with ordered effects
  /// (JAX) pass them. Otherwise tokens are left out.
  Result<Module> with_tokens_as_arrays() const;
  /// The program on arrays in the layouts that it states for them (JAX's layouts, `mhlo.layout_mode`); arrays without
  /// a stated layout are row-major. kUnsupported: a layout has tiles; kInput: it isn't an order of the array's
  /// dimensions.
  Result<LaidOut> laid_out() const;
  /// The program's calls of host functions, each distinct one once.
  std::vector<HostCallSite> host_calls() const;
  /// HLO text that XLA and this library read.
  std::string hlo() const;
  /// StableHLO text that jaxlib reads. kUnsupported names an operation that StableHLO lacks.
  Result<std::string> stablehlo() const;
  /// The same as MLIR bytecode, a portable StableHLO artifact: what stablehlo.deserialize_portable_artifact reads.
  Result<std::string> bytecode() const;

  struct State;
  explicit Module(std::shared_ptr<const State> state);
  const std::shared_ptr<const State>& state() const { return state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// A program on row-major arrays, whose extents are those of the original's arrays in their order in memory, major to
/// minor. Numbers of arguments and results don't change, nor whether arguments can be donated.
struct LaidOut {
  Module program;
  /// For each array of the original, the dimensions of its layout, minor to major; {1, 0} is a row-major matrix.
  std::vector<std::vector<int64_t>> arguments, results;
};

/// Builds a program. Operations have the names and attributes of HLO text; shapes are inferred from the operands and
/// must be stated only if they can't be inferred (iota, reshape, broadcast, rng). finish() reports errors.
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
    std::string type;  ///< empty: inferred from the operands
    std::vector<int64_t> dims;
    std::vector<Shape> elements;  ///< only of a tuple, whose type is "tuple"
  };
  struct Attribute {
    std::string key, text;  ///< "dimensions", "{0,1}"; a computation by its name: "to_apply", "add"
  };
  /// A value of one function, created by that function.
  struct Value {
    int32_t number = -1;
  };

  /// The entry, or a computation that operations call: a reducer, a loop's body or condition, a branch.
  class LOWTIDE_PUBLIC Function {
   public:
    Value parameter(std::string type, std::vector<int64_t> dims);
    /// A parameter that may be a tuple, such as the loop-carried values of a loop's body and condition.
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
  /// A computation that operations refer to by name; it must be complete before the first such operation is added.
  Function& function(const std::string& name);
  /// Result `result` may live in the memory of argument `argument`, if that is donated in a run.
  void donate(int64_t argument, int64_t result);

  struct State;
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace lowtide
