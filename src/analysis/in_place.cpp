#include "analysis/in_place.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/leaves.h"

namespace lowtide::engine {
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
    const Shape& operand = instruction.operands[alias.operand]->shape;
    if (!leaf_range(instruction.shape, alias.output, result, results)) continue;
    if (!leaf_range(operand, alias.operand_index, leaf, leaves)) continue;
    for (int64_t l = 0; l < std::min(results, leaves); ++l) {
      pairs.push_back(
          {static_cast<int32_t>(alias.operand), static_cast<int32_t>(leaf + l), static_cast<int32_t>(result + l)});
    }
  }
}

/// The instruction that computes leaf `leaf` of a fused computation's result, found through tuples and views.
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

bool contains(const std::vector<InPlacePair>& pairs, const InPlacePair& pair) {
  return std::any_of(pairs.begin(), pairs.end(), [&](const InPlacePair& p) {
    return p.operand == pair.operand && p.leaf == pair.leaf && p.result == pair.result;
  });
}

/// Reads from an instruction's configuration in TPU dumps which operand a result may be written over:
/// `"aliasing_operands":{"lists":[{"indices":["0","3"]}]}`, where operands are counted first and results after them.
/// False if the configuration has no such list.
bool configured(const Instruction& user, std::vector<InPlacePair>& pairs) {
  const std::string& text = user.backend_config;
  size_t at = text.find("\"aliasing_operands\":");
  if (at == std::string::npos) return false;
  const auto operands = static_cast<int64_t>(user.operands.size());
  for (at = text.find("\"indices\":[", at); at != std::string::npos; at = text.find("\"indices\":[", at + 1)) {
    const size_t end = text.find(']', at);
    if (end == std::string::npos) break;
    int64_t operand = -1, number = -1;
    for (size_t c = at + 11; c <= end; ++c) {
      if (text[c] >= '0' && text[c] <= '9') {
        number = std::min<int64_t>(std::max<int64_t>(number, 0) * 10 + (text[c] - '0'), 1 << 20);
        continue;
      }
      if (number >= 0 && number < operands && operand < 0) operand = number;
      if (number >= operands && operand >= 0 && number - operands < leaf_count(user.shape)) {
        pairs.push_back({static_cast<int32_t>(operand), 0, static_cast<int32_t>(number - operands)});
      }
      number = -1;
    }
  }
  return true;
}

/// Is this result of a fusion computed element by element? Then it may be stored in an operand, but needn't be.
bool computed_by_element(const Instruction& fusion, int32_t result) {
  if (fusion.called.empty() || !fusion.called[0] || !fusion.called[0]->root) return false;
  const Instruction* at = source_of(fusion.called[0]->root, result);
  for (int hops = 0; at && at->opcode == Opcode::kBitcast && !at->operands.empty() && hops < 1000; ++hops) {
    at = at->operands[0];
  }
  return at && memory_class(at->opcode) == MemoryClass::kElementwise;
}

std::vector<InPlacePair> updates(const Instruction& instruction, int depth) {
  std::vector<InPlacePair> pairs;
  switch (instruction.opcode) {
    case Opcode::kDynamicUpdateSlice:
      if (!instruction.operands.empty()) pairs.push_back({0, 0, 0});
      break;
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
      if (configured(instruction, pairs)) {
        std::erase_if(pairs, [&](const InPlacePair& p) { return computed_by_element(instruction, p.result); });
        break;
      }
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
      at = pair == inner.end() ? nullptr : at->operands[pair->operand];
    }
    // A parameter without an update on the path is a copy.
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

/// Are the bytes in the same order, i.e. types, extents and layouts equal?
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

/// One parameter and one result of a fused computation, with the users of its instructions.
struct FusedPath {
  const Instruction* parameter = nullptr;
  const Instruction* result = nullptr;
  std::unordered_map<const Instruction*, std::vector<const Instruction*>> users;
};

bool find_path(const Instruction& fusion, const InPlacePair& pair, FusedPath& path) {
  if (fusion.called.empty() || !fusion.called[0] || !fusion.called[0]->root) return false;
  const Computation& computation = *fusion.called[0];
  path.parameter = parameter_of(computation, pair.operand);
  path.result = computation.root;
  if (path.result->opcode == Opcode::kTuple) {
    if (pair.result >= static_cast<int32_t>(path.result->operands.size())) return false;
    path.result = path.result->operands[pair.result];
  }
  for (const auto& i : computation.instructions()) {
    for (const Instruction* operand : i->operands) path.users[operand].push_back(i.get());
  }
  return path.parameter != nullptr;
}

/// Inside a loop fusion: does the parameter reach the result only through elementwise operations?
bool all_elementwise(const Instruction& fusion, const InPlacePair& pair) {
  FusedPath path;
  if (!find_path(fusion, pair, path)) return false;
  std::vector<const Instruction*> queue{path.parameter};
  std::unordered_set<const Instruction*> seen{path.parameter};
  bool reached = false;
  while (!queue.empty()) {
    const Instruction* at = queue.back();
    queue.pop_back();
    reached = reached || at == path.result;
    for (const Instruction* user : path.users[at]) {
      if (user->opcode != Opcode::kTuple && (user->opcode == Opcode::kCopy || !elementwise_on(*user, *at)))
        return false;
      if (seen.insert(user).second) queue.push_back(user);
    }
  }
  return reached;
}

/// The reduction (XLA's hero) of a GPU reduction kernel, if the fusion is one; it runs before anything is written.
const Instruction* hero_reduction(const Instruction& fusion) {
  const auto* attributes = fusion.if_as<FusionAttributes>();
  if (!attributes || attributes->kind != FusionKind::kInput) return nullptr;
  const auto results = leaf_count(fusion.shape);
  for (int64_t r = 0; r < results; ++r) {
    const Instruction* source = source_of(fusion.called[0]->root, r);
    if (source && source->opcode == Opcode::kReduce) return source;
  }
  return nullptr;
}

/// The rule of XLA's GPU backend for fusions of any kind: equally many elements of the same width, with only
/// elementwise operations and bitcasts between parameter and result, ignoring everything after the hero reduction; an
/// update or a scatter may be last, and slices of the updated array are allowed if they start at the update.
bool gpu_fusion_may_overwrite(const Instruction& fusion, const InPlacePair& pair, const Shape& from, const Shape& to) {
  if (!from.is_array() || !to.is_array() || type_bits(from.type) != type_bits(to.type)) return false;
  if (from.dims != to.dims && element_count(from) != element_count(to)) return false;
  FusedPath path;
  if (!find_path(fusion, pair, path)) return false;
  const Instruction* hero = hero_reduction(fusion);
  const Instruction* last = path.result;
  if (last->opcode == Opcode::kBitcast && !last->operands.empty()) last = last->operands[0];
  const bool updates = last->opcode == Opcode::kDynamicUpdateSlice;
  const auto same_start = [&](const Instruction& slice) {
    if (element_count(slice.shape) == 1 && element_count(last->operands[1]->shape) == 1) return true;
    for (size_t o = 1; o < slice.operands.size(); ++o) {
      if (o + 1 >= last->operands.size() || slice.operands[o] != last->operands[o + 1]) return false;
    }
    return true;
  };
  const auto harmless = [&](const Instruction& user, const Instruction& at) {
    const auto position = std::find(user.operands.begin(), user.operands.end(), &at) - user.operands.begin();
    if (&user == last && user.opcode == Opcode::kScatter &&
        position < static_cast<std::ptrdiff_t>(leaf_count(user.shape)) &&
        std::count(user.operands.begin(), user.operands.end(), &at) == 1) {
      return true;
    }
    if (updates && user.opcode == Opcode::kDynamicSlice && last->operands.size() > 1 &&
        user.operands[0] == last->operands[0] && same_shape(user.shape, last->operands[1]->shape)) {
      return same_start(user);
    }
    if (user.opcode == Opcode::kBitcast || user.opcode == Opcode::kTuple || &user == hero) return true;
    if (user.opcode != Opcode::kCopy && elementwise_on(user, at)) return true;
    return &user == last && updates && position == 1;
  };
  std::vector<const Instruction*> queue{path.parameter};
  std::unordered_set<const Instruction*> seen{path.parameter};
  while (!queue.empty()) {
    const Instruction* at = queue.back();
    queue.pop_back();
    if (at == hero) continue;
    for (const Instruction* user : path.users[at]) {
      if (!harmless(*user, *at)) return false;
      if (seen.insert(user).second) queue.push_back(user);
    }
  }
  // If one of several results is an update or a scatter, another result may be written in another order.
  if (fusion.shape.is_tuple() && memory_class(last->opcode) != MemoryClass::kElementwise) {
    for (const Instruction* other : fusion.called[0]->root->operands) {
      if (other != path.result && seen.contains(other)) return false;
    }
  }
  return seen.contains(path.result);
}

/// Does this library call or collective of a GPU write over the operand?
bool gpu_call_may_overwrite(const Instruction& user, const InPlacePair& pair) {
  if (user.opcode == Opcode::kAllReduce || user.opcode == Opcode::kCollectiveBroadcast) {
    return user.operands.size() == 1 || pair.operand == pair.result;
  }
  const auto* call = user.if_as<CustomCallAttributes>();
  if (!call) return false;
  if (call->target == "__cublas$lt$matmul") {  // the bias, if it is added
    return pair.operand == 2 && user.backend_config.find("\"beta\":0,") == std::string::npos;
  }
  return call->target == "__cusolver$cholesky" && pair.result == 0;
}

}  // namespace

XlaBackend backend_of(const Module& module) {
  bool gpu = false;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->shape.layout && !i->shape.layout->tiles.empty()) return XlaBackend::kTpu;
      gpu = gpu || i->backend_config.find("operation_queue_id") != std::string::npos ||
            i->backend_config.find("fusion_backend_config") != std::string::npos ||
            i->backend_config.find("gemm_backend_config") != std::string::npos;
    }
  }
  return gpu ? XlaBackend::kGpu : XlaBackend::kCpu;
}

std::vector<InPlacePair> updates_of(const Instruction& instruction) { return updates(instruction, 0); }

bool may_overwrite(const Instruction& user, const InPlacePair& pair, XlaBackend backend) {
  const Instruction& operand = *user.operands[pair.operand];
  const Shape* from = leaf_shape(operand.shape, pair.leaf);
  const Shape* to = leaf_shape(user.shape, pair.result);
  if (!from || !to || operand.opcode == Opcode::kConstant || user.opcode == Opcode::kCopy) return false;
  if (backend == XlaBackend::kTpu) {
    std::vector<InPlacePair> pairs;
    if (configured(user, pairs)) return contains(pairs, pair);
  }
  const bool same = same_array(*from, *to);
  if (user.opcode == Opcode::kFusion) {
    if (contains(updates_of(user), pair)) return true;
    if (backend == XlaBackend::kGpu) return gpu_fusion_may_overwrite(user, pair, *from, *to);
    const auto* attributes = user.if_as<FusionAttributes>();
    return same && attributes && attributes->kind == FusionKind::kLoop && all_elementwise(user, pair);
  }
  if (backend == XlaBackend::kGpu &&
      (user.opcode == Opcode::kAllReduce || user.opcode == Opcode::kCollectiveBroadcast ||
       user.opcode == Opcode::kCustomCall)) {
    return gpu_call_may_overwrite(user, pair);
  }
  if (!same) return false;
  switch (user.opcode) {
    case Opcode::kWhile: return pair.leaf == pair.result;
    case Opcode::kSort: return pair.operand == pair.result;
    default: break;
  }
  if (contains(updates_of(user), pair)) return true;
  return user.shape.is_array() && elementwise_on(user, operand);
}

}  // namespace lowtide::engine
