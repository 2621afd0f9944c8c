/// Any bytes as StableHLO text; what is read prints as StableHLO that reads back, a fixpoint after one round.

#include "exercise.h"
#include "ops/verify.h"
#include "text/stablehlo.h"

namespace lowtide::engine {
namespace {

Result<std::unique_ptr<Module>> read(std::string_view text) {
  return parse_stablehlo(std::make_shared<Source>(Source{"fuzz.mlir", std::string(text)}));
}

void print_and_read(const Module& module) {
  const auto first = print_stablehlo(module);
  if (!first.ok()) return must(first.status().fault() == Fault::kUnsupported, "our print fails otherwise");
  const auto again = read(*first);
  must(again.ok(), "our own StableHLO isn't read: " + again.status().message() + "\n" + *first);
  const auto second = print_stablehlo(**again);
  must(second.ok(), "what was printed once isn't again: " + second.status().message());
  const auto third = read(*second);
  must(third.ok(), "our own StableHLO isn't read twice: " + third.status().message() + "\n" + *second);
  const auto last = print_stablehlo(**third);
  must(last.ok() && *last == *second, "printing StableHLO is no fixpoint:\n" + *second);
}

}  // namespace
}  // namespace lowtide::engine

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lowtide::engine;
  const auto module = read(text_of(data, size));
  if (!module.ok()) {
    must(module.status().fault() == Fault::kInput || module.status().fault() == Fault::kUnsupported,
         "a fault of another kind");
    return 0;
  }
  if (verify(**module).ok()) print_and_read(**module);
  exercise(**module);
  return 0;
}
