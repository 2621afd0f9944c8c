#include "exercise.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/account.h"
#include "compile/explain.h"
#include "interp/interpreter.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "report/html.h"
#include "report/json.h"
#include "report/text.h"
#include "report/trace.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

constexpr double kMostWork = 3e5;      ///< elements touched: what a fuzzer runs thousands of times a minute
constexpr double kMostElements = 2e4;  ///< of one value

double elements_of(const Shape& shape) {
  double elements = 1;
  if (shape.is_array()) {
    for (const int64_t extent : shape.dims) elements *= static_cast<double>(std::max<int64_t>(extent, 0));
  }
  for (const Shape& part : shape.elements) elements += elements_of(part);
  return elements;
}

/// Elements that running touches, and steps for calls; infinite where a loop decides or a value is too large.
class Work {
 public:
  double of(const Computation& computation) {
    if (const auto known = known_.find(&computation); known != known_.end()) return known->second;
    double work = 1;
    for (const auto& i : computation.instructions()) work += of(*i);
    return known_[&computation] = work;
  }

 private:
  double of(const Instruction& i) {
    if (i.opcode == Opcode::kWhile) return INFINITY;
    double touched = elements_of(i.shape), product = 1;
    for (const Instruction* operand : i.operands) {
      touched += elements_of(operand->shape);
      if (elements_of(operand->shape) > kMostElements) return INFINITY;
    }
    if (elements_of(i.shape) > kMostElements) return INFINITY;
    if (memory_class(i.opcode) == MemoryClass::kContract || i.if_as<WindowAttributes>() ||
        i.if_as<ConvolutionAttributes>()) {
      for (const Instruction* operand : i.operands) product *= std::max(1.0, elements_of(operand->shape));
      product *= std::max(1.0, elements_of(i.shape));
      if (const auto* window = i.if_as<WindowAttributes>()) {
        for (const int64_t size : window->window.size) product *= static_cast<double>(std::max<int64_t>(size, 1));
      }
    }
    double inner = 1;
    for (const Computation* called : i.called) inner += of(*called);
    return std::max(product, touched * inner);
  }

  std::unordered_map<const Computation*, double> known_;
};

void check_accounts(const Module& module) {
  for (const AccountMode mode : {AccountMode::kAsGiven, AccountMode::kUnscheduled}) {
    const Account account = account_for(module, mode);
    must(account.temp_bytes >= account.load_bytes, "an arena smaller than its load");
  }
  (void)floor_any(module);
  (void)floor_order(module);
}

/// What explain does, in every form it has.
void explain_everywhere(const Module& module) {
  Input input;
  input.module = module.clone();
  const auto explained = lowtide::engine::explain(input, cpu_target(), true);
  if (!explained.ok()) return;
  const Report& report = *explained;
  (void)to_text(report, {});
  (void)to_json(report);
  (void)to_html(report);
  (void)to_trace(report);
}

}  // namespace

void must(bool condition, const std::string& sentence) { LT_ASSERT(condition, sentence); }

void exercise(const Module& module) {
  if (!verify(module).ok()) return;
  const std::string text = print_hlo(module);
  const auto again = parse_hlo(std::make_shared<Source>(Source{"again.hlo", text}));
  must(again.ok(), "our own print isn't read: " + again.status().message());
  const Status verified = verify(**again);
  must(verified.ok(), "our own print isn't verified: " + verified.message());
  const std::string twice = print_hlo(**again);
  must(twice == text, "printing is no fixpoint:\n" + text + "\nthen\n" + twice);
  must(print_hlo(*module.clone()) == text, "a clone prints otherwise");
  check_accounts(module);
  explain_everywhere(module);

  const auto changed = module.clone();
  const auto records = run_passes(*changed, pipeline(), cpu_target());
  must(records.ok(), "the passes fail: " + records.status().message());
  if (Work work; module.entry && work.of(*module.entry) < kMostWork) {
    for (const Instruction* parameter : module.entry->parameters()) {
      if (!parameter || !parameter->shape.is_array()) return;
    }
    (void)interpret(module, seeded_arguments(module, 0));
  }
}

}  // namespace lowtide::engine
