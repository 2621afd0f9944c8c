#include "passes/execute/forget_plans.h"

#include <fmt/format.h>

#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

/// Keeps only the trip count of a loop's notes.
std::string trips_alone(const std::string& notes) {
  const std::string key = "\"known_trip_count\":{";
  const size_t at = notes.find(key);
  const size_t end = at == std::string::npos ? at : notes.find('}', at);
  return end == std::string::npos ? "" : "{" + notes.substr(at, end + 1 - at) + "}";
}

}  // namespace

Result<PassResult> forget_plans(Module& module) {
  if (!has_any(module, {Opcode::kWhile, Opcode::kCopy})) return PassResult{};
  const std::vector<bool> ordered = ordered_instructions(module);
  Replacements replacements(module);
  int64_t notes = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      replacements.apply_to(*i);
      if (i->opcode == Opcode::kWhile && !i->backend_config.empty()) {
        std::string kept = trips_alone(i->backend_config);
        notes += kept != i->backend_config;
        i->backend_config = std::move(kept);
      }
      if (i->opcode != Opcode::kCopy || ordered[i->id]) continue;
      if (interchangeable(i->operand(0).shape, i->shape)) replacements.replace(*i, *i->operands[0]);
    }
    replacements.finish(*computation);
  }
  PassResult result;
  result.count = replacements.count();
  result.changed = result.count + notes > 0;
  result.note = fmt::format("{} copies dropped, {} notes", result.count, notes);
  return result;
}

}  // namespace lowtide::engine
