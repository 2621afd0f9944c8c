#pragma once
/// Lowers a graph's steps to operations of a program. A Term is a value of the program that is being built; operators
/// on terms are elementwise operations.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arrays/graph.h"
#include "lowtide/module.h"

namespace lowtide {
struct ProgramOperation;
}

namespace lowtide::lazy {

struct Program;
std::string_view hlo_type(Dtype type);  ///< "bf16"

struct Term {
  Lowering* to = nullptr;
  ModuleBuilder::Value value;
  Dtype dtype = float32;
  Shape shape;
};

using Attributes = std::vector<ModuleBuilder::Attribute>;
enum class Reducer : uint8_t { kSum, kProduct, kMaximum, kMinimum, kAnd, kOr };

/// The state that the functions of one program share.
struct LoweredModule {
  ModuleBuilder builder;
  int64_t functions = 0;
  std::map<std::string, std::string> reducers;
  std::map<std::string, std::string> copies;  ///< names of copied functions of other programs, by their texts
  explicit LoweredModule(std::string name) : builder(std::move(name)) {}
};

/// One function of a program.
class Lowering {
 public:
  Lowering(LoweredModule& module, ModuleBuilder::Function& function) : module_(module), function_(function) {}

  Term parameter(const Shape& shape, Dtype dtype);
  Term add(std::string_view operation, const std::vector<Term>& operands, Attributes attributes, Shape shape,
           Dtype dtype);
  /// Adds an operation with several results; returns these.
  std::vector<Term> add_tuple(std::string_view operation, const std::vector<Term>& operands, Attributes attributes,
                              const std::vector<Spec>& results);
  std::vector<Term> parts(ModuleBuilder::Value tuple, const std::vector<Spec>& results);
  ModuleBuilder::Value tuple(const std::vector<Term>& terms);
  std::vector<Term> tuple_parameter(const std::vector<Spec>& elements);

  /// An array with this number in every element.
  Term constant(double value, Dtype dtype, const Shape& shape = {});
  Term bits(uint64_t bits, Dtype dtype, const Shape& shape = {});  ///< as constant(), from an element's bits
  Term table(const std::vector<double>& values, Dtype dtype);
  Term elements(const void* elements, Dtype dtype, const Shape& shape);  ///< row-major
  Term iota(const Shape& shape, Dtype dtype, int64_t dimension);
  Term broadcast(const Term& a, const Shape& shape, const std::vector<int64_t>& dimensions);
  Term splat(const Term& scalar, const Shape& shape) { return broadcast(scalar, shape, {}); }
  Term reshape(const Term& a, const Shape& shape);
  Term convert(const Term& a, Dtype dtype);
  Term bitcast(const Term& a, Dtype dtype);  ///< to a type of the same width
  Term select(const Term& condition, const Term& yes, const Term& no);
  Term compare(const Term& a, const Term& b, std::string_view direction);
  Term slice(const Term& a, const std::vector<int64_t>& starts, const std::vector<int64_t>& stops,
             const std::vector<int64_t>& strides);
  Term unary(std::string_view operation, const Term& a) { return add(operation, {a}, {}, a.shape, a.dtype); }
  Term binary(std::string_view operation, const Term& a, const Term& b) {
    return add(operation, {a, b}, {}, a.shape, a.dtype);
  }
  /// The neutral element of the fold.
  Term start_of(Reducer reducer, Dtype dtype);
  Term reduce(const Term& a, Reducer reducer, const std::vector<int64_t>& dimensions);

  /// The name of a function of two scalars.
  std::string reducer(Reducer reducer, Dtype dtype);
  /// The attributes of another program's operation; the functions that it calls are copied into this program.
  Attributes attributes_of(const Program& program, const ProgramOperation& operation);
  /// A new function whose name begins with `name`; finish() completes it.
  struct Nested {
    std::string name;
    std::unique_ptr<Lowering> lowering;
  };
  Nested nested(std::string_view name);
  void finish(const std::vector<Term>& results);
  void finish_tuple(const std::vector<Term>& results);  ///< the result is a tuple, even of a single term
  std::vector<Term> loop(const std::vector<Term>& init, const std::string& condition, const std::string& body);
  std::vector<Term> branch(const Term& pred, const std::vector<Term>& of_true, const std::string& on_true,
                           const std::vector<Term>& of_false, const std::string& on_false,
                           const std::vector<Spec>& results);
  /// Lowers a function's graph, with these terms as its inputs; returns its outputs.
  std::vector<Term> inlined(const std::vector<array>& from, const std::vector<array>& outputs,
                            const std::vector<Term>& inputs);

 private:
  std::string copy_of(const Program& program, size_t function);
  LoweredModule& module_;
  ModuleBuilder::Function& function_;
  std::map<std::string, Term> constants_;
};

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);
Term operator^(const Term& a, const Term& b);
Term operator|(const Term& a, const Term& b);
Term operator&(const Term& a, const Term& b);
Term operator+(const Term& a, double b);
Term operator-(const Term& a, double b);
Term operator*(const Term& a, double b);
Term operator-(const Term& a);
Term operator<(const Term& a, const Term& b);
Term operator>(const Term& a, double b);
Term operator<(const Term& a, double b);
Term shift_left(const Term& a, int by);
Term shift_right(const Term& a, int by);  ///< logical: fills with zeros

/// A float32 that is rounded before it is added: otherwise a product may be fused with the sum, without rounding.
Term rounded(const Term& a);

std::string list_text(const std::vector<int64_t>& numbers);  ///< "{0,2}"

}  // namespace lowtide::lazy
