#include "region/value_graph.h"

#include <algorithm>

#include "analysis/leaves.h"
#include "ir/side_effects.h"

namespace lowtide::engine {
bool is_name(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kDomain:
    case Opcode::kAddDependency: return true;
    default: return false;
  }
}

ValueGraph::ValueGraph(const Computation& computation, const Target& target)
    : target_(target), parameters_(computation.parameters()), id_limit_(computation.module().id_limit()) {
  int32_t last_id = 0;
  for (const auto& i : computation.instructions()) {
    first_id_ = instructions_.empty() ? i->id : std::min(first_id_, i->id);
    last_id = std::max(last_id, i->id);
    instructions_.push_back(i.get());
  }
  const size_t n = instructions_.size();
  place_.assign(n ? static_cast<size_t>(last_id - first_id_) + 1 : 0, kNoId);
  for (size_t p = 0; p < n; ++p) place_[instructions_[p]->id - first_id_] = static_cast<int32_t>(p);

  first_read_.assign(n + 1, 0);
  for (size_t p = 0; p < n; ++p) {
    const Instruction& i = *instructions_[p];
    if (!is_name(i.opcode)) {
      for (size_t k = 0; k < i.operands.size(); ++k) {
        int32_t leaf = 0;
        for_each_leaf(i.operands[k]->shape, [&](const ShapeIndex&, const Shape& shape) {
          const LeafRef array = resolve({i.operands[k], leaf++});
          if (!shape.is_array()) return;
          reads_.push_back(
              {place_of(*array.instruction), array.leaf, static_cast<int32_t>(p), static_cast<int32_t>(k)});
        });
      }
    }
    first_read_[p + 1] = static_cast<int32_t>(reads_.size());
  }

  first_user_.assign(n + 1, 0);
  for (const Read& read : reads_) ++first_user_[static_cast<size_t>(read.def) + 1];
  for (size_t p = 0; p < n; ++p) first_user_[p + 1] += first_user_[p];
  users_.resize(reads_.size());
  std::vector<int32_t> cursor(first_user_.begin(), first_user_.end());
  for (const Read& read : reads_) users_[cursor[read.def]++] = read;

  is_result_.assign(n, false);
  int32_t leaf = 0;
  for_each_leaf(computation.root->shape, [&](const ShapeIndex&, const Shape&) {
    results_.push_back(resolve({computation.root, leaf++}));
    is_result_[place_of(*results_.back().instruction)] = true;
  });

  is_live_.assign(n, false);
  for (size_t p = n; p-- > 0;) {
    const Instruction& i = *instructions_[p];
    if (is_name(i.opcode)) continue;
    bool live = is_result_[p] || has_side_effect(i);
    for (const Read& read : users(static_cast<int32_t>(p))) live |= is_live_[read.user];
    is_live_[p] = live;
  }
}

int32_t ValueGraph::place_of(const Instruction& instruction) const { return place_[instruction.id - first_id_]; }

}  // namespace lowtide::engine
