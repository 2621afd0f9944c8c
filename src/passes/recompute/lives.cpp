#include "passes/recompute/lives.h"

#include <algorithm>

#include "analysis/leaf_bytes.h"
#include "analysis/loop_fusion.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepest = 8;         ///< levels of nested loops that are examined
constexpr int64_t kSmallSlice = 4;  ///< least ratio of the operand's bytes to the slice's

/// The element that this selects from a tuple in this computation, through barriers; else the tuple's producer.
const Instruction& taken(const Instruction& element) {
  const Instruction* bundle = &element.operand(0);
  while (bundle->opcode == Opcode::kOptBarrier) bundle = &bundle->operand(0);
  const auto index = static_cast<size_t>(element.as<TupleIndexAttributes>().index);
  return bundle->opcode == Opcode::kTuple && index < bundle->operands.size() ? bundle->operand(index) : *bundle;
}

bool is_bundle(const Instruction& i) { return !i.shape.is_array(); }

int64_t load_within(const Computation& computation, const std::vector<bool>& is_virtual, int depth) {
  return depth < kDeepest ? Lives(computation, is_virtual, depth + 1).most() : 0;
}

}  // namespace

bool Lives::is_name(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kBitcast:
    case Opcode::kReshape:
    case Opcode::kOptBarrier: return true;
    case Opcode::kGetTupleElement: return taken(i).opcode == Opcode::kParameter || taken(i).shape.is_array();
    default: return false;
  }
}

std::vector<bool> find_virtual_values(const Module& module) {
  std::vector<bool> is_virtual = fuse_loops(module);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode != Opcode::kSlice && i->opcode != Opcode::kDynamicSlice) continue;
      const bool is_small = kSmallSlice * safe_logical_bytes(i->shape) <= safe_logical_bytes(i->operand(0).shape);
      const Opcode from = i->operand(0).opcode;
      if (is_small && from != Opcode::kParameter && from != Opcode::kGetTupleElement) is_virtual[i->id] = false;
    }
  }
  return is_virtual;
}

Lives::Lives(const Computation& computation, const std::vector<bool>& is_virtual, int depth) {
  const auto& instructions = computation.instructions();
  const auto count = instructions.size();
  const auto by_id = [](const auto& a, const auto& b) { return a->id < b->id; };
  if (count > 0) {
    const auto [first, last] = std::ranges::minmax_element(instructions, by_id);
    first_id_ = (*first)->id;
    place_.assign(static_cast<size_t>((*last)->id - first_id_) + 1, kNobody);
  }
  all_.reserve(count);
  for (const auto& i : instructions) {
    place_[i->id - first_id_] = size();
    all_.push_back(i.get());
  }
  bytes_.assign(count, 0);
  last_.assign(count, kNobody);
  load_.assign(count, 0);
  const auto flag = [&](const Instruction& i) {
    const auto id = static_cast<size_t>(i.id);
    return id < is_virtual.size() && is_virtual[id];
  };
  const auto read = [&](const Instruction& value, int32_t until) {
    int32_t& last = last_[place_of(value)];
    last = std::max(last, until);
  };

  for (int32_t p = size() - 1; p >= 0; --p) {
    const Instruction& i = at(p);
    int32_t& own = last_[p];
    if (&i == computation.root) own = size();
    if (i.opcode == Opcode::kTuple) {
      // Barriers pass elements on separately; loops and the result use all of them.
      if (own != kNobody) std::ranges::for_each(i.operands, [&](const Instruction* element) { read(*element, own); });
      continue;
    }
    const int32_t until = is_name(i) || flag(i) ? std::max(own, p) : p;
    if (i.opcode == Opcode::kGetTupleElement) {
      read(taken(i), until);
    } else if (i.opcode != Opcode::kOptBarrier || !is_bundle(i)) {
      for (const Instruction* operand : i.operands) read(*operand, until);
    }
  }

  std::vector<int64_t> change(count + 1, 0);
  for (int32_t p = 0; p < size(); ++p) {
    const auto k = static_cast<size_t>(p);
    const Instruction& i = at(p);
    int64_t inside = 0;
    for (const Computation* called : i.called) {
      if (i.opcode == Opcode::kWhile || i.opcode == Opcode::kConditional || i.opcode == Opcode::kCall)
        inside = std::max(inside, load_within(*called, is_virtual, depth));
    }
    load_[k] = inside;
    const bool stands = i.opcode == Opcode::kParameter || i.opcode == Opcode::kConstant;
    if (stands || is_bundle(i) || is_name(i) || flag(i)) continue;
    if (i.opcode == Opcode::kGetTupleElement && taken(i).opcode == Opcode::kParameter) continue;
    if (last_[k] == size() || is_in_host(i.shape)) continue;  // results have memory of their own
    bytes_[k] = safe_logical_bytes(i.shape);
    change[k] += bytes_[k];
    change[static_cast<size_t>(std::max(last_[k], p)) + 1] -= bytes_[k];
  }
  int64_t alive = 0;
  for (size_t k = 0; k < count; ++k) load_[k] += alive += change[k];
}

int64_t Lives::most() const { return load_.empty() ? 0 : *std::ranges::max_element(load_); }
int32_t Lives::fullest() const { return static_cast<int32_t>(std::ranges::max_element(load_) - load_.begin()); }

}  // namespace lowtide::engine
