#pragma once
/// A program as a function of arrays: each of its operations becomes steps of a graph. Most operations become
/// primitives of arrays. Each of the others becomes one step, the operation itself (verbatim()), whose derivative and
/// batching come from an equal expression of primitives.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "arrays/primitives.h"
#include "lowtide/program_functions.h"
#include "lowtide/transforms.h"

namespace lowtide::lazy {

struct Program {
  std::vector<ProgramFunction> functions;
};
using ProgramPtr = std::shared_ptr<const Program>;
using Leaves = std::vector<array>;  ///< the arrays of a value: several of a tuple, none of a token

/// The operation that is being translated, with its operands' values.
struct At {
  ProgramPtr program;
  const ProgramFunction& function;
  const ProgramOperation& operation;
  std::vector<Leaves> in;
  const array& operator[](size_t operand) const { return in[operand].front(); }
};

std::vector<Spec> leaf_specs(const ProgramOperation& operation);
/// The text of a function and of all functions that it calls: functions with equal texts are equal.
std::string text_of(const Program& program, size_t function);
size_t leaf_count(const ModuleBuilder::Shape& shape);
/// std::runtime_error: "sort.3 (step.hlo:12:3) ..."
[[noreturn]] void refuse(const ProgramOperation& operation, std::string_view why);

/// The values of the `wanted` operations of a function; values in `known` are used instead of being computed.
std::vector<Leaves> evaluated(const ProgramPtr& program, size_t function, const std::vector<Leaves>& arguments,
                              std::unordered_map<size_t, Leaves> known, const std::vector<size_t>& wanted);
Leaves called(const ProgramPtr& program, size_t function, const std::vector<Leaves>& arguments);
/// Applies a function of scalars to all elements of arrays of one shape.
Leaves called_on_elements(const ProgramPtr& program, size_t function, const Leaves& arguments);

/// The origin of a leaf of an operation's value, found by looking through tuples and copies.
struct Source {
  size_t operation = 0, leaf = 0;
  bool operator==(const Source&) const = default;
};
bool is_looked_through(const ProgramOperation& operation);  ///< its value is its first operand's
Source source_of(const ProgramFunction& function, size_t operation, size_t leaf);

using Rule = Leaves (*)(const At&);
/// Null: the operation isn't supported.
Rule rule_of(std::string_view operation);
void add_fold_rules(std::unordered_map<std::string_view, Rule>& rules);
void add_place_rules(std::unordered_map<std::string_view, Rule>& rules);
void add_loop_rules(std::unordered_map<std::string_view, Rule>& rules);
void add_matrix_rules(std::unordered_map<std::string_view, Rule>& rules);

// ---- operations as single steps

using Derivative = std::function<Gradients(const Backward&)>;
using Batching = std::function<std::vector<array>(const Batch&)>;
/// Computes an operation's results by primitives: from its inputs, and from its own outputs where those are available.
using Equal = std::function<Leaves(const Leaves& inputs, const Leaves& outputs)>;

/// The operation as one step. Without a derivative, differentiating it is an error; without a batching rule, a scan
/// computes the batch's elements one after another.
Leaves verbatim(const At& at, Derivative derivative, Batching batching = nullptr);
Gradients zero(const Backward& at);
Derivative as_of(Equal equal);
/// Batches by the same operation on operands with a leading batch dimension; its attributes must name no dimensions.
Batching by_element(const At& at);
Batching batched_as(Equal equal);

// ---- attributes

const std::string* attribute(const ProgramOperation& operation, std::string_view key);
Dims numbers_in(std::string_view text);                                 ///< all integers
Dims dims_of(const ProgramOperation& operation, std::string_view key);  ///< empty if it is absent
int64_t integer_of(const ProgramOperation& operation, std::string_view key, int64_t absent);
bool flag_of(const ProgramOperation& operation, std::string_view key);
std::string word_of(const ProgramOperation& operation, std::string_view key);
struct ProgramWindow {
  Dims size, stride, low, high, input_dilation, dilation, reversal;
};
ProgramWindow window_of(const ProgramOperation& operation, size_t dimensions);

/// The fold operation (add, multiply, maximum, ...) that a function of two scalars computes; none: another function.
std::optional<Op> binary_of(const ProgramFunction& function);
/// Is the operand, a scalar, a constant that is the neutral element of this fold?
bool is_start_of(const At& at, size_t operand, Op fold);
/// Is every element of an operand the same infinity, as a constant of the program?
bool is_infinite(const At& at, size_t operand);
array literal_of(const ProgramOperation& constant);

}  // namespace lowtide::lazy
