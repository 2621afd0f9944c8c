#pragma once
/// What arrays are made of: values and the steps that compute them. A graph grows as operations are called, and shrinks
/// as values are computed: a value that stands forgets its step, and with it what it was made of.

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

/// The structure of a graph as bytes: equal ones have one plan.
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

/// What a derivative rule is handed.
struct Backward {
  const std::vector<array>& inputs;
  const std::vector<array>& outputs;
  const std::vector<array>& cotangents;  ///< one per output
  const std::vector<bool>& wanted;       ///< per input
  const std::vector<bool>& reached;      ///< per output: its cotangent isn't just zero
};
using Gradients = std::vector<std::optional<array>>;  ///< per input; none: zero

/// What a batching rule is handed: inputs whose first dimension is the batch, or that have none.
struct Batch {
  const std::vector<array>& inputs;
  const std::vector<bool>& batched;
  int64_t count = 0;
  const std::vector<Spec>& outputs;  ///< without the batch
};

/// An operation with its attributes: all that is known of it stands here. Equal names and descriptions mean equal
/// operations.
class Primitive {
 public:
  virtual ~Primitive() = default;
  virtual std::string_view name() const = 0;
  virtual void describe(Key&) const {}
  /// The operations that it is made of.
  virtual std::vector<Term> lower(Lowering& to, const std::vector<Term>& inputs,
                                  const std::vector<Spec>& outputs) const = 0;
  virtual Gradients vjp(const Backward& at) const = 0;
  /// Outputs with the batch as their first dimension.
  virtual std::vector<array> vmap(const Batch& batch) const = 0;
  /// The output is the input's bytes under another shape.
  virtual bool is_view() const { return false; }
};

/// A transformation that is at work: graphs made under it are kept whole until it ends.
struct Trace {
  std::atomic<bool> live = true;
  int depth = 0;  ///< traces around it
};

struct Step {
  std::shared_ptr<const Primitive> primitive;
  std::vector<array> inputs;
  std::vector<Spec> specs;                           ///< per output
  std::vector<std::weak_ptr<array::State>> outputs;  ///< those that somebody has
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
  std::shared_ptr<lazy::Step> step;        ///< null: it stands, or a transformation puts something in its place
  size_t output = 0;                       ///< which of the step's
  std::shared_ptr<lazy::Block> data;       ///< its bytes, row-major; null: not computed
  std::shared_ptr<lazy::Pending> pending;  ///< a run that is still making them; null: none
  std::shared_ptr<lazy::Trace> trace;      ///< the outermost that it was made under
  size_t largest_source = 0;               ///< bytes of the largest array with data that it is made of
  int stream = 0;
  bool was_computed = false;  ///< by an earlier evaluation, which had no use for it afterwards
  uint64_t mark = 0;          ///< of the last walk that came by
  int64_t number = 0;         ///< in that walk
  bool stands() const { return data != nullptr; }
};

namespace lazy {

/// Makes the outputs of a new step.
std::vector<array> apply_all(std::shared_ptr<const Primitive> primitive, std::vector<array> inputs,
                             std::vector<Spec> outputs, StreamOrDevice s = {});
/// An output of a step, recomputed where nobody has it any more.
array output_of(const std::shared_ptr<Step>& step, size_t output);
array apply(std::shared_ptr<const Primitive> primitive, std::vector<array> inputs, Shape shape, Dtype dtype,
            StreamOrDevice s = {});
/// A value without a step, for which a transformation puts another.
array placeholder(const Shape& shape, Dtype dtype, std::shared_ptr<Trace> trace = {});
/// `a` under a trace, so that what is made of it can be told from what isn't.
array traced_copy(const array& a, const std::shared_ptr<Trace>& trace);

/// Steps that lie between `from` and `to`, inputs before users; those that don't depend on `from` are left out.
std::vector<std::shared_ptr<Step>> steps_between(const std::vector<array>& from, const std::vector<array>& to);
/// All steps below `to`, inputs before users; they end at `stop`, and at values that stand, unless a transformation
/// that is at work keeps those whole and `through` asks for it.
std::vector<std::shared_ptr<Step>> steps_below(const std::vector<array>& to, const std::vector<array>& stop = {},
                                               bool through = false);
int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  ///< "(2, 3)"

/// A traced function: outputs over placeholders.
struct Function {
  std::vector<array> inputs, outputs;
  std::string key;  ///< of its structure
};
/// The outputs with `inputs` in the place of the function's own.
std::vector<array> substitute(const std::vector<array>& from, const std::vector<array>& outputs,
                              const std::vector<array>& inputs);

}  // namespace lazy
}  // namespace lowtide
