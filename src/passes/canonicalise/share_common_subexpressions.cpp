#include "passes/canonicalise/share_common_subexpressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "ops/op_rule.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

constexpr size_t kLargestReducer = 64;  ///< instructions; larger computations are compared by name

/// Finds one literal for all with equal bytes: large constants are compared, not copied into keys.
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

/// Everything that determines an instruction's value: two with equal keys compute the same. Operands are numbered.
std::string key_of(const Instruction& i, const std::vector<int32_t>& number, Literals& literals) {
  std::string key = fmt::format("{} {}", opcode_name(i.opcode), to_string(i.shape));
  for (const Instruction* operand : i.operands) key += fmt::format(" {}", number[operand->id]);
  for (const Computation* called : i.called) key += " %" + called->name;
  if (const Literal* value = known_constant(i); value && i.shape.is_array()) {
    return key + fmt::format(" {} {} {}", fmt::ptr(literals.first_like(*value)), i.sharding ? i.sharding->text : "",
                             i.frontend_attributes);
  }
  if (const auto* constant = i.if_as<ConstantAttributes>(); constant && !constant->value->known()) {
    key += fmt::format(" {}", fmt::ptr(constant->value.get()));  // equality with others is unknown
  }
  return key + " " + text_of_operation(i);
}

/// A cheap hash of a part of the key, which tells most instructions apart.
size_t cheap_hash(const Instruction& i, const std::vector<int32_t>& number, Literals& literals) {
  size_t hash = static_cast<size_t>(i.opcode);
  const auto add = [&](size_t more) { hash = (hash ^ more) * 0x9e3779b97f4a7c15 + (hash >> 29); };
  add(static_cast<size_t>(i.shape.type));
  for (const int64_t extent : i.shape.dims) add(static_cast<size_t>(extent));
  for (const Instruction* operand : i.operands) add(static_cast<size_t>(number[operand->id]));
  if (const Literal* value = known_constant(i); value && i.shape.is_array()) {
    add(reinterpret_cast<size_t>(literals.first_like(*value)));
  }
  return hash;
}

/// Instructions of one computation by the value that they compute.
class Known {
 public:
  Known(const std::vector<int32_t>& number, Literals& literals) : number_(number), literals_(literals) {}
  /// An earlier instruction that computes the same; null: there is none, and `i` is added.
  Instruction* find_or_add(Instruction& i) {
    std::vector<Entry>& alike = by_hash_[cheap_hash(i, number_, literals_)];
    if (alike.empty()) {
      alike.push_back({&i, {}});
      return nullptr;
    }
    const std::string key = key_of(i, number_, literals_);
    for (Entry& entry : alike) {
      if (entry.key.empty()) entry.key = key_of(*entry.instruction, number_, literals_);
      if (entry.key == key) return entry.instruction;
    }
    alike.push_back({&i, key});
    return nullptr;
  }

 private:
  struct Entry {
    Instruction* instruction;
    std::string key;  ///< empty: not computed yet
  };
  const std::vector<int32_t>& number_;
  Literals& literals_;
  std::unordered_map<size_t, std::vector<Entry>> by_hash_;
};

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

/// Is it cheap to compute where it is read, and expensive to keep?
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

/// The text of a computation, with positions instead of names.
std::string text_of(const Computation& computation, std::vector<int32_t>& number, Literals& literals) {
  std::string text;
  int32_t position = 0;
  for (const auto& i : computation.instructions()) {
    number[i->id] = position++;
    text += key_of(*i, number, literals);
    if (const auto* parameter = i->if_as<ParameterAttributes>()) text += fmt::format(" {}", parameter->number);
    text += i.get() == computation.root ? " ROOT\n" : "\n";
  }
  return text;
}

/// Makes instructions call the first of several computations with the same text.
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
  if (module.is_scheduled) return PassResult{};
  Literals literals;
  const int64_t merged = merge_reducers(module, literals);
  const std::vector<bool> ordered = ordered_instructions(module);
  const SideEffects side_effects(module);
  Replacements replacements(module);
  std::vector<int32_t> number(static_cast<size_t>(module.id_limit()), -1);  // equal values have equal numbers
  for (const auto& computation : module.computations()) {
    Known known(number, literals);
    for (const auto& i : computation->instructions()) {
      replacements.apply_to(*i);
      int32_t& own = number[i->id];
      own = i->id;
      if (ordered[i->id] || !may_share(*i, side_effects)) continue;
      Instruction* same = known.find_or_add(*i);
      if (!same) continue;
      own = number[same->id];
      if (!is_virtual(*i)) replacements.replace(*i, *same);
    }
    replacements.finish(*computation);
  }
  return rewritten(replacements.count() + merged, "values shared or reducers merged");
}

}  // namespace lowtide::engine
