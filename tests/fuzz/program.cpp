/// Any bytes as the recipe of a random program: well-typed modules that must verify, print, count, rewrite and run.

#include <cstring>

#include "../random/program.h"
#include "exercise.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "target/cpu.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lowtide::engine;
  constexpr size_t kMostGenes = 24;
  Recipe recipe;
  const auto take = [&] {
    uint16_t word = 0;
    const size_t count = std::min(size, sizeof word);
    std::memcpy(&word, data, count);
    data += count;
    size -= count;
    return static_cast<uint64_t>(word);
  };
  recipe.seed = take();
  for (uint64_t parameters = 1 + recipe.seed % 4; parameters > 0; --parameters)
    recipe.parameters.push_back(mix(take()));
  while (size > 0 && recipe.genes.size() < kMostGenes) {
    Gene gene{mix(take()), {}};
    for (uint64_t inner = gene.seed % 5; inner > 0 && size > 0; --inner) gene.inner.push_back(mix(take()));
    recipe.genes.push_back(std::move(gene));
  }
  const auto module = program_from(recipe);
  const Status status = verify(*module);
  must(status.ok(), status.message());
  exercise(*module);
  const auto arguments = seeded_arguments(*module, 0);
  const auto before = interpret(*module, arguments);
  if (!before.ok() && before.status().fault() == Fault::kUnsupported) return 0;
  must(before.ok(), before.status().message());
  const auto records = run_passes(*module, pipeline(), cpu_target());
  must(records.ok(), records.status().message());
  const auto after = interpret(*module, arguments);
  must(after.ok(), after.status().message());
  const Comparison comparison = compare_results(*after, *before, {});
  must(comparison.agrees(), comparison.first);
  return 0;
}
