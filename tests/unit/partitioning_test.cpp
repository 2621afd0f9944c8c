#include "analysis/partitioning.h"

#include <gtest/gtest.h>

#include "analysis/account.h"
#include "text/hlo.h"
#include "text/stablehlo.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kArray = 4096;  // f32[1024], f32[32,32]

std::unique_ptr<Module> parse(const std::string& text) {
  const bool mlir = text.find("func.func") != std::string::npos;
  const auto source = std::make_shared<const Source>(Source{mlir ? "m.mlir" : "m.hlo", text});
  auto module = mlir ? parse_stablehlo(source, "") : parse_hlo(source);
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? module.take() : std::make_unique<Module>();
}

Account account(const std::string& text) {
  const auto module = parse(text);
  const Account a = account_for(*module, AccountMode::kAsGiven);
  EXPECT_LE(floor_any(*module).bytes, a.argument_bytes + a.output_bytes - a.alias_bytes);
  EXPECT_EQ(floor_order(*module).bytes >= floor_any(*module).bytes, true);
  return a;
}

bool warns(const Account& a, const std::string& words) {
  for (const std::string& warning : a.warnings) {
    if (warning.find(words) != std::string::npos) return true;
  }
  return false;
}

/// One argument with a sharding, given back with the same.
std::string identity(const std::string& type, const std::string& sharding,
                     const std::string& header = "num_partitions=8") {
  return "HloModule m, " + header + "\nENTRY main { a = " + type + " parameter(0), sharding=" + sharding +
         "  ROOT n = " + type + " negate(a), sharding=" + sharding + " }";
}

TEST(Partitioning, EveryKindOfSharding) {
  const struct {
    const char* sharding;
    int64_t bytes;
  } kCases[] = {
      {"{devices=[8,1]<=[8]}", kArray / 8},
      {"{devices=[2,4]0,1,2,3,4,5,6,7}", kArray / 8},
      {"{devices=[4,1,2]<=[8] last_tile_dim_replicate}", kArray / 4},
      {"{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}", kArray / 2},
      {"{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dims={unreduced}}", kArray / 2},
      {"{mesh['x'=4,'y'=2], [{'y'}, {'x'}]}", kArray / 8},
      {"{mesh['x'=4,'y'=2], [{'x':(1)2}, {}], replicated={'y'}}", kArray / 2},
  };
  for (const auto& c : kCases) {
    const Account a = account(identity("f32[32,32]", c.sharding));
    EXPECT_EQ(a.argument_bytes, c.bytes) << c.sharding;
    EXPECT_EQ(a.output_bytes, c.bytes) << c.sharding;
    EXPECT_TRUE(warns(a, "before partitioning over 8 devices")) << c.sharding;
  }
  // Nothing here says that shapes are those of all devices: they are counted as written either way.
  for (const char* whole : {"{replicated}", "{maximal device=3}", "{manual}", "{unknown}"}) {
    EXPECT_EQ(account(identity("f32[32,32]", whole)).argument_bytes, kArray) << whole;
  }
}

TEST(Partitioning, LastPartsMayBeSmaller) {
  const Account a = account(identity("f32[1001,37]", "{devices=[8,1]<=[8]}"));
  EXPECT_EQ(a.argument_bytes, 126 * 37 * 4);
  EXPECT_EQ(a.output_bytes, 126 * 37 * 4);
}

TEST(Partitioning, TuplesHaveAShardingEach) {
  const Account a = account(R"(HloModule m, num_partitions=4
ENTRY main { t = (f32[32,32], f32[1024]) parameter(0), sharding={{devices=[2,2]<=[4]}, {replicated}}
  x = f32[32,32] get-tuple-element(t), index=0  y = f32[1024] get-tuple-element(t), index=1
  ROOT r = (f32[1024], f32[32,32]) tuple(y, x), sharding={{devices=[4]<=[4]}, {devices=[1,2,2]<=[4] last_tile_dim_replicate}} })");
  EXPECT_EQ(a.argument_bytes, kArray / 4 + kArray);
  EXPECT_EQ(a.output_bytes, kArray / 4 + kArray / 2);
}

TEST(Partitioning, AMeshSaysHowManyDevicesThereAreWhereTheHeaderDoesNot) {
  const std::string mesh = R"(frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=4, "y"=2]>}})";
  EXPECT_EQ(account(identity("f32[32,32]", "{devices=[4,2]<=[8]}", mesh)).argument_bytes, kArray / 8);
  const Account other = account(identity("f32[32,32]", "{devices=[4,2]<=[8]}", "num_partitions=4, " + mesh));
  ASSERT_FALSE(other.warnings.empty());
  EXPECT_EQ(other.warnings[0],
            "2 shardings name 8 devices but the header declares 4 partitions: sizes are as for one of 4 devices");
}

TEST(Partitioning, PartsOfManualRegionsAreNotDividedAgain) {
  const Account a = account(R"(HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=8]>}}
body { p = f32[128] parameter(0)  s = f32[128] sine(p)  ROOT r = f32[128] all-reduce(s), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, to_apply=sum }
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
ENTRY main { a = f32[1024] parameter(0), sharding={devices=[8]<=[8]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}]>"}
  p = f32[128] custom-call(a), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
  r = f32[128] call(p), to_apply=body, frontend_attributes={inlineable="false"}
  ROOT w = f32[1024] custom-call(r), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"} })");
  EXPECT_EQ(a.argument_bytes, kArray / 8);
  EXPECT_EQ(a.output_bytes, kArray / 8);
  EXPECT_LE(a.temp_bytes, kArray / 8);
  EXPECT_FALSE(warns(a, "without a sharding"));
}

TEST(Partitioning, OlderManualRegionsToo) {
  const Account a = account(R"(HloModule m, num_partitions=4
ENTRY main { a = f32[32,32] parameter(0), sharding={devices=[4,1]<=[4]}
  c = f32[32,32] custom-call(a), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}
  p = f32[8,32] custom-call(c), custom_call_target="SPMDFullToShardShape", sharding={manual}
  s = f32[8,32] sine(p), sharding={manual}
  k = f32[8,32] custom-call(s), custom_call_target="Sharding", sharding={manual}
  ROOT w = f32[32,32] custom-call(k), custom_call_target="SPMDShardToFullShape", sharding={devices=[4,1]<=[4]} })");
  EXPECT_EQ(a.argument_bytes, kArray / 4);
  EXPECT_EQ(a.output_bytes, kArray / 4);
  EXPECT_EQ(a.temp_bytes, 0);
}

TEST(Partitioning, WhatNobodySaysFollows) {
  // Rows stay together through a product, a reshape and a loop; the weights aren't divided, nor is what is made of
  // them.
  const Account a = account(R"(HloModule m, num_partitions=8
cond { c = (s32[], f32[64,32]) parameter(0)  i = s32[] get-tuple-element(c), index=0  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT }
step { c = (s32[], f32[64,32]) parameter(0)  i = s32[] get-tuple-element(c), index=0  x = f32[64,32] get-tuple-element(c), index=1
  one = s32[] constant(1)  j = s32[] add(i, one)  s = f32[64,32] sine(x)  ROOT r = (s32[], f32[64,32]) tuple(j, s) }
ENTRY main { a = f32[8,8,32] parameter(0), sharding={devices=[8,1,1]<=[8]}  w = f32[32,32] parameter(1), sharding={replicated}
  flat = f32[64,32] reshape(a)  d = f32[64,32] dot(flat, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = s32[] constant(0)  t = (s32[], f32[64,32]) tuple(zero, d)
  l = (s32[], f32[64,32]) while(t), condition=cond, body=step  g = f32[64,32] get-tuple-element(l), index=1
  ROOT m = f32[64,32] custom-call(g), custom_call_target="Sharding", sharding={devices=[8,1]<=[8]} })");
  EXPECT_EQ(a.argument_bytes, 8 * 32 * 4 + kArray);
  EXPECT_EQ(a.output_bytes, 8 * 32 * 4);
  EXPECT_LE(a.temp_bytes, 8 * 32 * 4 + 64 * 4);
}

TEST(Partitioning, WhatThePartitionerMayChooseIsAWarningAndNoFloor) {
  const std::string text = R"(HloModule m, num_partitions=8
ENTRY main { a = f32[32,32] parameter(0), sharding={devices=[8,1]<=[8]}  b = f32[32,32] parameter(1)
  c = f32[32,32] custom-call(a), custom_call_target="Sharding", sharding={devices=[1,8]<=[8]}
  s = f32[32,32] add(c, b)  ROOT t = (f32[32,32], f32[32,32]) tuple(s, c) })";
  const Account a = account(text);
  EXPECT_TRUE(warns(a, "1 argument without a sharding"));
  EXPECT_TRUE(warns(a, "1 result without a sharding"));
  EXPECT_LE(floor_any(*parse(text)).bytes, 4 * kArray / 8);
}

TEST(Partitioning, ResultsWithoutAShardingAreNeverDividedUnevenly) {
  const Account a = account(R"(HloModule m, num_partitions=8
ENTRY main { a = f32[37] parameter(0), sharding={replicated}
  ROOT c = f32[37] custom-call(a), custom_call_target="Sharding", sharding={devices=[8]<=[8]} })");
  EXPECT_EQ(a.argument_bytes, 37 * 4);
  // It says so of itself here: that is the result's sharding.
  EXPECT_EQ(a.output_bytes, 5 * 4);
  const Account tuple = account(R"(HloModule m, num_partitions=8
ENTRY main { a = f32[37] parameter(0), sharding={replicated}
  c = f32[37] custom-call(a), custom_call_target="Sharding", sharding={devices=[8]<=[8]}
  ROOT t = (f32[37]) tuple(c) })");
  EXPECT_EQ(tuple.output_bytes, 37 * 4);
}

TEST(Partitioning, PlansStateThePartsInTheirHeader) {
  const auto module = parse(identity("f32[32,32]", "{devices=[8,1]<=[8]}"));
  const std::vector<std::string> warnings = plan_for_one_device(*module);
  EXPECT_EQ(warnings.size(), 1u);
  const std::optional<EntryParts> parts = stated_parts(*module);
  ASSERT_TRUE(parts);
  EXPECT_EQ(to_string(*parts), "8: [8,1] -> [8,1]");
  for (const auto& i : module->entry->instructions()) i->sharding = nullptr;
  EXPECT_EQ(account_for(*module, AccountMode::kAsGiven).argument_bytes, kArray / 8);
  EXPECT_TRUE(plan_for_one_device(*module).empty());
  const auto one = parse("HloModule m\nENTRY main { ROOT a = f32[8] parameter(0) }");
  EXPECT_TRUE(plan_for_one_device(*one).empty());
  EXPECT_FALSE(stated_parts(*one));
}

TEST(Partitioning, NumbersThatCannotBeAreNoParts) {
  for (const char* parts : {"8: [9223372036854775807] -> [8]", "8: [-1] -> [8]", "0: [1] -> [1]", "8: [8",
                            "9223372036854775807: [8] -> [8]", ""}) {
    const auto module = parse("HloModule m, num_partitions=8, frontend_attributes={lowtide.parts=\"" +
                              std::string(parts) + "\"}\nENTRY main { ROOT a = f32[1024] parameter(0) }");
    EXPECT_FALSE(stated_parts(*module)) << parts;
    EXPECT_EQ(account_for(*module, AccountMode::kAsGiven).argument_bytes, kArray) << parts;
  }
  // A mesh that no machine has, and a part that is no part of its whole.
  account(identity("f32[32,32]", "{devices=[4,2]<=[8]}",
                   "frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[\"x\"=9223372036854775807, \"y\"=9]>}}"));
  account(R"(HloModule m, num_partitions=8
ENTRY main { a = f32[140737488355328] parameter(0)
  p = f32[1] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={manual}
  ROOT w = f32[140737488355328] custom-call(p), custom_call_target="SPMDShardToFullShape", sharding={devices=[8]<=[8]} })");
}

TEST(Partitioning, OneDeviceDoesNotRunAProgramOfMany) {
  EXPECT_FALSE(why_of_many(*parse(identity("f32[32,32]", "{devices=[8,1]<=[8]}"))).empty());
  EXPECT_TRUE(why_of_many(*parse(identity("f32[32,32]", "{replicated}"))).empty());
  EXPECT_TRUE(why_of_many(*parse("HloModule m\nENTRY main { ROOT a = f32[8] parameter(0) }")).empty());
  // A mesh says how many as well as the header does; what nothing divides each of them has whole.
  const auto meshed = [](const std::string& size, const std::string& sharding) {
    return parse("HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[\"x\"=" + size +
                 "]>}}\nENTRY main { a = f32[8] parameter(0)" + sharding + "\n ROOT n = f32[8] negate(a) }");
  };
  EXPECT_FALSE(why_of_many(*meshed("4", ", sharding={devices=[4]<=[4]}")).empty());
  EXPECT_TRUE(why_of_many(*meshed("4", "")).empty());
  EXPECT_TRUE(plan_for_one_device(*meshed("4", "")).empty());
  EXPECT_TRUE(why_of_many(*meshed("1", "")).empty());
}

std::string shardy(const std::string& mesh, const std::string& type, const std::string& sharding) {
  return "module @m attributes {mhlo.num_partitions = 8 : i32} {\n  sdy.mesh @mesh = " + mesh +
         "\n  func.func public @main(%a: " + type + " {sdy.sharding = #sdy.sharding<" + sharding + ">}) -> (" + type +
         " {sdy.sharding = #sdy.sharding<" + sharding + ">}) {\n    %0 = stablehlo.negate %a : " + type +
         "\n    return %0 : " + type + "\n  }\n}\n";
}

TEST(Partitioning, EveryFormOfShardysShardings) {
  const std::string grid = R"(<["x"=4, "y"=2]>)";
  const struct {
    std::string mesh, sharding;
    int64_t parts;
  } kCases[] = {
      {grid, R"(@mesh, [{"x"}, {}])", 4},
      {grid, R"(@mesh, [{"x", "y"}, {}])", 8},
      {grid, R"(@mesh, [{}, {"y"}], replicated={"x"})", 2},
      {grid, R"(@mesh, [{"x":(1)2}, {"x":(2)2, "y"}])", 8},
      {grid, R"(@mesh, [{"x"}p0, {"y"}p1])", 8},
      {grid, R"(@mesh, [{}, {}])", 1},
      {R"(<["x"=4, "y"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>)", R"(@mesh, [{"y"}, {"x"}])", 8},
      {grid, R"(mesh<["a"=8]>, [{"a"}, {}])", 8},
  };
  for (const auto& c : kCases) {
    const Account a = account(shardy(c.mesh, "tensor<32x32xf32>", c.sharding));
    EXPECT_EQ(a.argument_bytes, kArray / c.parts) << c.sharding;
    EXPECT_EQ(a.output_bytes, kArray / c.parts) << c.sharding;
    EXPECT_FALSE(warns(a, "without a sharding")) << c.sharding;
  }
  EXPECT_TRUE(warns(account(shardy(grid, "tensor<32x32xf32>", R"(@mesh, [{"x"}, {?}])")), "without a sharding"));
}

}  // namespace
}  // namespace lowtide::engine
