// A builder only records what it is told; names, shapes and attributes are interpreted when a module is made.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "lowtide/module.h"
#include "ops/attribute_text.h"
#include "ops/op_rule.h"
#include "ops/verify.h"
#include "session/make.h"

namespace lowtide {

struct ModuleBuilder::Function::State {
  struct Operation {
    std::string name;
    std::vector<Value> operands;
    std::vector<Attribute> attributes;
    Shape shape;
    const void* elements = nullptr;  ///< a constant's, until they are copied
    std::vector<std::byte> bytes;
    int64_t number = 0;  ///< of a parameter
  };
  std::string name;
  std::vector<Operation> operations;
  std::vector<Value> results;
  int64_t parameters = 0;
  std::shared_ptr<int64_t> finished_all;  ///< how many functions of the module have their results
  int64_t finished = 0;                   ///< this function's number among these; 0: it has no results yet

  Value add(Operation operation) {
    operations.push_back(std::move(operation));
    return {static_cast<int32_t>(operations.size()) - 1};
  }
};

struct ModuleBuilder::State {
  std::string name;
  std::vector<std::pair<int64_t, int64_t>> donations;  ///< argument, result
  std::vector<std::unique_ptr<Function>> functions;    ///< the entry first
  std::shared_ptr<int64_t> finished = std::make_shared<int64_t>(0);
};

namespace {

std::optional<engine::Shape> shape_of(const ModuleBuilder::Shape& stated) {
  if (stated.type == "tuple") {
    std::vector<engine::Shape> elements;
    for (const ModuleBuilder::Shape& element : stated.elements) {
      auto shape = shape_of(element);
      if (!shape) return {};
      elements.push_back(std::move(*shape));
    }
    return engine::Shape::tuple(std::move(elements));
  }
  const auto known = engine::type_from_name(stated.type);
  if (!known || !engine::is_array_type(*known)) return {};
  return engine::Shape::array(*known, stated.dims);
}

}  // namespace

ModuleBuilder::Function::Function(std::shared_ptr<State> state) : state_(std::move(state)) {}

ModuleBuilder::Value ModuleBuilder::Function::parameter(std::string type, std::vector<int64_t> dims) {
  return parameter(Shape{std::move(type), std::move(dims)});
}

ModuleBuilder::Value ModuleBuilder::Function::parameter(Shape shape) {
  State::Operation operation{.name = "parameter", .shape = std::move(shape)};
  operation.number = state_->parameters++;
  return state_->add(std::move(operation));
}

ModuleBuilder::Value ModuleBuilder::Function::constant(std::string type, std::vector<int64_t> dims,
                                                       const void* elements) {
  State::Operation operation{.name = "constant", .shape = {type, dims}};
  const auto shape = shape_of(operation.shape);
  const int64_t bytes = shape ? engine::logical_bytes(*shape) : 0;
  if (elements != nullptr && bytes > 0) {
    operation.bytes.resize(static_cast<size_t>(bytes));
    std::memcpy(operation.bytes.data(), elements, operation.bytes.size());
  }
  return state_->add(std::move(operation));
}

ModuleBuilder::Value ModuleBuilder::Function::add(std::string_view operation, std::vector<Value> operands,
                                                  std::vector<Attribute> attributes, Shape shape) {
  return state_->add({.name = std::string(operation),
                      .operands = std::move(operands),
                      .attributes = std::move(attributes),
                      .shape = std::move(shape)});
}

void ModuleBuilder::Function::result(std::vector<Value> values) {
  state_->results = std::move(values);
  state_->finished = ++*state_->finished_all;
}

ModuleBuilder::ModuleBuilder(std::string name) : state_(std::make_shared<State>()) {
  state_->name = std::move(name);
  (void)function("main");
}

ModuleBuilder::Function& ModuleBuilder::entry() { return *state_->functions.front(); }

ModuleBuilder::Function& ModuleBuilder::function(const std::string& name) {
  auto state = std::make_shared<Function::State>();
  state->name = name;
  state->finished_all = state_->finished;
  state_->functions.push_back(std::unique_ptr<Function>(new Function(std::move(state))));
  return *state_->functions.back();
}

void ModuleBuilder::donate(int64_t argument, int64_t result) { state_->donations.emplace_back(argument, result); }

/// Access to the private parts of the builder's classes.
struct BuilderParts {
  using Function = ModuleBuilder::Function::State;
  static const Function& of(const ModuleBuilder::Function& function) { return *function.state_; }
};

namespace engine {
namespace {

using Operation = BuilderParts::Function::Operation;

/// Makes the instructions of one function.
class MakeFunction {
 public:
  MakeFunction(Module& module, const BuilderParts::Function& from)
      : module_(module), from_(from), to_(*module.add_computation(from.name)) {}

  Result<Computation*> run() {
    for (const Operation& operation : from_.operations) {
      if (Status made = make(operation); !made.ok()) {
        return Status(made.fault(), fmt::format("function `{}`, operation {} ({}): {}", from_.name, made_.size(),
                                                operation.name, made.message()));
      }
    }
    LT_RETURN_IF_ERROR(make_root());
    return &to_;
  }

 private:
  Status make(const Operation& operation) {
    const auto opcode = opcode_from_name(operation.name);
    if (!opcode) return Status::input("there is no such operation");
    auto instruction = std::make_unique<Instruction>();
    instruction->opcode = *opcode;
    instruction->parent = &to_;
    instruction->name = fmt::format("{}.{}", operation.name, made_.size());
    for (const ModuleBuilder::Value value : operation.operands) {
      if (value.number < 0 || static_cast<size_t>(value.number) >= made_.size())
        return Status::input("an operand is no value of this function");
      instruction->operands.push_back(made_[value.number]);
    }
    const bool stated = !operation.shape.type.empty();
    if (stated) {
      const auto shape = shape_of(operation.shape);
      if (!shape) return Status::input(fmt::format("there is no element type `{}`", operation.shape.type));
      instruction->shape = *shape;
    }
    LT_RETURN_IF_ERROR(give_attributes(operation, *instruction));
    const OpRule& rule = rule_of(*opcode);
    if (!stated) {
      if (!rule.infer) return Status::input("its shape doesn't follow from its operands: state it");
      LT_ASSIGN_OR_RETURN(instruction->shape, rule.infer(*instruction));
    }
    made_.push_back(to_.append(std::move(instruction)));
    return {};
  }

  Status give_attributes(const Operation& operation, Instruction& instruction) {
    if (instruction.opcode == Opcode::kParameter) {
      instruction.attributes = ParameterAttributes{operation.number};
      return {};
    }
    if (instruction.opcode == Opcode::kConstant) {
      auto literal = std::make_shared<Literal>(instruction.shape);
      if (operation.bytes.size() != literal->bytes().size()) return Status::input("its elements are missing");
      std::ranges::copy(operation.bytes, literal->bytes().begin());
      instruction.attributes = ConstantAttributes{std::move(literal)};
      return {};
    }
    const OpRule& rule = rule_of(instruction.opcode);
    const Source source{from_.name, ""};
    std::vector<AttributeReader::Item> items;
    for (const auto& [key, text] : operation.attributes) items.push_back({key, text});
    AttributeReader reader(source, "", kNowhere, std::move(items), [&](std::string_view text, Offset) {
      const std::string_view name = text.starts_with('%') ? text.substr(1) : text;
      Computation* const found = module_.find_computation(name);
      return found && found->root ? Result<Computation*>(found)
                                  : Status::input(fmt::format("there is no finished function `{}`", name));
    });
    if (rule.read) LT_RETURN_IF_ERROR(rule.read(reader, instruction));
    for (const auto& left : std::move(reader).rest()) {
      if (instruction.opcode == Opcode::kCustomCall && left.key == "backend_config") {
        instruction.backend_config = std::string(left.text);
      } else if (instruction.opcode == Opcode::kCustomCall && left.key == "operand_layout_constraints") {
        instruction.extra.push_back({left.key, std::string(left.text)});
      } else {
        return Status::input(fmt::format("it has no attribute `{}`", left.key));
      }
    }
    return {};
  }

  Status make_root() {
    std::vector<Instruction*> results;
    for (const ModuleBuilder::Value value : from_.results) {
      if (value.number < 0 || static_cast<size_t>(value.number) >= made_.size())
        return Status::input(fmt::format("function `{}`: a result is no value of it", from_.name));
      results.push_back(made_[value.number]);
    }
    if (results.empty()) return Status::input(fmt::format("function `{}` has no result", from_.name));
    if (results.size() == 1) {
      to_.root = results.front();
      return {};
    }
    auto tuple = std::make_unique<Instruction>();
    tuple->opcode = Opcode::kTuple;
    tuple->name = "results";
    std::vector<Shape> shapes;
    for (const Instruction* result : results) shapes.push_back(result->shape);
    tuple->shape = Shape::tuple(std::move(shapes));
    tuple->operands = std::move(results);
    to_.root = to_.append(std::move(tuple));
    return {};
  }

  Module& module_;
  const BuilderParts::Function& from_;
  Computation& to_;
  std::vector<Instruction*> made_;
};

}  // namespace

Result<std::unique_ptr<Module>> make_module(const ModuleBuilder::State& builder, std::shared_ptr<Context> context) {
  auto module = std::make_unique<Module>(std::move(context));
  module->name = builder.name;
  // Functions in the order in which they were finished: callees come before callers.
  std::vector<const BuilderParts::Function*> called;
  for (size_t f = 1; f < builder.functions.size(); ++f) called.push_back(&BuilderParts::of(*builder.functions[f]));
  std::ranges::stable_sort(called, {}, &BuilderParts::Function::finished);
  for (const BuilderParts::Function* function : called) {
    const BuilderParts::Function& from = *function;
    if (module->find_computation(from.name) || from.name == "main")
      return Status::input(fmt::format("two functions are called `{}`", from.name));
    LT_RETURN_IF_ERROR(MakeFunction(*module, from).run().status());
  }
  LT_ASSIGN_OR_RETURN(module->entry, MakeFunction(*module, BuilderParts::of(*builder.functions.front())).run());
  const bool several = module->entry->root->shape.is_tuple();
  for (const auto& [argument, result] : builder.donations) {
    module->input_output_alias.push_back(
        {.output = several ? ShapeIndex{result} : ShapeIndex{}, .operand = argument, .operand_index = {}});
  }
  LT_RETURN_IF_ERROR(verify(*module));
  LT_RETURN_IF_ERROR(verify_sizes(*module));
  return module;
}

}  // namespace engine
}  // namespace lowtide
