#pragma once
/// A program that is read as a function of arrays: each of its operations becomes steps of a graph. Most become the
/// primitives that arrays consist of. The others become one step each that is the operation itself (verbatim()), and
/// has its derivative and its batches from what it is equal to.

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

/// One operation at which a translation has arrived.
struct At {
  ProgramPtr program;
  const ProgramFunction& function;
  const ProgramOperation& operation;
  std::vector<Leaves> in;
  const array& operator[](size_t operand) const { return in[operand].front(); }
};

std::vector<Spec> leaf_specs(const ProgramOperation& operation);
/// A function with all that it calls: equal texts are equal functions.
std::string text_of(const Program& program, size_t function);
size_t leaf_count(const ModuleBuilder::Shape& shape);
/// std::runtime_error: "sort.3 (step.hlo:12:3) ..."
[[noreturn]] void refuse(const ProgramOperation& operation, std::string_view why);

/// The values of these operations of a function; `known` has those that are given instead of computed.
std::vector<Leaves> evaluated(const ProgramPtr& program, size_t function, const std::vector<Leaves>& arguments,
                              std::unordered_map<size_t, Leaves> known, const std::vector<size_t>& wanted);
/// The value of a function.
Leaves called(const ProgramPtr& program, size_t function, const std::vector<Leaves>& arguments);
/// A function of scalars, applied to all elements of arrays of one shape.
Leaves called_on_elements(const ProgramPtr& program, size_t function, const Leaves& arguments);

/// Which value a leaf of an operation's value is, when tuples are looked through.
struct Source {
  size_t operation = 0, leaf = 0;
  bool operator==(const Source&) const = default;
};
bool is_looked_through(const ProgramOperation& operation);  ///< it gives what it is given
Source source_of(const ProgramFunction& function, size_t operation, size_t leaf);

using Rule = Leaves (*)(const At&);
/// Null: this isn't supported.
Rule rule_of(std::string_view operation);
void add_fold_rules(std::unordered_map<std::string_view, Rule>& rules);
void add_place_rules(std::unordered_map<std::string_view, Rule>& rules);
void add_loop_rules(std::unordered_map<std::string_view, Rule>& rules);
void add_matrix_rules(std::unordered_map<std::string_view, Rule>& rules);

// ---- operations as they stand

using Derivative = std::function<Gradients(const Backward&)>;
using Batching = std::function<std::vector<array>(const Batch&)>;
/// What an operation's results are equal to: outputs of inputs, of which the operation's own outputs are known.
using Equal = std::function<Leaves(const Leaves& inputs, const Leaves& outputs)>;

/// The operation as one step. Without a derivative it is an error to ask for one; without batching it is done for one
/// of the batch after another.
Leaves verbatim(const At& at, Derivative derivative, Batching batching = nullptr);
Gradients zero(const Backward& at);
Derivative as_of(Equal equal);
/// The same operation on operands with the batch in front; its attributes name no dimensions.
Batching by_element(const At& at);
Batching batched_as(Equal equal);

// ---- attributes

const std::string* attribute(const ProgramOperation& operation, std::string_view key);
Dims numbers_in(std::string_view text);                                 ///< all integers
Dims dims_of(const ProgramOperation& operation, std::string_view key);  ///< empty where it isn't there
int64_t integer_of(const ProgramOperation& operation, std::string_view key, int64_t absent);
bool flag_of(const ProgramOperation& operation, std::string_view key);
std::string word_of(const ProgramOperation& operation, std::string_view key);
struct ProgramWindow {
  Dims size, stride, low, high, input_dilation, dilation, reversal;
};
ProgramWindow window_of(const ProgramOperation& operation, size_t dimensions);

/// The operation that a function of two scalars is; none: something else.
std::optional<Op> binary_of(const ProgramFunction& function);
/// Is the scalar that an operand is a constant that changes nothing in such a fold?
bool is_start_of(const At& at, size_t operand, Op fold);
/// Is every element of an operand the same infinity, as a constant of the program?
bool is_infinite(const At& at, size_t operand);
array literal_of(const ProgramOperation& constant);

}  // namespace lowtide::lazy
