// The wrapper round the passes, and the pipeline with every pass switched off once.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "ops/verify.h"
#include "passes/compare_runs.h"
#include "passes/pass.h"
#include "read_module.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

namespace fs = std::filesystem;

const fs::path kTextTests = fs::path(LOWTIDE_TEST_DATA) / ".." / "text" / "passes";

std::unique_ptr<Module> small_module() {
  return read("HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] negate(x)\n}\n");
}

Result<PassResult> break_shape(Module& module) {
  module.entry->root->shape.dims = {3};
  return PassResult{true, 1, "broken"};
}

Result<PassResult> fail(Module&) { return Status::unsupported("not today"); }

TEST(Passes, WrapperNamesThePassThatBreaksTheModule) {
  const auto module = small_module();
  const auto records =
      run_passes(*module, {{"break-shape", break_shape, Numerics::kExact, "to be caught"}}, cpu_target());
  ASSERT_FALSE(records.ok());
  EXPECT_EQ(records.status().fault(), Fault::kInternal);
  EXPECT_NE(records.status().message().find("pass break-shape left a module"), std::string::npos);
}

TEST(Passes, WrapperHandsOnThePassesFault) {
  const auto module = small_module();
  const auto records = run_passes(*module, {{"fail", fail, Numerics::kExact, "to be handed on"}}, cpu_target());
  EXPECT_EQ(records.status().fault(), Fault::kUnsupported);
}

TEST(Passes, CastsThatTakeAShorterWayCount) {
  const auto module = read(R"(HloModule m
ENTRY e {
  x = s8[64] parameter(0)
  w = s32[64] convert(x)
  f = f32[64] convert(w)
  ROOT t = (s32[64], f32[64]) tuple(w, f)
}
)");
  const auto result = find_pass("remove-noop-casts")->run(*module, cpu_target());
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->changed);
  EXPECT_EQ(result->count, 1);
}

TEST(Passes, RecordsPeaksOnDemand) {
  const auto module = small_module();
  const std::vector<Pass> one = {*find_pass("remove-dead-code")};
  EXPECT_EQ((*run_passes(*module, one, cpu_target()))[0].peak_before, 0);
  const auto records = run_passes(*module, one, cpu_target(), {.record_peaks = true});
  EXPECT_EQ((*records)[0].peak_before, 16);
  EXPECT_EQ((*records)[0].peak_after, 16);
}

TEST(Passes, EachHasANameAReasonAndTests) {
  std::set<std::string_view> names;
  for (const Pass& pass : pipeline()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_FALSE(pass.reason.empty()) << pass.name;
    EXPECT_TRUE(fs::is_directory(kTextTests / pass.name)) << pass.name;
  }
  EXPECT_EQ(find_pass("no-such-pass"), nullptr);
}

int runs_of_counted = 0;
Result<PassResult> counted(Module&) {
  ++runs_of_counted;
  return PassResult{};
}
Result<PassResult> changing(Module&) { return rewritten(1, "changes"); }

TEST(Passes, RunAgainOnlyAfterAChange) {
  const auto module = small_module();
  const Pass counting = {"counting", counted, Numerics::kExact, ""};
  const Pass change = {"changing", changing, Numerics::kExact, ""};
  const Pass another = {"another", [](Module& m) { return counted(m); }, Numerics::kExact, ""};
  const auto runs = [&](const std::vector<Pass>& passes) {
    runs_of_counted = 0;
    EXPECT_TRUE(run_passes(*module, passes, cpu_target()).ok());
    return runs_of_counted;
  };
  EXPECT_EQ(runs({counting, counting}), 1);
  EXPECT_EQ(runs({counting, change, counting}), 2);
  EXPECT_EQ(runs({change, counting, counting}), 1);
  EXPECT_EQ(runs({another, another}), 2) << "lambdas of one name may hold different decisions";
}

/// run_passes() relies on it: what found nothing isn't run again before the next change.
TEST(Passes, WhatSaysThatItChangedNothingChangedNothing) {
  int programs = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kTextTests)) {
    if (entry.path().extension() != ".hlo") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const auto module = read(std::string(std::istreambuf_iterator<char>(in), {}));
    ASSERT_NE(module, nullptr);
    ++programs;
    std::string before = print_hlo(*module);
    for (const Pass& pass : execution_pipeline()) {
      if (module->sums_in_order && numerics_of(pass, *module) == Numerics::kReassociated) continue;
      const auto result = pass.run(*module, cpu_target());
      if (!result.ok()) break;
      if (result->changed) before = print_hlo(*module);
      EXPECT_EQ(print_hlo(*module), before) << pass.name << " in " << entry.path();
      before = print_hlo(*module);
    }
  }
  EXPECT_GT(programs, 50);
}

struct Rewritten {
  std::unique_ptr<Module> module;
  std::vector<bool> changed;  ///< by row of the pipeline
};

/// By the pipeline without row `left_out`; -1: by all of it.
Rewritten rewrite_without(const Module& module, int left_out) {
  Rewritten made{module.clone(), {}};
  std::vector<Pass> passes = pipeline();
  if (left_out >= 0) passes.erase(passes.begin() + left_out);
  const auto records = run_passes(*made.module, passes, cpu_target());
  EXPECT_TRUE(records.ok()) << records.status().message();
  // Programs of mixed precisions have a record more, of what runs ahead of every list.
  for (const PassRecord& record : *records) {
    if (made.changed.size() < passes.size() && record.name == passes[made.changed.size()].name) {
      made.changed.push_back(record.result.changed);
    }
  }
  EXPECT_EQ(made.changed.size(), passes.size());
  return made;
}

/// Those of a text test must stay whichever row is left out; rows that changed nothing needn't be.
TEST(Passes, PipelineWithoutAnyOnePassKeepsResults) {
  int programs = 0, left_out = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kTextTests)) {
    if (entry.path().extension() != ".hlo") continue;
    SCOPED_TRACE(entry.path());
    std::ifstream in(entry.path(), std::ios::binary);
    const auto module = read(std::string(std::istreambuf_iterator<char>(in), {}));
    ASSERT_NE(module, nullptr);
    const auto expect_same_results = [&](const Module& after, std::string_view without) {
      const auto difference = difference_of_runs(*module, after, Numerics::kExact, 3);
      if (!difference.ok()) return false;  // the interpreter can't run it
      EXPECT_EQ(*difference, "") << "without " << without;
      return true;
    };
    const Rewritten by_all = rewrite_without(*module, -1);
    ++programs;
    if (!expect_same_results(*by_all.module, "none")) continue;
    for (size_t row = 0; row < by_all.changed.size(); ++row) {
      if (!by_all.changed[row]) continue;
      ++left_out;
      expect_same_results(*rewrite_without(*module, static_cast<int>(row)).module, pipeline()[row].name);
    }
  }
  EXPECT_GT(programs, 50);
  EXPECT_GT(left_out, 50);
}

/// A second run may still find tuples that became wholes when their dead elements went; a third finds nothing.
TEST(Passes, PipelineSettles) {
  for (const auto& entry : fs::recursive_directory_iterator(kTextTests)) {
    if (entry.path().extension() != ".hlo") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const auto module = read(std::string(std::istreambuf_iterator<char>(in), {}));
    for (int run = 0; run < 2; ++run) ASSERT_TRUE(run_passes(*module, pipeline(), cpu_target()).ok()) << entry.path();
    const std::string settled = print_hlo(*module);
    const auto records = run_passes(*module, pipeline(), cpu_target());
    ASSERT_TRUE(records.ok());
    for (const PassRecord& record : *records) EXPECT_FALSE(record.result.changed) << entry.path() << record.name;
    EXPECT_EQ(print_hlo(*module), settled);
  }
}

}  // namespace
}  // namespace lowtide::engine
