#include "report/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace lowtide::engine {
namespace {

constexpr int kLongestWalk = 64;    // instructions visited in search of a name
constexpr size_t kScopesShown = 2;  // of the user's scopes, in a narrow column
constexpr int kValuesTried = 24;    // of a buffer that holds many

// Components that tracing adds, which the user didn't write.
constexpr std::array<std::string_view, 13> kPlumbing = {
    "while",  "body", "cond", "checkpoint", "rematted_computation", "closed_call",    "remat",
    "remat2", "scan", "pjit", "main",       "custom_vjp_call",      "custom_jvp_call"};

// Primitives that move or rename the result of another operation: their names say little about the value.
constexpr std::array<std::string_view, 18> kMovers = {"dynamic_update_slice",
                                                      "dynamic_slice",
                                                      "broadcast_in_dim",
                                                      "squeeze",
                                                      "reshape",
                                                      "convert_element_type",
                                                      "copy",
                                                      "transpose",
                                                      "while",
                                                      "closed_call",
                                                      "pjit",
                                                      "checkpoint",
                                                      "sharding_constraint",
                                                      "body",
                                                      "scan",
                                                      "optimization_barrier",
                                                      "expand_dims",
                                                      "slice"};

bool is_one_of(std::string_view word, const auto& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Splits at the slashes outside parentheses and brackets: "a/jvp(b/c)/d" has three components.
std::vector<std::string_view> components(std::string_view name) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= name.size(); ++i) {
    const char c = i < name.size() ? name[i] : '/';
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && depth > 0) --depth;
    if ((c == '/' && depth == 0) || i == name.size()) {
      if (i > begin) parts.push_back(name.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return parts;
}

// Removes the wrappers of a component: "transpose(jvp(Net))" -> "Net", "jit(silu)" -> "", "vmap(f)" -> "f".
std::string_view unwrapped(std::string_view part) {
  for (;;) {
    const size_t open = part.find('(');
    if (open == std::string_view::npos || part.back() != ')') return part;
    const std::string_view wrapper = part.substr(0, open);
    const std::string_view inner = part.substr(open + 1, part.size() - open - 2);
    if (wrapper == "jit" || wrapper == "pjit") return {};
    if (wrapper != "jvp" && wrapper != "transpose" && wrapper != "vmap" && wrapper != "remat" && wrapper != "pmap") {
      return part;
    }
    part = inner;
  }
}

std::vector<std::string_view> user_components(std::string_view op_name) {
  std::vector<std::string_view> kept;
  for (const std::string_view part : components(op_name)) {
    const std::string_view name = unwrapped(part);
    if (name.empty() || is_one_of(name, kPlumbing)) continue;
    kept.push_back(name);
  }
  return kept;
}

std::string without_backslashes(std::string_view text) {
  std::string result(text);
  std::erase(result, '\\');
  return result;
}

bool is_entry_parameter(const Module& module, const Instruction& i) {
  return i.opcode == Opcode::kParameter && i.parent == module.entry;
}

// How informative an instruction's own name is: 2: a computation, or an argument; 1: a mover under the user's scopes;
// 0: not at all.
int telling(const Module& module, const Instruction& i) {
  if (i.metadata.op_name.empty()) return 0;
  if (is_entry_parameter(module, i)) return 2;
  if (i.opcode == Opcode::kParameter) return 0;  // names of reducers' operands
  const auto parts = user_components(i.metadata.op_name);
  if (parts.empty()) return 0;
  const std::string_view primitive = components(i.metadata.op_name).back();
  if (is_one_of(primitive, kMovers) || is_one_of(primitive, kPlumbing)) return parts.size() > 2 ? 1 : 0;
  return 2;
}

// The value to look at next, if a value's own name says little.
std::optional<ValueRef> next_value(const Graph& graph, const ValueRef& value) {
  const Instruction& i = *value.instruction;
  if (i.opcode == Opcode::kWhile && value.index.size() == 1) {
    if (const Instruction* update = graph.stack_update(i, value.index[0])) return ValueRef{update->operands[1], {}};
  }
  if (i.opcode == Opcode::kParameter && i.parent != nullptr && value.index.size() == 1) {
    const auto& callers = graph.callers(*i.parent);
    const Instruction* update = callers.empty() ? nullptr : graph.stack_update(*callers[0], value.index[0]);
    if (update != nullptr && update->operands.size() > 1) return ValueRef{update->operands[1], {}};
  }
  if (i.opcode == Opcode::kDynamicUpdateSlice && i.operands.size() > 1 &&
      padded_bytes(i.operands[1]->shape) < padded_bytes(i.shape)) {
    return ValueRef{i.operands[1], {}};
  }
  if (const auto behind = graph.behind(value)) return behind;
  switch (i.opcode) {
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kCopyStart:
    case Opcode::kTranspose:
    case Opcode::kBroadcast:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kPad:
    case Opcode::kReducePrecision:
    case Opcode::kBitcastConvert:
    case Opcode::kConcatenate:
    case Opcode::kSelect:
    case Opcode::kAsyncDone:
    case Opcode::kAllGatherDone:
    case Opcode::kAllReduceDone: {
      const size_t operand = i.opcode == Opcode::kSelect && i.operands.size() > 1 ? 1 : 0;
      if (operand >= i.operands.size() || i.operands[operand]->shape.is_tuple()) return std::nullopt;
      return ValueRef{i.operands[operand], {}};
    }
    default: break;
  }
  // An unnamed elementwise result is named after its largest operand.
  const Instruction* largest = nullptr;
  for (const Instruction* operand : i.operands) {
    if (!operand->shape.is_array()) continue;
    if (largest == nullptr || padded_bytes(operand->shape) > padded_bytes(largest->shape)) largest = operand;
  }
  if (largest == nullptr) return std::nullopt;
  return ValueRef{largest, {}};
}

// The first reader with an informative name; a loop's initial value is named after what the loop stacks into it.
Origin origin_of_readers(const Graph& graph, const ValueRef& value) {
  const Module& module = graph.module();
  std::vector<ValueRef> open = {value};
  for (size_t at = 0; at < open.size() && at < kLongestWalk; ++at) {
    const ValueRef current = open[at];
    for (const Instruction* user : graph.users(*current.instruction)) {
      if (user->opcode == Opcode::kGetTupleElement) {
        if (!current.index.empty() && user->as<TupleIndexAttributes>().index == current.index[0]) {
          open.push_back({user, {}});
        }
        continue;
      }
      if (user->opcode == Opcode::kTuple) {
        for (size_t k = 0; k < user->operands.size(); ++k) {
          if (user->operands[k] == current.instruction) open.push_back({user, {static_cast<int64_t>(k)}});
        }
        continue;
      }
      if (user->opcode == Opcode::kWhile && !current.index.empty()) {
        const Instruction* update = graph.stack_update(*user, current.index[0]);
        if (update != nullptr && update->operands.size() > 1) {
          const Origin origin = origin_of(graph, ValueRef{update->operands[1], {}});
          if (!origin.op_name.empty()) return origin;
        }
        continue;
      }
      if (telling(module, *user) > 0) return own_origin(module, *user);
      if (user->shape.is_array()) open.push_back({user, {}});
    }
  }
  return {};
}

}  // namespace

std::string user_scopes(std::string_view op_name) {
  return without_backslashes(fmt::format("{}", fmt::join(user_components(op_name), "/")));
}

std::string short_scope(std::string_view op_name) {
  std::vector<std::string_view> parts = user_components(op_name);
  if (parts.empty()) parts = components(op_name);
  if (parts.empty()) return {};
  if (parts.size() > 1) parts.pop_back();                                                          // the primitive
  while (parts.size() > 1 && parts.back().find("->") != std::string_view::npos) parts.pop_back();  // an einsum's spec
  // Flax repeats scopes: "AttentionOp_0/AttentionOp_0.apply_attention" says no more than its last part.
  while (parts.size() > 1 && parts.back().substr(0, parts[parts.size() - 2].size()) == parts[parts.size() - 2]) {
    parts.erase(parts.end() - 2);
  }
  if (parts.size() > kScopesShown) parts.erase(parts.begin(), parts.end() - kScopesShown);
  return without_backslashes(fmt::format("{}", fmt::join(parts, "/")));
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

Origin own_origin(const Module& module, const Instruction& instruction) {
  Origin origin;
  origin.op_name = without_backslashes(instruction.metadata.op_name);
  origin.scope = is_entry_parameter(module, instruction) ? origin.op_name : short_scope(origin.op_name);
  if (const auto place = module.location_of(instruction); place && !place->file.empty()) {
    origin.source = fmt::format("{}:{}", file_name(place->file), place->line);
    origin.full_source = fmt::format("{}:{}", place->file, place->line);
  }
  return origin;
}

Origin origin_of(const Graph& graph, const ValueRef& value) {
  const Module& module = graph.module();
  ValueRef current = value;
  const Instruction* best = nullptr;
  int best_telling = 0;
  for (int steps = 0; steps < kLongestWalk; ++steps) {
    const Instruction& i = *current.instruction;
    const bool stacks = i.opcode == Opcode::kWhile || i.opcode == Opcode::kDynamicUpdateSlice;
    const int tells = telling(module, i);
    if (tells > best_telling && !(stacks && steps == 0 && tells < 2)) {
      best = &i;
      best_telling = tells;
    }
    if (best_telling == 2) break;
    const auto next = next_value(graph, current);
    if (!next) break;
    current = *next;
  }
  if (best != nullptr) return own_origin(module, *best);
  return origin_of_readers(graph, value);
}

Origin origin_of(const Graph& graph, const AccountBuffer& buffer) {
  for (const ValueRef& value : buffer.values) {  // a stack is named after what is stacked, not its zeros
    if (value.instruction->opcode != Opcode::kWhile || value.index.size() != 1) continue;
    if (graph.stack_update(*value.instruction, value.index[0]) != nullptr) return origin_of(graph, value);
  }
  Origin best;
  int tried = 0;
  for (const ValueRef& value : buffer.values) {
    if (++tried > kValuesTried) break;
    Origin origin = origin_of(graph, value);
    if (origin.op_name.empty()) continue;
    const bool scoped = user_components(origin.op_name).size() > 1;
    if (scoped) return origin;
    if (best.op_name.empty()) best = std::move(origin);
  }
  return best;
}

}  // namespace lowtide::engine
