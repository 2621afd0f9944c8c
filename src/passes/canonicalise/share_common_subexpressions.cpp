#include "passes/canonicalise/share_common_subexpressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "ops/op_rule.h"
#include "passes/rewrite.h"

namespace lowtide {
namespace {

constexpr size_t kLargestReducer = 64;  ///< instructions; larger computations are compared by name

/// One literal for all of the same bytes: large constants are compared, not copied into keys.
class Literals {
 public:
  const Literal* first_like(const Literal& value) {
    const auto bytes = value.bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::vector<const Literal*>& candidates = by_hash_[std::hash<std::string_view>()(text)];
    for (const Literal* candidate : candidates) {
      if (candidate == &value || std::ranges::equal(candidate->bytes(), bytes)) return candidate;
    }
    candidates.push_back(&value);
    return &value;
  }

 private:
  std::unordered_map<size_t, std::vector<const Literal*>> by_hash_;
};

/// Everything that decides an instruction's value: two with equal keys compute the same. Operands are named by number.
std::string key_of(const Instruction& i, const std::vector<int32_t>& number, Literals& literals) {
  std::string key = fmt::format("{} {}", opcode_name(i.opcode), to_string(i.shape));
  for (const Instruction* operand : i.operands) key += fmt::format(" {}", number[static_cast<size_t>(operand->id)]);
  std::string payload;
  if (const Literal* value = known_constant(i); value && i.shape.is_array()) {
    key += fmt::format(" {}", fmt::ptr(literals.first_like(*value)));
  } else if (const auto print = rule_of(i.opcode).print) {
    AttributeWriter writer(key, &payload);
    print(i, writer);
  }
  key += payload;
  for (const Computation* called : i.called) key += " %" + called->name;
  for (const RawAttribute& raw : i.extra) key += fmt::format(" {}={}", raw.key, raw.text);
  if (i.sharding) key += " " + i.sharding->text;
  return key + " " + i.frontend_attributes + " " + i.backend_config;
}

bool may_share(const Instruction& i, const SideEffects& side_effects) {
  switch (i.opcode) {
    case Opcode::kParameter:
    case Opcode::kOptBarrier:
    case Opcode::kRng:
    case Opcode::kAddDependency:
    case Opcode::kDomain:
    case Opcode::kAfterAll: return false;
    case Opcode::kConstant: return known_constant(i) != nullptr;
    default: {
      const MemoryClass memory = memory_class(i.opcode);
      if (memory == MemoryClass::kCollective || memory == MemoryClass::kAsync) return false;
      return i.shape.type != ElementType::kToken && !side_effects.has(i);
    }
  }
}

/// Cheap to compute where it is read, dear to keep.
bool is_virtual(const Instruction& i) {
  return (i.opcode == Opcode::kBroadcast || i.opcode == Opcode::kIota) && logical_bytes(i.shape) > kLargestShared;
}

bool takes_reducer(Opcode opcode) {
  switch (opcode) {
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
    case Opcode::kMap: return true;
    default: return false;
  }
}

/// The text of a computation with positions for names.
std::string text_of(const Computation& computation, std::vector<int32_t>& number, Literals& literals) {
  std::string text;
  int32_t position = 0;
  for (const auto& i : computation.instructions()) {
    number[static_cast<size_t>(i->id)] = position++;
    text += key_of(*i, number, literals);
    if (const auto* parameter = i->if_as<ParameterAttributes>()) text += fmt::format(" {}", parameter->number);
    text += i.get() == computation.root ? " ROOT\n" : "\n";
  }
  return text;
}

/// Calls one computation where several of the same text are called.
int64_t merge_reducers(Module& module, Literals& literals) {
  std::vector<int32_t> number(static_cast<size_t>(module.id_limit()), -1);
  std::unordered_map<std::string, Computation*> first;
  std::unordered_map<const Computation*, Computation*> stands_for;
  int64_t merged = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (!takes_reducer(i->opcode)) continue;
      for (Computation*& called : i->called) {
        if (called->instructions().size() > kLargestReducer) continue;
        const auto [known, is_new] = stands_for.emplace(called, called);
        if (is_new) known->second = first.emplace(text_of(*called, number, literals), called).first->second;
        merged += known->second != called;
        called = known->second;
      }
    }
  }
  return merged;
}

}  // namespace

Result<PassResult> share_common_subexpressions(Module& module) {
  PassResult result;
  if (module.is_scheduled) {
    result.note = "scheduled: left as it is";
    return result;
  }
  Literals literals;
  const int64_t merged = merge_reducers(module, literals);
  const std::vector<bool> ordered = ordered_instructions(module);
  const SideEffects side_effects(module);
  Replacements replacements(module);
  std::vector<int32_t> number(static_cast<size_t>(module.id_limit()), -1);  // equal values have equal numbers
  for (const auto& computation : module.computations()) {
    std::unordered_map<std::string, Instruction*> first;
    for (const auto& i : computation->instructions()) {
      replacements.apply_to(*i);
      int32_t& own = number[static_cast<size_t>(i->id)];
      own = i->id;
      if (ordered[static_cast<size_t>(i->id)] || !may_share(*i, side_effects)) continue;
      const auto [known, is_new] = first.emplace(key_of(*i, number, literals), i.get());
      if (is_new) continue;
      own = number[static_cast<size_t>(known->second->id)];
      if (!is_virtual(*i)) replacements.replace(*i, *known->second);
    }
    replacements.finish(*computation);
  }
  result.count = replacements.count() + merged;
  result.changed = result.count > 0;
  result.note = fmt::format("{} values shared, {} reducers merged", replacements.count(), merged);
  return result;
}

}  // namespace lowtide
