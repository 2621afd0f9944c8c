#include "compile/peak_values.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/leaves.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostStorages = 8;
constexpr size_t kMostNames = 24;   ///< of one storage
constexpr int64_t kLeastPart = 32;  ///< of the load: smaller storages hardly contribute to the peak,
constexpr int64_t kSimilar = 2;     ///< unless the largest is at most so many times as large: many equal ones do

/// Adds the leaf's value and, for a loop-carried one, also its initial value and the one that the body computes.
void add_leaf(const LeafRef& leaf, std::vector<const Instruction*>& found) {
  const LeafRef made = resolve(leaf);
  found.push_back(made.instruction);
  if (made.instruction->opcode != Opcode::kWhile) return;
  const Instruction& loop = *made.instruction;
  for (const Instruction* bundle :
       {static_cast<const Instruction*>(loop.operands[0]), static_cast<const Instruction*>(loop.called[1]->root)}) {
    found.push_back(resolve({bundle, made.leaf}).instruction);
  }
}

/// Keeps the largest of these storages or buffers.
template <typename T>
void keep_largest(std::vector<const T*>& alive, int64_t load_bytes) {
  std::ranges::stable_sort(alive, [](const T* a, const T* b) { return a->bytes > b->bytes; });
  if (alive.empty()) return;
  const int64_t largest = alive.front()->bytes;
  std::erase_if(alive, [&](const T* s) { return s->bytes * kLeastPart < load_bytes && s->bytes * kSimilar < largest; });
  if (alive.size() > kMostStorages) alive.resize(kMostStorages);
}

}  // namespace

std::vector<PeakValue> peak_values(const Program& program) {
  const auto peak = std::ranges::max_element(program.live);
  if (peak == program.live.end()) return {};
  const Step at = static_cast<Step>(peak - program.live.begin());
  std::vector<const Storage*> alive;
  for (const Storage& s : program.storages) {
    if (s.kind == StorageKind::kTemporary && at >= s.born && at < s.dies) alive.push_back(&s);
  }
  keep_largest(alive, program.load_bytes);
  std::vector<PeakValue> names;
  for (const Storage* s : alive) {
    std::vector<const Instruction*> found;
    for (size_t k = 0; k < std::min(kMostNames, s->values.size()); ++k) add_leaf(s->values[k], found);
    for (const Instruction* i : found) names.push_back({i->parent->name, i->name});
  }
  return names;
}

std::vector<PeakValue> peak_values(const Account& account) {
  std::vector<const AccountBuffer*> alive;
  for (const AccountBuffer& b : account.buffers) {
    const bool temporary = b.kind == BufferKind::kTemporary && b.memory_space == 0;
    if (temporary && b.alive_at(account.peak_step)) alive.push_back(&b);
  }
  keep_largest(alive, account.load_bytes);
  std::vector<PeakValue> names;
  for (const AccountBuffer* b : alive) {
    std::vector<const Instruction*> found;
    for (size_t k = 0; k < std::min(kMostNames, b->values.size()); ++k) {
      int64_t leaf = 0, count = 0;
      const ValueRef& value = b->values[k];
      if (!leaf_range(value.instruction->shape, value.index, leaf, count)) continue;
      add_leaf({value.instruction, static_cast<int32_t>(leaf)}, found);
    }
    for (const Instruction* i : found) names.push_back({i->parent->name, i->name});
  }
  return names;
}

std::vector<const Instruction*> find_values(const Module& module, const std::vector<PeakValue>& values) {
  std::unordered_map<std::string, const Instruction*> by_name;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) by_name.emplace(computation->name + "/" + i->name, i.get());
  }
  std::vector<const Instruction*> found;
  for (const PeakValue& value : values) {
    const auto known = by_name.find(value.computation + "/" + value.instruction);
    if (known == by_name.end() || !known->second->shape.is_array()) continue;
    if (std::ranges::find(found, known->second) == found.end()) found.push_back(known->second);
  }
  return found;
}

}  // namespace lowtide::engine
