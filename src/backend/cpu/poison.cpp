#include "backend/cpu/poison.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

void lay_out(std::span<const ProgramStep> steps, std::vector<Step>& times) {
  for (const ProgramStep& step : steps) {
    times.push_back(step.at);
    for (const auto& block : step.blocks) lay_out(block, times);
  }
}

}  // namespace

std::vector<std::vector<int32_t>> deaths(const Program& program) {
  std::vector<Step> times;
  lay_out(program.steps, times);
  std::vector<std::vector<int32_t>> dead(times.size());
  for (size_t s = 0; s < program.storages.size(); ++s) {
    const Storage& storage = program.storages[s];
    if (storage.kind != StorageKind::kTemporary || storage.bytes == 0) continue;
    // A value that nothing reads dies at its birth, but its step still writes it.
    const auto next = std::ranges::find_if(times, [&](Step at) { return at >= storage.dies && at > storage.born; });
    if (next != times.end()) dead[next - times.begin()].push_back(static_cast<int32_t>(s));
  }
  return dead;
}

}  // namespace lowtide::engine
