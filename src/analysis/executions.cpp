#include "analysis/executions.h"

#include "analysis/evaluations.h"

namespace lowtide::engine {
namespace {

void add(const Computation& computation, double runs, std::unordered_map<const Computation*, double>& all) {
  all[&computation] += runs;
  for (const auto& i : computation.instructions()) {
    const bool is_loop = i->opcode == Opcode::kWhile;
    if (!is_loop && i->opcode != Opcode::kConditional && i->opcode != Opcode::kCall) continue;
    for (const Computation* called : i->called) add(*called, is_loop ? runs * guessed_trips(*i) : runs, all);
  }
}

}  // namespace

std::unordered_map<const Computation*, double> executions(const Module& module) {
  std::unordered_map<const Computation*, double> all;
  add(*module.entry, 1, all);
  return all;
}

}  // namespace lowtide::engine
