// Builds computations from functions and regions.
#include <fmt/format.h>

#include <algorithm>

#include "text/stablehlo/mlir_types.h"
#include "text/stablehlo/module_maker.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepest = 200;  // nesting of functions and regions

bool is_end(std::string_view name) {
  return name == "return" || name == "func.return" || name == "stablehlo.return" || name == "mhlo.return" ||
         name == "sdy.return";
}

/// The names that regions use and don't define, each part once, in the order of first use.
class FreeUses {
 public:
  std::vector<MlirUse> all;

  void add(const MlirRegion& region) {
    const size_t outer = defined_.size();
    for (const MlirArgument& argument : region.arguments) define(argument.name);
    for (const MlirOperation& operation : region.operations) {
      for (const MlirUse& use : operation.operands) {
        if (counts_[use.name] == 0 && seen_[use.name].insert(use.part).second) all.push_back(use);
      }
      for (const MlirRegion& inner : operation.regions) add(inner);
      for (const MlirResult& result : operation.results) define(result.name);
    }
    for (; defined_.size() > outer; defined_.pop_back()) --counts_[defined_.back()];
  }

 private:
  void define(std::string_view name) {
    defined_.push_back(name);
    ++counts_[name];
  }

  std::vector<std::string_view> defined_;
  std::unordered_map<std::string_view, int64_t> counts_;
  std::unordered_map<std::string_view, std::unordered_set<int64_t>> seen_;
};

}  // namespace

Computation* ModuleMaker::new_computation(std::string_view base) {
  std::string name(base);
  for (char& c : name) {
    if (!is_name_char(c)) c = '_';
  }
  if (name.empty() || !is_name_start(name[0])) name.insert(0, 1, '_');
  std::string candidate = name;
  while (module_->find_computation(candidate)) candidate = fmt::format("{}.{}", name, ++name_counts_[name]);
  return module_->add_computation(candidate);
}

Instruction* ModuleMaker::add_parameter(Scope& scope, int64_t number, Shape shape) {
  auto parameter = std::make_unique<Instruction>();
  parameter->opcode = Opcode::kParameter;
  parameter->shape = std::move(shape);
  parameter->attributes = ParameterAttributes{number};
  return scope.computation->append(std::move(parameter));
}

Result<std::vector<Instruction*>> ModuleMaker::block(Scope& scope, const std::vector<MlirOperation>& operations) {
  for (const MlirOperation& each : operations) {
    if (!is_end(each.name)) {
      LT_RETURN_IF_ERROR(operation(scope, each));
      continue;
    }
    if (&each != &operations.back()) return fault(each.place, "found an operation behind the return");
    std::vector<Instruction*> returned;
    for (const MlirUse& use : each.operands) {
      LT_ASSIGN_OR_RETURN(Instruction * result, value(scope, use));
      returned.push_back(result);
    }
    return returned;
  }
  return fault(operations.empty() ? kNowhere : operations.back().place, "found a block without a return at its end");
}

Result<Computation*> ModuleMaker::function(std::string_view symbol, Offset place) {
  if (symbol.starts_with('@')) symbol.remove_prefix(1);
  if (symbol.starts_with('"') && symbol.size() > 1) symbol = symbol.substr(1, symbol.size() - 2);
  const auto found = functions_.find(symbol);
  if (found == functions_.end()) return fault(place, fmt::format("no function is named '@{}'", symbol));
  Function& function = found->second;
  if (function.made) return function.made;
  if (function.in_progress) return fault(place, fmt::format("function '@{}' calls itself", symbol));
  if (++depth_ > kDeepest) return fault(place, fmt::format("functions call each other more than {} deep", kDeepest));
  function.in_progress = true;
  const MlirOperation& syntax = *function.syntax;

  Scope scope;
  scope.computation = new_computation(symbol);
  scope.computation->place = syntax.place;
  int64_t number = 0;
  for (const MlirArgument& argument : syntax.regions[0].arguments) {
    Instruction* parameter = add_parameter(scope, number++, argument.type);
    parameter->place = argument.place;
    parameter->metadata = metadata(argument.location);
    LT_RETURN_IF_ERROR(annotate(*parameter, argument.attributes));
    MlirOperation named;
    named.results = {{argument.name, 1}};
    if (!scope.values.try_emplace(argument.name, std::vector<Part>{{parameter}}).second) {
      return fault(argument.place, fmt::format("'%{}' is defined twice", argument.name));
    }
    bind_each(scope, named, {parameter});
  }
  LT_ASSIGN_OR_RETURN(std::vector<Instruction*> results, block(scope, syntax.regions[0].operations));
  if (results.size() != syntax.types.size()) {
    return fault(syntax.place, fmt::format("function '@{}' returns {} values, its type says {}", symbol, results.size(),
                                           syntax.types.size()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (is_of_type(results[i]->shape, syntax.types[i])) continue;
    return fault(syntax.place, fmt::format("function '@{}' returns {} as result {}, its type says {}", symbol,
                                           mlir_type_text(results[i]->shape), i, mlir_type_text(syntax.types[i])));
  }
  LT_RETURN_IF_ERROR(mark_results(scope, syntax, results));
  LT_ASSIGN_OR_RETURN(scope.computation->root, bundle(scope, MlirOperation{}, std::move(results)));
  LT_RETURN_IF_ERROR(shard_results(scope, syntax));
  finish(*scope.computation);
  --depth_;
  function.in_progress = false;
  return function.made = scope.computation;
}

Result<Computation*> ModuleMaker::reducer(Scope& outer, const MlirRegion& region, std::string_view name,
                                          const CapturedScalars& captured) {
  if (++depth_ > kDeepest) return fault(region.place, "expected regions nested less deeply");
  Scope scope;
  scope.computation = new_computation(name);
  scope.computation->place = region.place;
  scope.outer = &outer;
  int64_t number = 0;
  const auto add_captured = [&](bool again) {
    for (Instruction* value : captured.values) {
      Part& own = scope.captured[value];
      own.value = add_parameter(scope, number++, value->shape);
      if (again) add_parameter(scope, number++, value->shape);
    }
  };
  const size_t count = region.arguments.size();
  for (size_t i = 0; i < count; ++i) {
    if (i == captured.at && !captured.values.empty()) add_captured(false);
    const MlirArgument& argument = region.arguments[i];
    Instruction* parameter = add_parameter(scope, number++, argument.type);
    parameter->place = argument.place;
    MlirOperation named;
    named.results = {{argument.name, 1}};
    bind_each(scope, named, {parameter});
  }
  if (captured.at >= count || captured.twice) add_captured(captured.at >= count && captured.twice);
  LT_ASSIGN_OR_RETURN(std::vector<Instruction*> results, block(scope, region.operations));
  for (const Instruction* value : captured.values) {
    if (captured.returned) results.push_back(scope.captured[value].value);
  }
  LT_ASSIGN_OR_RETURN(scope.computation->root, bundle(scope, MlirOperation{}, std::move(results)));
  finish(*scope.computation);
  --depth_;
  return scope.computation;
}

Result<std::vector<Instruction*>> ModuleMaker::captures(Scope& scope, const std::vector<const MlirRegion*>& regions) {
  FreeUses free;
  for (const MlirRegion* region : regions) free.add(*region);
  std::vector<Instruction*> all;
  for (const MlirUse& use : free.all) {
    LT_ASSIGN_OR_RETURN(Instruction * outside, value(scope, use));
    if (!is_constant_like(*outside) && std::ranges::find(all, outside) == all.end()) all.push_back(outside);
  }
  return all;
}

Result<Computation*> ModuleMaker::branch(Scope& outer, const MlirRegion& region, std::string_view name,
                                         const std::vector<Instruction*>& captures, bool loops) {
  if (++depth_ > kDeepest) return fault(region.place, "expected regions nested less deeply");
  Scope scope;
  scope.computation = new_computation(name);
  scope.computation->place = region.place;
  scope.outer = &outer;
  std::vector<Shape> shapes;
  for (const MlirArgument& argument : region.arguments) shapes.push_back(argument.type);
  for (const Instruction* capture : captures) shapes.push_back(capture->shape);
  const bool single = shapes.size() == 1;
  Instruction* parameter = add_parameter(scope, 0, single ? shapes[0] : Shape::tuple(std::move(shapes)));
  parameter->place = region.place;
  int64_t index = 0;
  const auto part = [&] { return single ? Part{parameter} : Part{nullptr, parameter, index++}; };
  for (const MlirArgument& argument : region.arguments) scope.values[argument.name] = {part()};
  for (const Instruction* capture : captures) scope.captured[capture] = part();

  LT_ASSIGN_OR_RETURN(std::vector<Instruction*> results, block(scope, region.operations));
  if (loops) {
    for (const Instruction* capture : captures) {
      Part& own = scope.captured[capture];
      if (!own.value) {
        LT_ASSIGN_OR_RETURN(own.value, add(scope, MlirOperation{}, Opcode::kGetTupleElement, capture->shape,
                                           {own.tuple}, {{"index", std::to_string(own.index)}}));
      }
      results.push_back(own.value);
    }
  }
  LT_ASSIGN_OR_RETURN(scope.computation->root, bundle(scope, MlirOperation{}, std::move(results)));
  finish(*scope.computation);
  --depth_;
  return scope.computation;
}

}  // namespace lowtide::engine
