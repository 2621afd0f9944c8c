#include "schedule/rearrange.h"

#include "region_test_support.h"
#include "schedule/check/check_program.h"
#include "schedule/kernel_way.h"
#include "schedule/program.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

std::optional<Rearrangement> rearrangement(const std::string& text) {
  const OneRegion one = one_region(text);
  return plan_rearrangement(lower(one.region), static_cast<int32_t>(one.region.inputs.size()), 0);
}

TEST(Rearrange, OnlyWhatMovesAll) {
  const std::string x = "x = f32[120,300] parameter(0)\n";
  EXPECT_TRUE(rearrangement(x + "ROOT y = f32[300,120] transpose(x), dimensions={1,0}"));
  EXPECT_TRUE(rearrangement(x + "ROOT y = f32[120,300] reverse(x), dimensions={1}"));
  EXPECT_TRUE(rearrangement(x + R"(r = f32[120,300] reverse(x), dimensions={0}
    ROOT y = f32[300,120] transpose(r), dimensions={1,0})"));
  EXPECT_TRUE(rearrangement(x + R"(r = f32[3,40,300] reshape(x)
    ROOT y = f32[40,300,3] transpose(r), dimensions={1,2,0})"));
  // it stays as it is; it is changed; a part of it; elements twice; small
  EXPECT_FALSE(rearrangement(x + "ROOT y = f32[120,300] copy(x)"));
  EXPECT_FALSE(rearrangement(x + R"(n = f32[120,300] negate(x)
    ROOT y = f32[300,120] transpose(n), dimensions={1,0})"));
  EXPECT_FALSE(rearrangement(x + R"(s = f32[120,299] slice(x), slice={[0:120], [1:300]}
    ROOT y = f32[299,120] transpose(s), dimensions={1,0})"));
  EXPECT_FALSE(rearrangement("x = f32[300] parameter(0)\n ROOT y = f32[300,300] broadcast(x), dimensions={1}"));
  EXPECT_FALSE(rearrangement("x = f32[20,30] parameter(0)\n ROOT y = f32[30,20] transpose(x), dimensions={1,0}"));
}

Program planned(const std::string& line, bool donated, bool rearrange) {
  const std::string text = std::string("HloModule m") +
                           (donated ? ", input_output_alias={ {}: (0, {}, may-alias) }" : "") + "\nENTRY main {\n" +
                           line + "}\n";
  auto parsed = parse_hlo(std::make_shared<Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  Program program = schedule(std::shared_ptr<const Module>(parsed.take()), cpu_target(), {.rearrange = rearrange});
  EXPECT_EQ(check_program(program, cpu_target()), "");
  return program;
}

TEST(Rearrange, WhereTheOperandIsGivenAway) {
  const std::string square = "x = f32[500,500] parameter(0)\n ROOT y = f32[500,500] transpose(x), dimensions={1,0}\n";
  EXPECT_LT(planned(square, true, false).temp_bytes, 100'000);
  EXPECT_TRUE(planned(square, true, false).steps.at(0).way);
  EXPECT_FALSE(planned(square, false, false).steps.at(0).way);
  // extents without a common divisor take longer: only where it is asked for
  const std::string other = "x = f32[499,503] parameter(0)\n ROOT y = f32[503,499] transpose(x), dimensions={1,0}\n";
  EXPECT_TRUE(planned(other, true, false).could_rearrange);
  EXPECT_EQ(planned(other, true, false).temp_bytes, 4 * 499 * 503);
  EXPECT_LT(planned(other, true, true).temp_bytes, 300'000);
}

TEST(Rearrange, CheckerSeesWhatMoves) {
  Program program =
      planned("x = f32[500,500] parameter(0)\n ROOT y = f32[500,500] transpose(x), dimensions={1,0}\n", true, false);
  KernelWay less = *program.steps.at(0).way;
  less.rearrangement.value().moves[0].rows -= 1;
  program.steps[0].way = std::make_shared<const KernelWay>(less);
  EXPECT_NE(check_program(program, cpu_target()), "");
}

}  // namespace
}  // namespace lowtide::engine
