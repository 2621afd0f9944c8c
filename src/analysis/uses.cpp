#include "analysis/uses.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

/// Calls f(operand) once per distinct operand.
template <class F>
void each_operand(const Instruction& instruction, F&& f) {
  const auto& operands = instruction.operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto end = operands.begin() + static_cast<std::ptrdiff_t>(i);
    // Wide tuples rarely repeat operands, so the quadratic search is bounded.
    const auto begin = i > 16 ? end - 16 : operands.begin();
    if (std::find(begin, end, operands[i]) == end) f(*operands[i]);
  }
}

}  // namespace

Uses::Uses(const Module& module) {
  std::vector<const Computation*> all;
  for (const auto& computation : module.computations()) all.push_back(computation.get());
  build(all, module.id_limit());
}

Uses::Uses(const Computation& computation) {
  const Computation* one[] = {&computation};
  build(one, computation.module().id_limit());
}

void Uses::build(std::span<const Computation* const> computations, int32_t id_limit) {
  first_.assign(static_cast<size_t>(id_limit) + 2, 0);
  const auto each_use = [&](auto&& f) {
    for (const Computation* computation : computations) {
      for (const auto& instruction : computation->instructions()) {
        each_operand(*instruction,
                     [&](const Instruction& operand) { f(static_cast<size_t>(operand.id), *instruction); });
      }
    }
  };
  each_use([&](size_t id, const Instruction&) { ++first_[id + 2]; });
  for (size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
  users_.resize(first_.back());
  // first_[id + 1] serves as the cursor of id and ends where id + 1 begins.
  each_use([&](size_t id, const Instruction& user) { users_[first_[id + 1]++] = &user; });
}

}  // namespace lowtide::engine
