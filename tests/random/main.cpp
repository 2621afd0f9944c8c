/// lowtide_random: random programs against our own invariants, and against another executor that sits at the other end
/// of a pipe.
///
///   lowtide_random check [--count N] [--seed S]    properties that need no one else
///   lowtide_random compiled [--count N] [--seed S] compiled runs against the interpreter
///   lowtide_random fitted [--count N] [--seed S]   plans of random decisions against the interpreter
///   lowtide_random limits [--count N] [--seed S]   what fits random limits, checked, all in this process
///   lowtide_random limits|exact FILE               the same of one program that failed, for a debugger
///   lowtide_random judge [--count N] [--seed S]    a frame a program on stdout, a verdict a line on stdin
///   lowtide_random write DIR [--count N] [--seed S]
///
/// A frame is a line of JSON {"status", "text_bytes", "results": [{"dtype", "shape", "error"}]}, the program's text,
/// and the elements of the results, one array after the other. A verdict is "agree" or the difference in words. What
/// fails is shrunk: genes are taken away as long as the smaller program still fails.

#include <fmt/format.h>
#include <rapidcheck.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "analysis/account.h"
#include "base/files.h"
#include "codegen/llvm_library.h"
#include "compile/planner.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "limits.h"
#include "numbers.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "program.h"
#include "support/run_compiled.h"
#include "support/sanitized.h"
#include "support/test_context.h"
#include "target/cpu.h"
#include "text/hlo.h"
#include "text/input.h"

namespace lowtide::engine {

/// What rapidcheck prints of a counter-example: the program.
void showValue(const Genome& genome, std::ostream& out) { out << "\n" << print_hlo(*program_from(genome)); }

namespace {

constexpr unsigned kSecondsPerProgram = kSanitized ? 100 : 20;  ///< instrumented code takes several times as long
constexpr size_t kLargestProgram = 26;                          ///< genes

rc::Gen<uint64_t> seeds() { return rc::gen::noShrink(rc::gen::resize(100, rc::gen::arbitrary<uint64_t>())); }

rc::Gen<Genome> genomes(bool for_xla = false) {
  const auto genes = rc::gen::build<Gene>(
      rc::gen::set(&Gene::seed, seeds()),
      rc::gen::set(&Gene::inner, rc::gen::resize(6, rc::gen::container<std::vector<uint64_t>>(seeds()))));
  return rc::gen::build<Genome>(
      rc::gen::set(&Genome::seed, seeds()),
      rc::gen::set(&Genome::parameters, rc::gen::resize(5, rc::gen::container<std::vector<uint64_t>>(seeds()))),
      rc::gen::set(&Genome::genes, rc::gen::container<std::vector<Gene>>(genes)),
      rc::gen::set(&Genome::for_xla, rc::gen::just(for_xla)));
}

std::unique_ptr<Module> read(const std::string& text) {
  auto module = parse_hlo(std::make_shared<Source>(Source{"random.hlo", text}), test_context());
  if (!module.ok()) RC_FAIL(module.status().message());
  return module.take();
}

void must_be_ok(const Status& status) {
  if (!status.ok()) RC_FAIL(status.message());
}

void check_accounts(const Module& module) {
  for (const AccountMode mode : {AccountMode::kAsGiven, AccountMode::kUnscheduled}) {
    const Account account = account_for(module, mode);
    RC_ASSERT(account.temp_bytes >= account.load_bytes);
    RC_ASSERT(account.load_bytes >= 0);
    RC_ASSERT(account.alias_bytes <= account.output_bytes);
    RC_ASSERT(account.peak_bytes() >= floor_any(module).bytes);
  }
  RC_ASSERT(floor_order(module).bytes >= floor_any(module).bytes);
}

void check_passes(const Module& module) {
  const auto arguments = seeded_arguments(module, 1);
  const auto before = interpret(module, arguments);
  if (!before.ok() && before.status().fault() == Fault::kUnsupported) return;
  must_be_ok(before.status());
  const auto changed = module.clone();
  const auto records = run_passes(*changed, pipeline(), cpu_target());
  must_be_ok(records.status());
  must_be_ok(verify(*changed));
  const auto after = interpret(*read(print_hlo(*changed)), arguments);
  must_be_ok(after.status());
  const Comparison comparison = compare_results(*after, *before, {});
  if (!comparison.agrees()) RC_FAIL("passes change the results: " + comparison.first + "\n" + print_hlo(*changed));
}

/// Empty, or the first element where two executors are farther apart than each may be from the mathematical value.
std::string difference_within(const std::vector<Value>& got, const std::vector<Value>& want,
                              const std::vector<double>& errors) {
  if (got.size() != want.size()) return fmt::format("{} results, expected {}", got.size(), want.size());
  for (size_t k = 0; k < want.size(); ++k) {
    const ElementType type = want[k]->shape().type;
    if (!is_floating(type) && !is_complex(type)) {
      for (int64_t i = 0; i < want[k]->size(); ++i) {
        if (integer_at(*got[k], i) == integer_at(*want[k], i)) continue;
        return fmt::format("out{} element {}: {}, interpreted {}", k, i, integer_at(*got[k], i),
                           integer_at(*want[k], i));
      }
      continue;
    }
    const std::vector<double> x = parts_of(*got[k]), y = parts_of(*want[k]);
    for (size_t i = 0; i < y.size(); ++i) {
      const bool same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
      if (same || std::fabs(x[i] - y[i]) <= 2 * errors[k] + 0x1p-126) continue;
      return fmt::format("out{} element {}: {}, interpreted {}, bound {:.3g}", k, i / (is_complex(type) ? 2 : 1), x[i],
                         y[i], errors[k]);
    }
  }
  return "";
}

/// Compiled it must agree with the interpreter, for every number of threads, in its planned memory.
std::string compiled_fault(const Module& module, const std::vector<Value>& arguments,
                           const std::vector<Value>& interpreted) {
  for (const Isa isa : {Isa::kNative, Isa::kAvx2}) {
    const CompiledRun run = run_compiled(module, arguments, isa);
    const std::string how = isa == Isa::kNative ? "compiled, it " : "compiled for AVX2, it ";
    if (!run.failure.empty()) return how + run.failure;
    if (!run.unsupported.empty()) return how + "is unsupported: " + run.unsupported;
    const std::string differs = difference_within(run.results, interpreted, error_bounds(module));
    if (!differs.empty()) return how + "gives " + differs;
  }
  return "";
}

/// Properties of one program that need no other executor.
void check_program(const Genome& genome) {
  const auto built = program_from(genome);
  must_be_ok(verify(*built));
  const std::string text = print_hlo(*built);
  const auto module = read(text);
  must_be_ok(verify(*module));
  RC_ASSERT(print_hlo(*module) == text);
  RC_ASSERT(print_hlo(*module->clone()) == text);
  check_accounts(*module);
  check_passes(*module);
}

/// Of the process, not the clock's: a program may have to wait for others.
void set_processor_timer(int seconds) {
  const itimerval timer{.it_interval = {0, 0}, .it_value = {seconds, 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

using Judge = std::function<std::string(const Module&, const std::vector<Value>&, const std::vector<Value>&)>;

/// Compiled and interpreted it is the same program. In a process of its own, so that a crash is shrunk like any fault.
void check_compiled(const Genome& genome, const Judge& fault_of) {
  const auto module = read(print_hlo(*program_from(genome)));
  const pid_t child = ::fork();
  if (child == 0) {
    set_processor_timer(kSecondsPerProgram);
    const auto arguments = seeded_arguments(*module, 1);
    const auto interpreted = interpret(*module, arguments);
    const std::string fault = interpreted.ok() ? fault_of(*module, arguments, *interpreted) : "";
    if (!fault.empty()) fmt::print(stderr, "{}\n", fault);
    ::_exit(fault.empty() ? 0 : 1);
  }
  int how = 0;
  ::waitpid(child, &how, 0);
  if (how != 0) RC_FAIL(WIFSIGNALED(how) ? fmt::format("ended by signal {}", WTERMSIG(how)) : "a fault, told above");
}

std::string running;  ///< the program that is being checked

void check_limits(const Genome& genome, std::string (*fault_of)(const Module&)) {
  running = print_hlo(*program_from(genome));
  const auto show_and_end = [](int signal) {
    const std::string_view why = signal == SIGPROF   ? "ran for too long:\n"
                                 : signal == SIGSEGV ? "ended by a segmentation fault:\n"
                                                     : "aborted:\n";
    (void)!::write(STDERR_FILENO, why.data(), why.size());
    (void)!::write(STDERR_FILENO, running.data(), running.size());
    ::_exit(1);
  };
  ::signal(SIGPROF, show_and_end);
  ::signal(SIGSEGV, show_and_end);
  ::signal(SIGABRT, show_and_end);
  set_processor_timer(kSecondsPerProgram);
  const std::string fault = fault_of(*read(running));
  set_processor_timer(0);
  if (!fault.empty()) RC_FAIL(fault);
}

/// Some of the decisions that a plan may hold, whatever they are good for.
Decisions random_decisions(const Planner& planner, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  Decisions decisions;
  if (below(2)) decisions.emplace_back(WithoutPass{"stream-slices"});
  if (below(2)) decisions.emplace_back(WithoutPass{"split-long-reductions"});
  if (below(2)) decisions.emplace_back(WithoutPass{"split-long-scatters"});
  if (below(2)) decisions.emplace_back(PriceOfMemory{std::array{0.0, 3.0, 1000.0}[below(3)]});
  if (below(2)) decisions.emplace_back(SearchSteps{static_cast<int64_t>(below(50))});
  for (int tries = 0; tries < 8; ++tries) {
    const auto module = planner.streamed(decisions);
    if (!module.ok()) break;
    std::vector<StreamDecision> all;
    for (const auto& computation : (*module)->computations()) {
      for (const auto& i : computation->instructions()) {
        for (int64_t d = 0; i->shape.is_array() && d < i->shape.rank(); ++d) {
          const int64_t extent = i->shape.dims[d];
          if (extent < 2) continue;
          const auto tile = static_cast<int64_t>(1 + below(static_cast<size_t>(extent - 1)));
          all.push_back({computation->name, i->name, d, tile, below(2) == 1});
        }
      }
    }
    if (all.empty()) break;
    decisions.emplace_back(all[below(all.size())]);
    if (!planner.streamed(decisions).ok()) decisions.pop_back();
  }
  return decisions;
}

std::string fitted_fault(const Module& module, const std::vector<Value>& arguments,
                         const std::vector<Value>& interpreted) {
  const auto planner = Planner::make(module, cpu_target());
  if (!planner.ok()) return planner.status().message();
  const Decisions decisions = random_decisions(*planner, std::hash<std::string>()(print_hlo(module)));
  const std::string plan = print_plan(module, decisions);
  const auto compiled = compile_plan(module, cpu_target(), decisions);
  if (!compiled.ok()) return compiled.status().message() + " in\n" + plan;
  const CompiledRun run = run_plan(*compiled, arguments);
  if (!run.failure.empty() || !run.unsupported.empty()) return run.failure + run.unsupported + " in\n" + plan;
  const std::string differs = difference_within(run.results, interpreted, error_bounds(module));
  return differs.empty() ? "" : differs + " in\n" + plan;
}

/// Runs in a process of its own, so that a crash of ours is a counter-example like any other.
void write_frame(const std::string& text) {
  set_processor_timer(kSecondsPerProgram);
  auto module = parse_hlo(std::make_shared<Source>(Source{"random.hlo", text}), test_context());
  Status status = module.ok() ? verify(**module) : module.status();
  std::vector<Value> results;
  if (status.ok()) {
    auto run = interpret(**module, seeded_arguments(**module, 0));
    status = run.status();
    if (run.ok()) {
      results = run.take();
      const std::string fault = compiled_fault(**module, seeded_arguments(**module, 0), results);
      if (!fault.empty()) status = {Fault::kInternal, fault};
    }
  }
  nlohmann::ordered_json head = {{"status", status.ok() ? "ok" : status.message()},
                                 {"fault", static_cast<int>(status.fault())},
                                 {"text_bytes", text.size()},
                                 {"results", nlohmann::ordered_json::array()}};
  std::string body = text;
  const std::vector<double> errors = module.ok() ? error_bounds(**module) : std::vector<double>();
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = results[i]->shape();
    head["results"].push_back({{"dtype", type_name(shape.type)}, {"shape", shape.dims}, {"error", errors[i]}});
    body.append(reinterpret_cast<const char*>(results[i]->bytes().data()), results[i]->bytes().size());
  }
  (void)write_all(STDOUT_FILENO, head.dump() + "\n" + body);
}

void judge_program(const Genome& genome) {
  const auto built = program_from(genome);
  const std::string text = print_hlo(*built);
  const pid_t child = ::fork();
  if (child == 0) {
    write_frame(text);
    ::_exit(0);
  }
  int how = 0;
  ::waitpid(child, &how, 0);
  if (how != 0) {
    const nlohmann::json head = {
        {"status", "crash"}, {"fault", 1}, {"text_bytes", text.size()}, {"results", nlohmann::json::array()}};
    (void)write_all(STDOUT_FILENO, head.dump() + "\n" + text);
  }
  std::string verdict;
  if (!std::getline(std::cin, verdict)) std::exit(static_cast<int>(Fault::kUsage));
  if (how != 0) RC_FAIL("the interpreter crashed or ran for too long");
  if (verdict != "agree") RC_FAIL(verdict);
}

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::string seed = "1", count = "1000", path;
  const std::string mode = words.empty() ? "" : words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--seed" && i + 1 < words.size()) {
      seed = words[++i];
    } else if (words[i] == "--count" && i + 1 < words.size()) {
      count = words[++i];
    } else {
      path = words[i];
    }
  }
  const std::string parameters =
      fmt::format("seed={} max_success={} max_size={} max_discard_ratio=100", seed, count, kLargestProgram);
  ::setenv("RC_PARAMS", parameters.c_str(), 1);
  if (mode == "check") return rc::check("random programs", [] { check_program(*genomes()); }) ? 0 : 1;
  if (mode != "check") (void)load_llvm_library();  // once, for all processes
  if (mode == "compiled")
    return rc::check("compiled programs agree", [] { check_compiled(*genomes(), compiled_fault); }) ? 0 : 1;
  if (mode == "fitted") {
    return rc::check("fitted programs agree", [] { check_compiled(*genomes(), fitted_fault); }) ? 0 : 1;
  }
  if ((mode == "limits" || mode == "exact") && !path.empty()) {
    const auto input = read_input(path);
    const auto fault_of = mode == "exact" ? exact_fault : limits_fault;
    const std::string fault = input.ok() ? fault_of(*input->module) : input.status().message();
    fmt::print("{}\n", fault.empty() ? "agrees" : fault);
    return fault.empty() ? 0 : 1;
  }
  if (mode == "limits") {
    return rc::check("programs that fit agree", [] { check_limits(*genomes(), limits_fault); }) ? 0 : 1;
  }
  if (mode == "exact") {
    return rc::check("sums keep their order", [] { check_limits(*genomes(), exact_fault); }) ? 0 : 1;
  }
  if (mode == "judge") return rc::check("random programs agree", [] { judge_program(*genomes(true)); }) ? 0 : 1;
  if (mode == "write" && !path.empty()) {
    int written = 0;
    return rc::check("programs are written",
                     [&] {
                       const auto module = program_from(*genomes());
                       must_be_ok(write_file(fmt::format("{}/random_{}.hlo", path, written++), print_hlo(*module)));
                     })
               ? 0
               : 1;
  }
  std::fputs(
      "lowtide_random check|compiled|fitted|limits|exact|judge|write DIR [--count N] [--seed S], or limits|exact "
      "FILE\n",
      stderr);
  return static_cast<int>(Fault::kUsage);
}

}  // namespace
}  // namespace lowtide::engine

int main(int argc, char** argv) { return lowtide::engine::main(argc, argv); }
