#include "ops/host_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/denormals.h"
#include "base/near_words.h"
#include "ir/dimension_order.h"
#include "ops/checks.h"
#include "ops/runnable.h"

namespace lowtide::engine {
namespace {

HostFunctions& functions_of(const Instruction& call) { return call.parent->module().context().own<HostFunctions>(); }

bool walks_rows(std::string_view layout) {
  const Result<Dims> order = parse_order(layout);
  return order.ok() && is_row_by_row(*order);
}

/// Appends the arrays among the leaves of a shape; empty arrays may have no address.
void append_operands(const Shape& shape, std::span<const void* const>& leaves, std::vector<HostOperand>& operands) {
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    const void* const data = leaves.front();
    leaves = leaves.subspan(1);
    if (leaf.is_array()) operands.push_back({type_name(leaf.type), leaf.dims, logical_bytes(leaf), data});
  });
}

/// The number of the leaf at `index`, among all leaves.
size_t leaf_number(const Shape& shape, const ShapeIndex& index) {
  size_t number = 0, found = 0;
  for_each_leaf(shape, [&](const ShapeIndex& here, const Shape&) {
    if (here == index) found = number;
    ++number;
  });
  return found;
}

size_t leaf_count(const Shape& shape) {
  size_t count = 0;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape&) { ++count; });
  return count;
}

/// Results that the program declares as aliases of operands start as copies of them.
void copy_aliased(const Instruction& call, std::span<const void* const> operands, std::span<void* const> results) {
  for (const AliasEntry& alias : call.as<CustomCallAttributes>().output_to_operand_aliasing) {
    const auto which = static_cast<size_t>(alias.operand);
    size_t from = leaf_number(call.operand(which).shape, alias.operand_index);
    for (size_t i = 0; i < which; ++i) from += leaf_count(call.operand(i).shape);
    const Shape& shape = subshape(call.shape, alias.output);
    if (!shape.is_array() || logical_bytes(shape) == 0) continue;
    std::memcpy(results[leaf_number(call.shape, alias.output)], operands[from],
                static_cast<size_t>(logical_bytes(shape)));
  }
}

Value value_over(const Shape& shape, std::vector<void*>& leaves) {
  if (shape.is_tuple()) {
    std::vector<Value> parts;
    for (const Shape& element : shape.elements) parts.push_back(value_over(element, leaves));
    return std::make_shared<Literal>(std::move(parts));
  }
  if (!shape.is_array()) {
    leaves.push_back(nullptr);
    return std::make_shared<Literal>(Literal::token());
  }
  const auto literal = std::make_shared<Literal>(shape);
  leaves.push_back(literal->bytes().data());
  return literal;
}

}  // namespace

bool is_host_call(const Instruction& instruction) {
  const auto* call = instruction.if_as<CustomCallAttributes>();
  return call && instruction.opcode == Opcode::kCustomCall && call->target.starts_with(kHostCallTarget);
}

std::string_view host_function_name(const Instruction& call) {
  return std::string_view(call.as<CustomCallAttributes>().target).substr(kHostCallTarget.size());
}

std::string host_call_config(const Instruction& call) {
  if (!call.backend_config.starts_with('"')) return call.backend_config;
  Result<std::string> text = unquote(call.backend_config);
  return text.ok() ? text.take() : call.backend_config;
}

bool has_host_calls(const Module& module) {
  return std::ranges::any_of(module.computations(), [](const auto& computation) {
    return std::ranges::any_of(computation->instructions(), [](const auto& i) { return is_host_call(*i); });
  });
}

Status refuse_to_repeat(const Module& module) {
  if (!has_host_calls(module)) return {};
  return Status::unsupported("the program calls functions of the host, and isn't run again to be compared");
}

std::vector<std::string_view> stated_layouts(const Instruction& call) {
  std::vector<std::string_view> layouts;
  const auto stated = std::ranges::find(call.extra, kOperandLayouts, &RawAttribute::key);
  if (stated == call.extra.end()) return layouts;
  const std::string_view text = stated->text;
  for (size_t at = text.find(']'); at != std::string_view::npos; at = text.find(']', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    const size_t end = rest.find('}');
    const bool has = rest.starts_with('{') && end != std::string_view::npos;
    layouts.push_back(has ? rest.substr(0, end + 1) : std::string_view());
  }
  return layouts;
}

Status check_host_call(const Instruction& call) {
  const std::vector<std::string_view> layouts = stated_layouts(call);
  const auto across = std::ranges::find_if(layouts, [](std::string_view l) { return !l.empty() && !walks_rows(l); });
  if (across != layouts.end()) {
    return broken(call, 6, fmt::format("operand {} doesn't lie row by row", across - layouts.begin()));
  }
  int64_t result = 0, wrong = -1;
  for_each_leaf(call.shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (leaf.is_array() && !is_row_major(leaf) && wrong < 0) wrong = result;
    ++result;
  });
  return wrong < 0 ? Status() : broken(call, 6, fmt::format("result {} doesn't lie row by row", wrong));
}

bool take_foreign_calls(Module& module) {
  auto& functions = module.context().own<HostFunctions>();
  if (!functions.foreign) return false;
  bool taken = false;
  for (const auto& computation : module.computations()) {
    for (const auto& call : computation->instructions()) {
      if (call->opcode != Opcode::kCustomCall || why_custom_call_not_run(*call).empty()) continue;
      std::string& target = std::get<CustomCallAttributes>(call->attributes).target;
      HostFunction function = functions.foreign(target);
      if (!function) continue;
      const std::lock_guard lock(functions.mutex);
      functions.all.insert_or_assign(target, std::move(function));
      target.insert(0, kHostCallTarget);
      taken = true;
    }
  }
  return taken;
}

const HostFunction* find_host_function(const Instruction& call) {
  HostFunctions& functions = functions_of(call);
  const std::lock_guard lock(functions.mutex);
  const auto found = functions.all.find(host_function_name(call));
  return found != functions.all.end() && found->second ? &found->second : nullptr;
}

Status missing_host_function(const Instruction& call) {
  std::vector<std::string> known;
  {
    HostFunctions& functions = functions_of(call);
    const std::lock_guard lock(functions.mutex);
    for (const auto& [name, function] : functions.all) known.push_back(name);
  }
  const std::string name(host_function_name(call));
  const Status fault = Status::input(fmt::format("custom-call {}: the host has given no function named \"{}\"{}",
                                                 call.name, name, did_you_mean(near_words(name, known))));
  const auto& source = call.parent->module().source;
  return source ? fault.at(*source, call.place) : fault;
}

Status find_missing_host_functions(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (is_host_call(*i) && !find_host_function(*i)) return missing_host_function(*i);
    }
  }
  return {};
}

Status run_host_call(const Instruction& call, const HostFunction& function, std::span<const void* const> operands,
                     std::span<void* const> results) {
  copy_aliased(call, operands, results);
  std::vector<HostOperand> given;
  for (const Instruction* operand : call.operands) append_operands(operand->shape, operands, given);
  std::vector<HostResult> wanted;
  for_each_leaf(call.shape, [&](const ShapeIndex&, const Shape& leaf) {
    void* const data = results.front();
    results = results.subspan(1);
    if (leaf.is_array()) wanted.push_back({type_name(leaf.type), leaf.dims, logical_bytes(leaf), data});
  });
  const std::string config = host_call_config(call);
  const DenormalsScope kept(Denormals::kKept);  // host code is written for C's arithmetic, with denormals
  try {
    const lowtide::Result<void> done = function({host_function_name(call), config, given, wanted});
    if (done.ok()) return {};
    return {static_cast<Fault>(static_cast<int>(done.error().kind)), done.error().message};
  } catch (const std::exception& thrown) {
    return {Fault::kInternal,
            fmt::format("the host's function \"{}\" threw: {}", host_function_name(call), thrown.what())};
  } catch (...) {
    return {Fault::kInternal, fmt::format("the host's function \"{}\" threw something", host_function_name(call))};
  }
}

Result<Value> eval_host_call(const Instruction& call, Operands operands) {
  const HostFunction* const function = find_host_function(call);
  if (!function) return missing_host_function(call);
  std::vector<const void*> from;
  for (const Value& operand : operands) {
    for (const Value& leaf : leaves_in(operand))
      from.push_back(leaf->shape().is_array() ? leaf->bytes().data() : nullptr);
  }
  std::vector<void*> to;
  Value result = value_over(call.shape, to);
  LT_RETURN_IF_ERROR(run_host_call(call, *function, from, to));
  return result;
}

}  // namespace lowtide::engine
