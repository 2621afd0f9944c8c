// Programs on the simulated accelerator (tests/accelerator): planned for it, run in random order as far as their
// dependencies allow, and compared with the expected values in a file of tensors beside them, or with the interpreter.
// Usage: accelerator_test [--seed N] [--all] [--small] [--fit | --spoil | --without-dependencies [--unreached]] FILES
// or FOLDERS...
//   --all: a program that can't be run is a failure. --small: of folders, the files *.small.hlo alone.
//   --fit: each is planned in as little memory as a search for it finds, and checked as `lowtide fit --check` does.
//   --spoil: a control. A result is changed in each program, which must fail.
//   --without-dependencies: the control. Each dependency of each program is left out in turn, which must be noticed by
//   the checker of plans, and here, by a race or by values; --unreached: here only where values let steps run.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "accelerator/accelerator.h"
#include "compile/check_fit.h"
#include "compile/frontier.h"
#include "compile/load.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "runtime/value_memory.h"
#include "schedule/check/order_proof.h"
#include "text/input.h"
#include "text/safetensors.h"

namespace fs = std::filesystem;
using namespace lowtide::engine;

namespace {

constexpr uint64_t kSeedsOfControl = 4;
constexpr int64_t kPlans = 40;

struct Test {
  uint64_t seed = 1;
  bool all = false, small = false, fits = false, spoils = false, leaves_out = false, unreached = false;
  int64_t programs = 0, fitted = 0, failed = 0;
  int64_t steps = 0, dependencies = 0, rotations = 0, assembled = 0;
  int64_t left_out = 0, by_race = 0, by_values = 0, by_neither = 0;
  std::vector<std::string> not_run;

  void fail(const std::string& path, const std::string& why) {
    ++failed;
    fmt::print("[FAIL] {}: {}\n", path, why);
  }

  void program(const std::string& path) {
    const Status status = try_program(path);
    if (status.ok()) {
      ++programs;
    } else if (status.fault() == Fault::kUnsupported && !all) {
      not_run.push_back(fs::path(path).filename().string() + ": " + status.message());
    } else {
      fail(path, status.message());
    }
  }

  void count(const std::vector<ProgramStep>& block) {
    for (const ProgramStep& step : block) {
      ++steps;
      dependencies += std::ssize(step.after);
      rotations += step.kind == StepKind::kRotate;
      assembled += step.assembled;
      for (const auto& inner : step.blocks) count(inner);
    }
  }

  Status try_program(const std::string& path);
  Status try_fitted(const Module& module);
  Status try_without_dependencies(const LoweredProgram& lowered);
};

struct Expected {
  std::vector<Value> arguments, results;
  Tolerance tolerance;
  bool usual = true;  ///< tolerances, by the types of results
};

Result<Expected> from_file(const Module& module, const std::string& path) {
  Expected expected;
  expected.usual = false;
  LT_ASSIGN_OR_RETURN(TensorFile file, TensorFile::open(path));
  const auto number = [&](const char* name) {
    const auto known = file.metadata().find(name);
    return known == file.metadata().end() ? 0 : std::stod(known->second);
  };
  expected.tolerance = {.rtol = number("rtol"), .atol_of_max = number("atol_of_max")};
  int64_t count = 0;
  for (const Instruction* parameter : module.entry->parameters()) {
    if (parameter->shape.is_tuple()) return Status::unsupported("a tuple for an argument");
    LT_ASSIGN_OR_RETURN(Value value, file.load_as(fmt::format("arg{}", count++), parameter->shape));
    expected.arguments.push_back(std::move(value));
  }
  Status fault;
  count = 0;
  for_each_leaf(module.entry->root->shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (!leaf.is_array() || !fault.ok()) return;
    auto value = file.load_as(fmt::format("out{}", count++), leaf);
    if (!value.ok()) {
      fault = value.status();
    } else {
      expected.results.push_back(value.take());
    }
  });
  LT_RETURN_IF_ERROR(fault);
  return expected;
}

Result<Expected> from_interpreter(const Module& module, uint64_t seed) {
  Expected expected;
  expected.arguments = seeded_arguments(module, seed);
  LT_ASSIGN_OR_RETURN(expected.results, interpret(module, expected.arguments));
  return expected;
}

std::string difference(const std::vector<Value>& got, const Expected& expected) {
  if (expected.usual) return usual_difference(got, expected.results);
  return compare_results(got, expected.results, expected.tolerance).first;
}

/// The last element of the first result that has one becomes another.
void spoil(std::vector<Value>& results) {
  const auto first = std::ranges::find_if(results, [](const Value& v) { return !v->bytes().empty(); });
  if (first == results.end()) return;
  auto spoilt = std::make_shared<Literal>(**first);
  spoilt->bytes().back() ^= std::byte{0x5f};
  *first = std::move(spoilt);
}

Result<std::vector<Value>> run(LoadedProgram& loaded, const std::vector<Value>& arguments) {
  const ValueMemory memory(loaded.program(), arguments);
  LT_RETURN_IF_ERROR(loaded.run(memory.memory(), loaded.program().module->context().pool()));
  return memory.results(loaded);
}

Status Test::try_program(const std::string& path) {
  const auto input = read_input(path);
  if (!input.ok()) return input.status();
  const Module& module = *(*input).module;
  if (fits) return try_fitted(module);
  const std::string tensors = fs::path(path).replace_extension(".safetensors");
  LT_ASSIGN_OR_RETURN(const Compiled compiled, compile_plan(module, accelerator_target()));
  if (!compiled.program->refused.empty()) return {Fault::kInternal, "a wrong plan: " + compiled.program->refused};
  if (leaves_out) {
    LT_ASSIGN_OR_RETURN(const LoweredProgram lowered, lower_program(compiled, AcceleratorBackend()));
    count(lowered.program->steps);
    return try_without_dependencies(lowered);
  }
  AcceleratorBackend backend;
  backend.seed = seed;
  LT_ASSIGN_OR_RETURN(const auto loaded, load_program(compiled, backend));
  count(loaded->program().steps);
  LT_ASSIGN_OR_RETURN(const Expected expected,
                      fs::exists(tensors) ? from_file(module, tensors) : from_interpreter(module, 1));
  const auto another = loaded->another();
  for (LoadedProgram* const one : {loaded.get(), another.get()}) {
    LT_ASSIGN_OR_RETURN(std::vector<Value> got, run(*one, expected.arguments));
    if (spoils) spoil(got);
    if (std::string wrong = difference(got, expected); !wrong.empty()) return {Fault::kWrongValues, std::move(wrong)};
  }
  return {};
}

Status Test::try_fitted(const Module& module) {
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(module, accelerator_target()));
  LT_ASSIGN_OR_RETURN(const Frontier frontier, find_frontier(planner, {.budget = kPlans}));
  LT_ASSIGN_OR_RETURN(const Compiled compiled,
                      compile_plan(module, accelerator_target(), frontier.tightest().decisions, {.quiet = true}));
  fitted += compiled.program->peak_bytes() < frontier.points.front().peak_bytes;
  AcceleratorBackend backend;
  backend.seed = seed;
  return check_fit(module, compiled, backend).status();
}

/// Calls f with the program without one of its dependencies, and the step that nobody waits for then, for each of them.
template <class F>
Status for_each_left_out(Program& program, std::vector<ProgramStep>& steps, const F& f) {
  for (ProgramStep& step : steps) {
    const std::vector<int32_t> whole = step.after;
    for (size_t k = 0; k < whole.size(); ++k) {
      step.after.erase(step.after.begin() + static_cast<std::ptrdiff_t>(k));
      LT_RETURN_IF_ERROR(f(step, steps[whole[k]]));
      step.after = whole;
    }
    for (auto& block : step.blocks) LT_RETURN_IF_ERROR(for_each_left_out(program, block, f));
  }
  return {};
}

Status Test::try_without_dependencies(const LoweredProgram& lowered) {
  AcceleratorBackend backend;
  const auto changed = std::make_shared<Program>(*lowered.program);
  std::vector<Expected> inputs;  // branches go where the arguments say
  for (uint64_t k = 0; k < kSeedsOfControl; ++k) {
    LT_ASSIGN_OR_RETURN(Expected expected, from_interpreter(*lowered.program->module, seed + k));
    inputs.push_back(std::move(expected));
  }
  return for_each_left_out(*changed, changed->steps, [&](const ProgramStep& waits, const ProgramStep& waited_for) {
    bool race = false, values = false;
    for (uint64_t k = 0; k < kSeedsOfControl && !(race && values); ++k) {
      backend.seed = seed + k;
      backend.last = &waited_for;
      for (const bool tells : {true, false}) {
        backend.tells_races = tells;
        LT_ASSIGN_OR_RETURN(const auto loaded, backend.load({changed, lowered.nests}));
        const auto got = run(*loaded, inputs[k].arguments);
        if (tells) {
          race = race || (!got.ok() && got.status().message().starts_with("a race"));
        } else {
          values = values || !got.ok() || !difference(*got, inputs[k]).empty();
        }
      }
    }
    ++left_out;
    by_race += race;
    by_values += values;
    by_neither += !race && !values;
    if (fault_of_order(*changed).empty())
      fail(lowered.program->module->name, fmt::format("the checker accepts that %{} doesn't wait for %{}",
                                                      waits.instruction->name, waited_for.instruction->name));
    if (!race && !values && !unreached)
      fail(lowered.program->module->name, fmt::format("nobody notices that %{} doesn't wait for %{}",
                                                      waits.instruction->name, waited_for.instruction->name));
    return Status();
  });
}

void add_programs(const std::string& argument, bool small, std::vector<std::string>& files) {
  if (fs::is_directory(argument)) {
    for (const auto& entry : fs::recursive_directory_iterator(argument)) {
      const std::string name = entry.path().filename();
      if (small ? name.ends_with(".small.hlo") : name.ends_with(".hlo")) files.push_back(entry.path());
    }
  } else if (fs::exists(argument)) {
    files.push_back(argument);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Test test;
  std::vector<std::string> files;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == "--seed" && k + 1 < argc) {
      test.seed = std::stoull(argv[++k]);
    } else if (argument == "--all") {
      test.all = true;
    } else if (argument == "--small") {
      test.small = true;
    } else if (argument == "--spoil") {
      test.spoils = true;
    } else if (argument == "--fit") {
      test.fits = true;
    } else if (argument == "--unreached") {
      test.unreached = true;
    } else if (argument == "--without-dependencies") {
      test.leaves_out = true;
    } else {
      add_programs(argument, test.small, files);
    }
  }
  if (files.empty()) {
    fmt::print("SKIP: no such programs\n");
    return 0;
  }
  std::ranges::sort(files);
  for (const std::string& file : files) test.program(file);
  if (test.spoils) {
    fmt::print("{} programs with a changed result, {} noticed\n", files.size(), test.failed);
    return std::cmp_equal(test.failed, files.size()) ? 0 : 1;
  }
  for (const std::string& why : test.not_run) fmt::print("not run: {}\n", why);
  fmt::print("{} of {} programs, {} wrong: {} steps, {} dependencies, {} rotations, {} steps assembled\n",
             test.programs, files.size(), test.failed, test.steps, test.dependencies, test.rotations, test.assembled);
  if (test.fits) fmt::print("{} in less memory than their free plan\n", test.fitted);
  if (test.leaves_out) {
    fmt::print("{} dependencies left out in turn: {} noticed as races, {} by their values, {} by neither\n",
               test.left_out, test.by_race, test.by_values, test.by_neither);
    return test.failed == 0 && test.left_out > 0 && test.by_values > 0 ? 0 : 1;
  }
  return test.failed == 0 && test.programs > 0 && (!test.fits || test.fitted > 0) ? 0 : 1;
}
