#pragma once
/// The graph behind arrays: values, and the steps that compute them. A graph grows as operations are called, and
/// shrinks as values are computed: a value that has its data drops its step, and with it the step's inputs.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/array.h"

namespace lowtide {
namespace lazy {

class Lowering;
class Pending;
struct Term;
struct Block;

struct Spec {
  Shape shape;
  Dtype dtype = float32;
};

/// The structure of a graph as bytes: graphs with equal keys share a plan.
class Key {
 public:
  void number(int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void numbers(const std::vector<int64_t>& values) {
    number(static_cast<int64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
  }
  void text(std::string_view text) {
    number(static_cast<int64_t>(text.size()));
    bytes_.append(text);
  }
  void value(const Shape& shape, Dtype dtype) {
    number(static_cast<int64_t>(dtype.val));
    numbers(shape);
  }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// The arguments of a derivative rule.
struct Backward {
  const std::vector<array>& inputs;
  const std::vector<array>& outputs;
  const std::vector<array>& cotangents;  ///< one per output
  const std::vector<bool>& wanted;       ///< per input
  const std::vector<bool>& reached;      ///< per output: has a cotangent; the others' are filled with zeros
};
using Gradients = std::vector<std::optional<array>>;  ///< per input; none: zero

/// The arguments of a batching rule: inputs whose first dimension is the batch, or that have no batch dimension.
struct Batch {
  const std::vector<array>& inputs;
  const std::vector<bool>& batched;
  int64_t count = 0;
  const std::vector<Spec>& outputs;  ///< without the batch
};

/// An operation with its attributes, and its rules for lowering, differentiation and batching. Operations with equal
/// names and descriptions are equal.
class Primitive {
 public:
  virtual ~Primitive() = default;
  virtual std::string_view name() const = 0;
  virtual void describe(Key&) const {}
  /// Adds the program's operations that compute it; returns a term per output.
  virtual std::vector<Term> lower(Lowering& to, const std::vector<Term>& inputs,
                                  const std::vector<Spec>& outputs) const = 0;
  virtual Gradients vjp(const Backward& at) const = 0;
  /// Outputs with the batch as their first dimension.
  virtual std::vector<array> vmap(const Batch& batch) const = 0;
  /// The output is the input's bytes under another shape.
  virtual bool is_view() const { return false; }
};

/// A running transformation: values created under it keep their steps, even once computed, until it ends.
struct Trace {
  std::atomic<bool> live = true;
  int depth = 0;  ///< number of enclosing traces
};

struct Step {
  std::shared_ptr<const Primitive> primitive;
  std::vector<array> inputs;
  std::vector<Spec> specs;                           ///< per output
  std::vector<std::weak_ptr<array::State>> outputs;  ///< expired if nothing refers to the output any more
  std::shared_ptr<Trace> trace;
  size_t largest_source = 0;
  int stream = 0;
  Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step();
};

}  // namespace lazy

struct array::State {
  Shape shape;
  Dtype dtype = float32;
  std::shared_ptr<lazy::Step> step;        ///< null: computed, or a placeholder that a transformation replaces
  size_t output = 0;                       ///< index among the step's outputs
  std::shared_ptr<lazy::Block> data;       ///< its bytes, row-major; null: not computed
  std::shared_ptr<lazy::Pending> pending;  ///< the run that writes `data`; null: none
  std::shared_ptr<lazy::Trace> trace;      ///< the outermost trace under which it was created
  size_t largest_source = 0;               ///< bytes of the largest array with data from which it is computed
  int stream = 0;
  bool was_computed = false;  ///< an earlier evaluation computed it, but didn't keep its data
  uint64_t mark = 0;          ///< identifies the last graph traversal that numbered it
  int64_t number = 0;         ///< its number in that traversal
  bool stands() const { return data != nullptr; }
};

namespace lazy {

/// Creates a step, and returns its outputs.
std::vector<array> apply_all(std::shared_ptr<const Primitive> primitive, std::vector<array> inputs,
                             std::vector<Spec> outputs, StreamOrDevice s = {});
/// An output of a step; a new array if nothing refers to that output any more.
array output_of(const std::shared_ptr<Step>& step, size_t output);
array apply(std::shared_ptr<const Primitive> primitive, std::vector<array> inputs, Shape shape, Dtype dtype,
            StreamOrDevice s = {});
/// A value without a step, which a transformation replaces by another value.
array placeholder(const Shape& shape, Dtype dtype, std::shared_ptr<Trace> trace = {});
/// A copy of `a` under a trace, so that values computed from it can be recognised.
array traced_copy(const array& a, const std::shared_ptr<Trace>& trace);

/// The steps that compute `to` and depend on `from`, inputs before users.
std::vector<std::shared_ptr<Step>> steps_between(const std::vector<array>& from, const std::vector<array>& to);
/// All steps that compute `to`, inputs before users. The traversal ends at `stop`, and at computed values; with
/// `through`, it continues through computed values whose steps a running transformation keeps.
std::vector<std::shared_ptr<Step>> steps_below(const std::vector<array>& to, const std::vector<array>& stop = {},
                                               bool through = false);
int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  ///< "(2, 3)"

/// A traced function: outputs over placeholders.
struct Function {
  std::vector<array> inputs, outputs;
  std::string key;  ///< the key of its structure
};
/// The outputs, computed from `inputs` instead of `from`.
std::vector<array> substitute(const std::vector<array>& from, const std::vector<array>& outputs,
                              const std::vector<array>& inputs);

}  // namespace lazy
}  // namespace lowtide
