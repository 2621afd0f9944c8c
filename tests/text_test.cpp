// Runs text tests: .hlo files that say in comments what is done with them and what must come out
// (tests/text/README.md).
//   text_test [--update] [--expect-failure] [--compiled|--texts] FILE|FOLDER...
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "analysis/account.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "library/vectors.h"
#include "ops/verify.h"
#include "passes/compare_runs.h"
#include "passes/pass.h"
#include "passes/resize/resize.h"
#include "region/interpret.h"
#include "region/text.h"
#include "support/run_compiled.h"
#include "support/test_context.h"
#include "target/cpu.h"
#include "target/xla.h"
#include "text/hlo.h"
#include "text/stablehlo.h"

using namespace lowtide::engine;
using lowtide::Numerics;
namespace fs = std::filesystem;

namespace {

constexpr uint64_t kSeed = 1;

/// --compiled: every module that the interpreter can run is compiled, run, and compared with it; nothing else is
/// tested.
bool compiled_only = false;

/// --texts: `opt` tests compare only texts, not results; for builds in which the interpreter is slow.
bool texts_only = false;

/// What a file's comments ask for.
struct Test {
  std::string path, text;
  std::string run;                     ///< "verify", "eval", "opt", "regions", "plan", "resize"
  bool exact = false;                  ///< of opt: every sum in its order
  bool for_xla = false;                ///< of opt: as for XLA:CPU
  int64_t few = 8;                     ///< of resize: the smallest of the new extents
  std::vector<std::string> passes;     ///< of opt and regions
  std::vector<std::string> errors;     ///< words that the fault must contain
  std::optional<std::string> after;    ///< the printed module, or the work formed from it, expected
  std::optional<std::string> peak;     ///< "812 -> 640", bytes
  std::optional<std::string> temp;     ///< of plan: bytes
  std::optional<std::string> by_hand;  ///< of plan: the same as somebody who knows would write it
};

struct Outcome {
  std::string failure;                           ///< empty: passed
  std::string skipped;                           ///< why the interpreter compared nothing
  std::optional<std::string> after, peak, temp;  ///< what came out, for --update
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

bool take_prefix(const std::string& line, const std::string& prefix, std::string& rest) {
  if (!line.starts_with(prefix)) return false;
  rest = line.substr(prefix.size());
  rest.erase(0, rest.find_first_not_of(' '));
  rest.erase(rest.find_last_not_of(" \r") + 1);
  return true;
}

/// Reads the directives; the answer says what is wrong with them.
std::string read_directives(Test& test) {
  std::optional<std::string>* block = nullptr;  // whose lines follow
  std::string rest;
  for (const std::string& line : split(test.text, '\n')) {
    if (block && line.starts_with("//")) {
      **block += (line.starts_with("// ") ? line.substr(3) : line.substr(2)) + "\n";
    } else if (take_prefix(line, "// AFTER:", rest) || take_prefix(line, "// BY HAND:", rest)) {
      block = line.starts_with("// AFTER:") ? &test.after : &test.by_hand;
      *block = "";
    } else if (take_prefix(line, "// RUN:", rest)) {
      if (!test.run.empty()) return "has two RUN lines";
      std::istringstream words(rest);
      words >> test.run;
      for (std::string word; words >> word;) {
        std::string names;
        if (take_prefix(word, "--few=", names)) {
          test.few = std::atoll(names.c_str());
        } else if (word == "--exact") {
          test.exact = true;
        } else if (word == "--for-xla") {
          test.for_xla = true;
        } else if (take_prefix(word, "--passes=", names)) {
          test.passes = split(names, ',');
        } else {
          return "doesn't know the option " + word;
        }
      }
    } else if (take_prefix(line, "// ERROR:", rest)) {
      if (rest.empty()) return "has an ERROR line without words";
      test.errors.push_back(rest);
    } else if (take_prefix(line, "// PEAK:", rest)) {
      test.peak = rest;
    } else if (take_prefix(line, "// TEMP:", rest)) {
      test.temp = rest;
    } else {
      block = nullptr;
    }
  }
  if (!test.text.starts_with("// ") || test.text.starts_with("// RUN")) return "doesn't begin with a line of purpose";
  for (const std::string known : {"verify", "eval", "opt", "regions", "plan", "resize"}) {
    if (test.run == known) return "";
  }
  return "has no RUN line: verify, eval, opt, regions, plan or resize";
}

Result<std::unique_ptr<Module>> read_module(const std::string& name, const std::string& text) {
  const auto source = std::make_shared<const Source>(Source{name, text});
  LT_ASSIGN_OR_RETURN(auto module, name.ends_with(".mlir") ? parse_stablehlo(source, "", test_context())
                                                           : parse_hlo(source, test_context()));
  LT_RETURN_IF_ERROR(verify(*module));
  LT_RETURN_IF_ERROR(verify_sizes(*module));
  return module;
}

std::string first_different_line(const std::string& expected, const std::string& got) {
  const auto want = split(expected, '\n'), have = split(got, '\n');
  for (size_t i = 0; i < std::max(want.size(), have.size()); ++i) {
    const std::string w = i < want.size() ? want[i] : "(end)", h = i < have.size() ? have[i] : "(end)";
    if (w != h) return fmt::format("line {} of AFTER\n  expected {}\n  got      {}", i + 1, w, h);
  }
  return "AFTER differs in its last line end";
}

/// The same of StableHLO, after one round more: what is read has no tuples left. Checks in the module hold in what was
/// read as well.
std::string check_stablehlo_fixpoint(const Module& module, bool runs) {
  std::string text[3];
  const Module* printed = &module;
  std::unique_ptr<Module> read;
  for (std::string& print : text) {
    const auto made = print_stablehlo(*printed);
    if (!made.ok()) return made.status().fault() == Fault::kUnsupported ? "" : made.status().message();
    print = *made;
    auto again = read_module("printed.mlir", print);
    if (!again.ok()) return "doesn't read its own StableHLO: " + again.status().message();
    read = again.take();
    printed = read.get();
  }
  if (text[1] != text[2]) return "StableHLO prints differently: " + first_different_line(text[1], text[2]);
  if (!runs) return "";
  const auto results = interpret(*read, seeded_arguments(*read, kSeed));
  return results.ok() ? "" : "as StableHLO: " + results.status().message();
}

/// Printing must be a fixpoint: what we print, we read, and print again the same.
std::string check_fixpoint(const Module& module, const std::string& name) {
  const std::string once = print_hlo(module);
  auto again = read_module(name + " (printed)", once);
  if (!again.ok()) return "doesn't read its own print: " + again.status().message();
  return print_hlo(**again) == once ? "" : "prints differently after it was printed and read";
}

/// A fault that was expected must say the words and show the place.
std::string check_fault(const Test& test, const Status& fault, bool with_place) {
  if (fault.ok()) return "succeeded, but a fault was expected";
  if (test.errors.empty()) return fault.message();
  for (const std::string& words : test.errors) {
    if (fault.message().find(words) == std::string::npos) {
      return fmt::format("the fault doesn't say \"{}\":\n{}", words, fault.message());
    }
  }
  return with_place && !fault.has_place() ? "the fault has no place: " + fault.message() : "";
}

/// The passes that the test names; the answer is the first name that none has.
std::string find_passes(const Test& test, std::vector<Pass>& passes) {
  for (const std::string& name : test.passes) {
    const Pass* pass = find_pass(name);
    if (!pass) return fmt::format("there is no pass \"{}\"", name);
    passes.push_back(*pass);
  }
  return "";
}

/// Compiled, for this machine and for AVX2, it must agree with the interpreter.
Outcome check_compiled(const Module& module) {
  Outcome outcome;
  const std::vector<Value> arguments = seeded_arguments(module, kSeed);
  const auto expected = interpret(module, arguments);
  if (!expected.ok()) {
    outcome.skipped = expected.status().message();
    return outcome;
  }
  for (const Isa isa : {Isa::kNative, Isa::kAvx2}) {
    const CompiledRun run = run_compiled(module, arguments, isa);
    outcome.skipped = run.unsupported;
    outcome.failure =
        !run.failure.empty() || !run.unsupported.empty() ? run.failure : usual_difference(run.results, *expected);
    if (!outcome.failure.empty() && isa == Isa::kAvx2) outcome.failure = "for AVX2: " + outcome.failure;
    if (!outcome.failure.empty()) return outcome;
  }
  return outcome;
}

Outcome run_opt(const Test& test, Module& module) {
  Outcome outcome;
  module.sums_in_order = test.exact;
  const auto before = module.clone();
  std::vector<Pass> passes;
  if (outcome.failure = find_passes(test, passes); !outcome.failure.empty()) return outcome;
  Numerics loosest = Numerics::kExact;
  for (const Pass& pass : passes) {
    const bool left_out = test.exact && numerics_of(pass, module) == Numerics::kReassociated;
    if (!left_out) loosest = std::max(loosest, numerics_of(pass, module));
  }
  const auto records = run_passes(module, passes, test.for_xla ? xla_target() : cpu_target());
  if (!records.ok() || !test.errors.empty()) {
    outcome.failure = check_fault(test, records.ok() ? Status() : records.status(), false);
    return outcome;
  }
  outcome.after = print_hlo(module);
  if (!outcome.after->ends_with('\n')) *outcome.after += '\n';
  outcome.failure = check_fixpoint(module, test.path);
  if (!texts_only) {
    const auto difference = difference_of_runs(*before, module, loosest, kSeed);
    if (!difference.ok()) {
      const Fault kind = difference.status().fault();
      if (kind != Fault::kUnsupported && kind != Fault::kInput) outcome.failure = difference.status().message();
      outcome.skipped = difference.status().message();
    } else if (!difference->empty()) {
      outcome.failure = "the results changed: " + *difference;
    }
  }
  if (test.peak) {
    outcome.peak = fmt::format("{} -> {}", account_for(*before, AccountMode::kAsGiven).peak_bytes(),
                               account_for(module, AccountMode::kAsGiven).peak_bytes());
  }
  return outcome;
}

/// Work is what form_work makes; run piece by piece, with nothing passed on but what is stored, it must give the
/// module's own results, bit by bit.
Outcome run_regions(const Test& test, Module& module) {
  Outcome outcome;
  std::vector<Pass> passes;
  if (outcome.failure = find_passes(test, passes); !outcome.failure.empty()) return outcome;
  if (const auto records = run_passes(module, passes, cpu_target()); !records.ok())
    return {records.status().message(), "", {}, {}, {}};
  const ModuleWork work = form_work(module, cpu_target());
  outcome.after = to_text(work);
  for (const auto& [computation, items] : work.of) {
    for (const Work& item : items) {
      if (item.kind != WorkKind::kRegion) continue;
      if (outcome.failure = check_region(item.region); !outcome.failure.empty()) return outcome;
    }
  }
  const auto want = interpret(module, seeded_arguments(module, kSeed));
  if (!want.ok()) {
    outcome.skipped = want.status().message();
    return outcome;
  }
  const auto got = interpret(work, seeded_arguments(module, kSeed));
  if (!got.ok()) return {"the work doesn't run: " + got.status().message(), "", outcome.after, {}, {}};
  for (size_t k = 0; k < want->size(); ++k) {
    if (!std::ranges::equal((*want)[k]->bytes(), (*got)[k]->bytes())) {
      outcome.failure = fmt::format("out{} of the work differs from the module's", k);
    }
  }
  return outcome;
}

/// The free plan, run, gives the interpreter's results; so does the module by hand, whose plan takes no less.
Outcome run_plan(const Test& test, const Module& module) {
  Outcome outcome = check_compiled(module);
  const auto plan = compile_plan(module, cpu_target());
  if (!plan.ok()) return {plan.status().message(), "", {}, {}, {}};
  outcome.temp = std::to_string(plan->program->temp_bytes);
  if (!outcome.failure.empty() || !test.by_hand) return outcome;
  const auto by_hand = read_module(test.path + " (by hand)", *test.by_hand);
  if (!by_hand.ok()) return {by_hand.status().message(), "", {}, {}, {}};
  const auto want = interpret(module, seeded_arguments(module, kSeed)),
             got = interpret(**by_hand, seeded_arguments(**by_hand, kSeed));
  if (!want.ok() || !got.ok()) return {"the module by hand doesn't run", "", {}, {}, {}};
  outcome.failure = usual_difference(*got, *want);
  if (!outcome.failure.empty()) outcome.failure = "by hand: " + outcome.failure;
  const auto best = compile_plan(**by_hand, cpu_target());
  if (!best.ok()) return {best.status().message(), "", {}, {}, {}};
  if (best->program->temp_bytes < plan->program->temp_bytes) {
    outcome.failure =
        fmt::format("takes {} bytes; by hand it takes {}", plan->program->temp_bytes, best->program->temp_bytes);
  }
  return outcome;
}

/// With other extents it must be a program that runs; with its own it must be the same.
Outcome run_resize(const Test& test, const Module& module) {
  Outcome outcome;
  const ModuleExtents extents(module);
  const auto same = resize(module, extents, [](int32_t, int64_t extent) { return extent; });
  if (!same.ok()) return {same.status().message(), "", {}, {}};
  if (print_hlo(*same->module) != print_hlo(module)) return {"changes without a wish", "", {}, {}};
  const auto resized = resize(module, extents, small_extents(extents, test.few));
  if (!resized.ok()) return {resized.status().message(), "", {}, {}};
  outcome.after = print_hlo(*resized->module);
  for (const ExtentClass& c : resized->classes) {
    if (!c.reason.empty()) *outcome.after += fmt::format("\n{} stays: {}", c.extent, c.reason);
  }
  *outcome.after += '\n';
  outcome.failure = check_fixpoint(*resized->module, test.path);
  const auto results = interpret(*resized->module, seeded_arguments(*resized->module, kSeed));
  if (!results.ok()) {
    const bool skips = results.status().fault() == Fault::kUnsupported;
    (skips ? outcome.skipped : outcome.failure) = results.status().message();
  }
  return outcome;
}

Outcome run_test(const Test& test) {
  auto module = read_module(fs::path(test.path).filename().string(), test.text);
  if (!module.ok()) return {check_fault(test, module.status(), true), "", {}, {}, {}};
  if (compiled_only && test.errors.empty()) return check_compiled(**module);
  if (test.run == "opt") return run_opt(test, **module);
  if (test.run == "regions") return run_regions(test, **module);
  if (test.run == "plan") return run_plan(test, **module);
  if (test.run == "resize") return run_resize(test, **module);
  if (test.run == "eval") {
    const auto results = interpret(**module, seeded_arguments(**module, kSeed));
    if (!results.ok() || !test.errors.empty()) {
      return {check_fault(test, results.ok() ? Status() : results.status(), false), "", {}, {}, {}};
    }
  } else if (!test.errors.empty()) {
    return {check_fault(test, Status(), true), "", {}, {}, {}};
  }
  std::string failure = check_fixpoint(**module, test.path);
  if (failure.empty()) failure = check_stablehlo_fixpoint(**module, test.run == "eval");
  return {failure, "", {}, {}, {}};
}

/// Ends a TEMP that holds only where there are such vectors: oneDNN takes other scratch elsewhere.
constexpr std::string_view kWideVectors = " (AVX-512)";

/// The file with its AFTER block at the end and its PEAK line refreshed.
std::string updated_text(const Test& test, const Outcome& outcome) {
  std::string text;
  bool in_after = false;
  for (const std::string& line : split(test.text, '\n')) {
    in_after = line.starts_with("// AFTER:") || (in_after && line.starts_with("//"));
    if (in_after) continue;
    const bool peak = line.starts_with("// PEAK:") && outcome.peak, temp = line.starts_with("// TEMP:") && outcome.temp;
    text += peak ? "// PEAK: " + *outcome.peak : temp ? "// TEMP: " + *outcome.temp : line;
    if (temp && line.ends_with(kWideVectors)) text += kWideVectors;
    text += '\n';
  }
  while (text.ends_with("\n\n")) text.pop_back();
  if (!outcome.after) return text;
  text += "\n// AFTER:\n";
  for (const std::string& line : split(*outcome.after, '\n')) text += line.empty() ? "//\n" : "// " + line + "\n";
  return text;
}

std::string compare_expected(const Test& test, const Outcome& outcome) {
  if (test.run == "plan") {
    if (!test.temp) return "has no TEMP";
    const bool elsewhere = test.temp->ends_with(kWideVectors) && widest_vector() < 64;
    if (elsewhere) fmt::print("[SKIP] {}: TEMP not compared: no AVX-512\n", test.path);
    if (elsewhere || *test.temp == *outcome.temp + std::string(kWideVectors)) return "";
    return *test.temp == *outcome.temp ? "" : fmt::format("TEMP expected {}, got {}", *test.temp, *outcome.temp);
  }
  const bool changes = test.run == "opt" || test.run == "regions" || test.run == "resize";
  if (!changes || !test.errors.empty()) return "";
  if (!test.after) return "has no AFTER: --update writes it";
  if (*test.after != *outcome.after) return first_different_line(*test.after, *outcome.after);
  if (test.peak && *test.peak != *outcome.peak)
    return fmt::format("PEAK expected {}, got {}", *test.peak, *outcome.peak);
  return "";
}

std::vector<std::string> files_of(const std::string& argument) {
  if (!fs::is_directory(argument)) return {argument};
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(argument)) {
    if (entry.path().extension() == ".hlo" || entry.path().extension() == ".mlir")
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string run_file(const std::string& path, bool update) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return "can't be opened";
  Test test{path, std::string(std::istreambuf_iterator<char>(in), {}), "", {}, {}, {}, {}, {}, {}};
  if (std::string wrong = read_directives(test); !wrong.empty()) return wrong;
  const Outcome outcome = run_test(test);
  if (!outcome.skipped.empty()) {
    fmt::print("[SKIP] {}: not compared: {}\n", path, outcome.skipped.substr(0, outcome.skipped.find('\n')));
  }
  if (!outcome.failure.empty()) return outcome.failure;
  if (update && (outcome.after || outcome.temp)) {
    std::ofstream(path, std::ios::binary) << updated_text(test, outcome);
    return "";
  }
  return compiled_only ? "" : compare_expected(test, outcome);
}

}  // namespace

int main(int argc, char** argv) {
  bool update = false, expect_failure = false;
  const std::map<std::string, bool*> options = {{"--update", &update},
                                                {"--expect-failure", &expect_failure},
                                                {"--compiled", &compiled_only},
                                                {"--texts", &texts_only}};
  int count = 0, failed = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (const auto option = options.find(argument); option != options.end()) {
      *option->second = true;
      continue;
    }
    for (const std::string& path : files_of(argument)) {
      ++count;
      const std::string failure = run_file(path, update);
      if (failure.empty() == expect_failure) {
        ++failed;
        fmt::print("[FAIL] {}: {}\n", path, expect_failure ? "passed, but it is a control that must fail" : failure);
      }
    }
  }
  fmt::print("{} text tests, {} failed\n", count, failed);
  return count > 0 && failed == 0 ? 0 : 1;
}
