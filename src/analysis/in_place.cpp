#include "analysis/in_place.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/leaves.h"

namespace lowtide {
namespace {

const Instruction* parameter_of(const Computation& computation, int64_t number) {
  for (const auto& i : computation.instructions()) {
    const auto* p = i->if_as<ParameterAttributes>();
    if (i->opcode == Opcode::kParameter && p && p->number == number) return i.get();
  }
  return nullptr;
}

void add_declared(const std::vector<AliasEntry>& declared, const Instruction& instruction,
                  std::vector<InPlacePair>& pairs) {
  for (const AliasEntry& alias : declared) {
    if (alias.operand < 0 || alias.operand >= static_cast<int64_t>(instruction.operands.size())) continue;
    int64_t result = 0, results = 0, leaf = 0, leaves = 0;
    const Shape& operand = instruction.operands[static_cast<size_t>(alias.operand)]->shape;
    if (!leaf_range(instruction.shape, alias.output, result, results)) continue;
    if (!leaf_range(operand, alias.operand_index, leaf, leaves)) continue;
    for (int64_t l = 0; l < std::min(results, leaves); ++l) {
      pairs.push_back(
          {static_cast<int32_t>(alias.operand), static_cast<int32_t>(leaf + l), static_cast<int32_t>(result + l)});
    }
  }
}

/// The result leaf `leaf` of a fused computation, seen through tuples and views: the instruction that computes it.
const Instruction* source_of(const Instruction* at, int64_t leaf) {
  for (int hops = 0; at && hops < 1000; ++hops) {
    if (at->opcode == Opcode::kTuple) {
      const Instruction* next = nullptr;
      for (const Instruction* operand : at->operands) {
        const int64_t count = leaf_count(operand->shape);
        if (leaf < count) {
          next = operand;
          break;
        }
        leaf -= count;
      }
      at = next;
    } else if (at->opcode == Opcode::kBitcast && !at->operands.empty()) {
      at = at->operands[0];
    } else {
      return at;
    }
  }
  return nullptr;
}

void add_updates_in_fusion(const Instruction& fusion, std::vector<InPlacePair>& pairs, int depth);

std::vector<InPlacePair> updates(const Instruction& instruction, int depth) {
  std::vector<InPlacePair> pairs;
  switch (instruction.opcode) {
    case Opcode::kDynamicUpdateSlice: pairs.push_back({0, 0, 0}); break;
    case Opcode::kScatter: {
      const auto count = static_cast<int32_t>(leaf_count(instruction.shape));
      for (int32_t l = 0; l < count && l < static_cast<int32_t>(instruction.operands.size()); ++l) {
        pairs.push_back({l, 0, l});
      }
      break;
    }
    case Opcode::kAllReduceStart: {
      const auto count = static_cast<int32_t>(leaf_count(instruction.shape));
      for (int32_t l = 0; l < count && l < static_cast<int32_t>(instruction.operands.size()); ++l) {
        pairs.push_back({l, 0, l});
      }
      break;
    }
    case Opcode::kCustomCall:
      if (const auto* a = instruction.if_as<CustomCallAttributes>()) {
        add_declared(a->output_to_operand_aliasing, instruction, pairs);
      }
      break;
    case Opcode::kFusion:
      if (const auto* a = instruction.if_as<FusionAttributes>()) {
        add_declared(a->output_to_operand_aliasing, instruction, pairs);
      }
      add_updates_in_fusion(instruction, pairs, depth);
      break;
    default: break;
  }
  return pairs;
}

/// A fusion whose result is an update of one of its parameters is itself such an update.
void add_updates_in_fusion(const Instruction& fusion, std::vector<InPlacePair>& pairs, int depth) {
  if (depth > 8 || fusion.called.empty() || !fusion.called[0] || !fusion.called[0]->root) return;
  const auto results = static_cast<int32_t>(leaf_count(fusion.shape));
  for (int32_t r = 0; r < results; ++r) {
    if (std::any_of(pairs.begin(), pairs.end(), [&](const InPlacePair& p) { return p.result == r; })) continue;
    const Instruction* at = source_of(fusion.called[0]->root, r);
    for (int hops = 0; at && hops < 1000; ++hops) {
      if (at->opcode == Opcode::kParameter) break;
      if (at->opcode == Opcode::kBitcast && !at->operands.empty()) {
        at = at->operands[0];
        continue;
      }
      const std::vector<InPlacePair> inner = updates(*at, depth + 1);
      const auto pair =
          std::find_if(inner.begin(), inner.end(), [](const InPlacePair& p) { return p.leaf == 0 && p.result == 0; });
      at = pair == inner.end() ? nullptr : at->operands[static_cast<size_t>(pair->operand)];
    }
    // The parameter alone, without an update on the way, is a copy.
    if (!at || at->opcode != Opcode::kParameter || source_of(fusion.called[0]->root, r) == at) continue;
    const auto* p = at->if_as<ParameterAttributes>();
    if (p && p->number >= 0 && p->number < static_cast<int64_t>(fusion.operands.size())) {
      pairs.push_back({static_cast<int32_t>(p->number), 0, r});
    }
  }
}

bool elementwise_on(const Instruction& user, const Instruction& operand) {
  if (user.opcode == Opcode::kDynamicUpdateSlice) return !user.operands.empty() && user.operands[0] == &operand;
  if (memory_class(user.opcode) != MemoryClass::kElementwise || user.opcode == Opcode::kMap) return false;
  return user.shape.dims == operand.shape.dims;  // select and clamp take scalars too
}

/// Same bytes in the same order: types, extents and layouts equal.
bool same_array(const Shape& a, const Shape& b) {
  if (a.type != b.type || a.dims != b.dims) return false;
  const auto row_major = [](const Shape& s) {
    if (!s.layout) return true;
    const Dims& order = s.layout->minor_to_major;
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i] != static_cast<int64_t>(order.size() - 1 - i)) return false;
    }
    return true;
  };
  if (a.layout && b.layout) {
    return a.layout->minor_to_major == b.layout->minor_to_major && a.layout->tiles == b.layout->tiles;
  }
  return row_major(a) && row_major(b);
}

/// Inside a fusion: is the result leaf computed from the parameter so that element i of it is needed only for element
/// i? Whatever else reads the parameter on other ways must not end in another result, reductions on GPUs aside.
bool fused_elementwise(const Instruction& fusion, const InPlacePair& pair, bool through_bitcasts) {
  if (fusion.called.empty() || !fusion.called[0] || !fusion.called[0]->root) return false;
  const Computation& computation = *fusion.called[0];
  const Instruction* parameter = parameter_of(computation, pair.operand);
  const Instruction* result = computation.root;
  if (!parameter) return false;
  if (result->opcode == Opcode::kTuple) {
    if (pair.result >= static_cast<int32_t>(result->operands.size())) return false;
    result = result->operands[static_cast<size_t>(pair.result)];
  }
  std::unordered_map<const Instruction*, std::vector<const Instruction*>> users;
  for (const auto& i : computation.instructions()) {
    for (const Instruction* operand : i->operands) users[operand].push_back(i.get());
  }
  std::vector<const Instruction*> queue{parameter};
  std::unordered_set<const Instruction*> seen{parameter};
  bool reached = false;
  while (!queue.empty()) {
    const Instruction* at = queue.back();
    queue.pop_back();
    if (at == result) {
      reached = true;
      // Read again after it was written: by other operations than the tuple of results.
      for (const Instruction* user : users[at]) {
        if (user->opcode != Opcode::kTuple) return false;
      }
    }
    for (const Instruction* user : users[at]) {
      const bool same = user->opcode == Opcode::kTuple || (through_bitcasts && user->opcode == Opcode::kBitcast);
      if (!same && (user->opcode == Opcode::kCopy || !elementwise_on(*user, *at))) return false;
      if (seen.insert(user).second) queue.push_back(user);
    }
  }
  return reached;
}

}  // namespace

Backend backend_of(const Module& module) {
  bool gpu = false;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->shape.layout && !i->shape.layout->tiles.empty()) return Backend::kTpu;
      gpu = gpu || i->backend_config.find("operation_queue_id") != std::string::npos ||
            i->backend_config.find("fusion_backend_config") != std::string::npos ||
            i->backend_config.find("gemm_backend_config") != std::string::npos;
    }
  }
  return gpu ? Backend::kGpu : Backend::kCpu;
}

std::vector<InPlacePair> updates_of(const Instruction& instruction) { return updates(instruction, 0); }

bool may_overwrite(const Instruction& user, const InPlacePair& pair, Backend backend) {
  const Instruction& operand = *user.operands[static_cast<size_t>(pair.operand)];
  const Shape* from = leaf_shape(operand.shape, pair.leaf);
  const Shape* to = leaf_shape(user.shape, pair.result);
  if (!from || !to || operand.opcode == Opcode::kConstant || user.opcode == Opcode::kCopy) return false;
  const bool same = same_array(*from, *to);
  if (user.opcode == Opcode::kFusion) {
    for (const InPlacePair& update : updates_of(user)) {
      if (update.operand == pair.operand && update.leaf == pair.leaf && update.result == pair.result) return true;
    }
    if (backend == Backend::kGpu) return fused_elementwise(user, pair, true);
    const auto* attributes = user.if_as<FusionAttributes>();
    return same && attributes && attributes->kind == FusionKind::kLoop && fused_elementwise(user, pair, false);
  }
  if (!same) return false;
  switch (user.opcode) {
    case Opcode::kWhile: return pair.leaf == pair.result;
    case Opcode::kSort: return pair.operand == pair.result;
    default: break;
  }
  for (const InPlacePair& update : updates_of(user)) {
    if (update.operand == pair.operand && update.leaf == pair.leaf && update.result == pair.result) return true;
  }
  return user.shape.is_array() && elementwise_on(user, operand);
}

}  // namespace lowtide
