#include "compile/check_fit.h"

#include <fmt/format.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "runtime/value_memory.h"
#include "schedule/modelled_time.h"

namespace lowtide {
namespace {

constexpr uint64_t kSeed = 1;
constexpr double kQuickNs = 2e6;  ///< modelled: the interpreter takes some thousand times longer
constexpr double kLongestNs = 60e9;

Result<std::vector<Value>> run(const Compiled& compiled, std::span<const Value> arguments) {
  LT_ASSIGN_OR_RETURN(const auto executable, Executable::make(compiled.program, {}));
  const ValueMemory memory(*compiled.program, arguments);
  ThreadPool pool;
  LT_RETURN_IF_ERROR(executable->run(memory.memory(), pool));
  return memory.results(*executable);
}

/// The first of the decisions with which the results differ, in words.
Result<std::string> culprit(const Module& module, const Decisions& decisions, std::span<const Value> arguments,
                            const std::vector<Value>& expected) {
  Decisions taken;
  for (const Decision& d : decisions) {
    if (std::holds_alternative<WithoutPass>(d)) taken.push_back(d);
  }
  for (size_t k = 0; k <= decisions.size(); ++k) {
    if (k > 0 && std::holds_alternative<WithoutPass>(decisions[k - 1])) continue;
    if (k > 0) taken.push_back(decisions[k - 1]);
    LT_ASSIGN_OR_RETURN(const Compiled compiled, compile_plan(module, taken, {.quiet = true}));
    LT_ASSIGN_OR_RETURN(const std::vector<Value> results, run(compiled, arguments));
    if (usual_difference(results, expected).empty()) continue;
    return k == 0 ? "the pipeline's own rewrites" : "`" + to_string(decisions[k - 1]) + "`";
  }
  return std::string("what differs from run to run");
}

}  // namespace

Result<std::string> check_fit(const Module& module, const Compiled& fitted) {
  LT_ASSIGN_OR_RETURN(const Compiled plain, compile_plan(module, {WithoutPass{"stream-slices"}}, {.quiet = true}));
  const AvailableMemory available = available_memory();
  const Program& program = *plain.program;
  // Arguments and results are there twice: as values, and where each program has its own.
  const int64_t needed = program.temp_bytes + 3 * (program.argument_bytes + program.output_bytes);
  if (needed > available.bytes) {
    return fmt::format("nothing: the program as given needs {}, {} has {} left", format_bytes(needed),
                       available.bound_by, format_bytes(available.bytes));
  }
  const double ns = modelled_ns(program) + modelled_ns(*fitted.program);
  if (ns > kLongestNs) return fmt::format("nothing: both runs would take some {:.0f} s", 1e-9 * ns);
  const std::vector<Value> arguments = seeded_arguments(module, kSeed);
  std::vector<Value> expected;
  std::string how = "by the definitions of its operations";
  if (ns <= kQuickNs) {
    auto interpreted = interpret(module, arguments);
    if (interpreted.ok()) expected = interpreted.take();
  }
  if (expected.empty()) {
    how = "compiled without streams";
    LT_ASSIGN_OR_RETURN(expected, run(plain, arguments));
  }
  LT_ASSIGN_OR_RETURN(const std::vector<Value> results, run(fitted, arguments));
  const std::string wrong = usual_difference(results, expected);
  if (wrong.empty()) return fmt::format("{} results agree with those of the whole program {}", results.size(), how);
  LT_ASSIGN_OR_RETURN(const std::string rewrite, culprit(module, fitted.decisions, arguments, expected));
  return Status(Fault::kWrongValues, fmt::format("with {}: {}", rewrite, wrong));
}

}  // namespace lowtide
