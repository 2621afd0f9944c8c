// Arrays of zeros that several updates start from: each update gets its own, computed just before it.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "schedule/check/check_program.h"
#include "schedule/schedule_work.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

/// Two scatters into equal zeros, with two products between them.
Program two_scatters(const std::string& also_read) {
  auto parsed = parse_hlo(std::make_shared<Source>(Source{"test.hlo", fmt::format(R"(HloModule m
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}
ENTRY main {{
  i = s32[400,1] parameter(0)
  u = f32[400,64] parameter(1)
  w = f32[64,192] parameter(2)
  v = f32[192,64] parameter(3)
  zero = f32[] constant(0)
  z = f32[512,64] broadcast(zero), dimensions={{}}
  s = f32[512,64] scatter(z, i, u), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add
  large = f32[512,192] dot(s, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  d = f32[512,64] dot(large, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  g = f32[400,64] gather(d, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,64}}
  t = f32[512,64] scatter(z, i, g), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add
  e = f32[512,192] dot(t, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  y = f32[512,192] dot({}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT all = (f32[512,192], f32[512,192]) tuple(e, y)
}}
)",
                                                                                  also_read)}));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  Program program = schedule(std::shared_ptr<const Module>(parsed.take()), cpu_target(), {});
  EXPECT_EQ(check_program(program, cpu_target()), "");
  return program;
}

int64_t count_of(const Program& program, StepKind kind, const std::string& name) {
  return std::ranges::count_if(program.steps, [&](const ProgramStep& step) {
    return step.kind == kind && (name.empty() || step.instruction->name == name);
  });
}

TEST(InitialValues, AreMadeForEachUpdate) {
  const Program program = two_scatters("s");
  EXPECT_EQ(count_of(program, StepKind::kKernel, "z"), 2);
  EXPECT_EQ(count_of(program, StepKind::kCopy, ""), 0);
}

// The control: zeros that something else reads are stored, and are copied for the updates.
TEST(InitialValues, AreStoredForOtherReaders) {
  const Program program = two_scatters("z");
  EXPECT_EQ(count_of(program, StepKind::kKernel, "z"), 1);
  EXPECT_GE(count_of(program, StepKind::kCopy, ""), 1);
}

}  // namespace
}  // namespace lowtide::engine
