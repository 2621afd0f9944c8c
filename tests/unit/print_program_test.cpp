// Plans as text: where results lie, and which pieces of a kernel are left out.
#include <gtest/gtest.h>

#include "read_module.h"
#include "schedule/kernel_way.h"
#include "schedule/schedule_work.h"
#include "schedule/text.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

Program scheduled(const std::string& text) {
  return schedule(std::shared_ptr<const Module>(read(text)), cpu_target(), ScheduleOptions{});
}

bool has_part(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(PrintProgram, SaysWhereResultsLie) {
  const std::string text = print_program(scheduled(R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY main {
  x = f32[64] parameter(0)
  w = f32[64] parameter(1)
  y = f32[64] multiply(x, w)
  z = f32[64] add(x, w)
  ROOT t = (f32[64], f32[64]) tuple(y, z)
})"));
  EXPECT_TRUE(has_part(text, " number 0 donated holds a result")) << text;
  EXPECT_TRUE(has_part(text, "output 256 bytes")) << text;
  size_t results = 0;
  for (size_t at = text.find("holds a result"); at != std::string::npos; at = text.find("holds a result", at + 1))
    ++results;
  EXPECT_EQ(results, 2u) << text;
}

/// x with its last columns changed, in x's own memory: only these columns are written.
TEST(PrintProgram, SaysWhichPiecesAreLeftOut) {
  const Program program = scheduled(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main {
  x = f32[20,32] parameter(0)
  inside = f32[20,28] slice(x), slice={[0:20], [0:28]}
  east = f32[20,4] slice(x), slice={[0:20], [28:32]}
  easts = f32[20,4] negate(east)
  ROOT y = f32[20,32] concatenate(inside, easts), dimensions={1}
})");
  ASSERT_EQ(program.steps.size(), 1u);
  ASSERT_TRUE(program.steps[0].way);
  EXPECT_EQ(program.steps[0].way->idle, (std::vector<int32_t>{0}));
  EXPECT_TRUE(has_part(print_program(program), " idle 0 ")) << print_program(program);
}

TEST(PrintProgram, SaysNothingOfPiecesThatAllRun) {
  const Program program = scheduled(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main {
  x = f32[20,32] parameter(0)
  ROOT y = f32[20,32] negate(x)
})");
  ASSERT_EQ(program.steps.size(), 1u);
  EXPECT_EQ(program.steps[0].reads, program.steps[0].writes);
  EXPECT_FALSE(program.steps[0].way);
}

}  // namespace
}  // namespace lowtide::engine
