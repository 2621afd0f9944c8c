#include "ops/dimension_roles.h"

#include <gtest/gtest.h>

#include "region/dimension_classes.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

std::unique_ptr<Module> with_body(const std::string& body) {
  const std::string plus =
      "plus {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n";
  auto module =
      parse_hlo(std::make_shared<Source>(Source{"test.hlo", "HloModule m\n" + plus + "ENTRY main {\n" + body + "}\n"}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.take();
}

const Instruction& find(const Module& module, const std::string& name) {
  for (const auto& instruction : module.entry->instructions()) {
    if (instruction->name == name) return *instruction;
  }
  ADD_FAILURE() << "no " << name;
  return *module.entry->root;
}

/// "p1" pointwise with result dimension 1, "p1*2+3" from slice 2 c + 3, "w0-1~2" a window, "b0:2/3"
/// blocks of 2 for blocks of 3 of the result, "r" reduced, "o" opaque.
std::string roles(const Module& module, const std::string& name, size_t operand) {
  std::string text;
  for (const OperandDimension& role : operand_roles(find(module, name), operand)) {
    if (!text.empty()) text += " ";
    switch (role.role) {
      case DimensionRole::kReduced: text += "r"; continue;
      case DimensionRole::kOpaque: text += "o"; continue;
      case DimensionRole::kPointwise: text += "p"; break;
      case DimensionRole::kWindowed: text += "w"; break;
      case DimensionRole::kBlocked: text += "b"; break;
    }
    text += std::to_string(role.result_dimension);
    if (role.stride != 1) text += "*" + std::to_string(role.stride);
    if (role.offset != 0) text += (role.offset > 0 ? "+" : "") + std::to_string(role.offset);
    if (role.reach != 0) text += "~" + std::to_string(role.reach);
    if (role.role == DimensionRole::kBlocked)
      text += ":" + std::to_string(role.block) + "/" + std::to_string(role.result_block);
  }
  return text;
}

TEST(DimensionRoles, IndexMaps) {
  const auto m = with_body(R"(
  x = f32[4,6] parameter(0)
  t = f32[6,4] transpose(x), dimensions={1,0}
  b = f32[4,3,6] broadcast(x), dimensions={0,2}
  s = f32[2,6] slice(x), slice={[1:4:2], [0:6]}
  v = f32[4,6] reverse(x), dimensions={1}
  c = f32[8,6] concatenate(x, v), dimensions={0}
  zero = f32[] constant(0)
  p = f32[4,9] pad(x, zero), padding=0_0x2_1
  q = f32[4,11] pad(x, zero), padding=0_0x0_0_1
  split = f32[4,2,3] reshape(x)
  ROOT joined = f32[24] reshape(x)
)");
  EXPECT_EQ(roles(*m, "t", 0), "p1 p0");
  EXPECT_EQ(roles(*m, "b", 0), "p0 p2");
  EXPECT_EQ(roles(*m, "s", 0), "p0*2+1 p1");
  EXPECT_EQ(roles(*m, "v", 0), "p0 p1*-1+5");
  EXPECT_EQ(roles(*m, "c", 1), "p0-4 p1");
  EXPECT_EQ(roles(*m, "p", 0), "p0 p1-2");
  EXPECT_EQ(roles(*m, "q", 0), "p0 o");
  EXPECT_EQ(roles(*m, "split", 0), "p0 b1:3/1");
  EXPECT_EQ(roles(*m, "joined", 0), "b0:1/6 o");
}

TEST(DimensionRoles, FoldsAndProducts) {
  const auto m = with_body(R"(
  x = f32[4,6,8] parameter(0)
  y = f32[5,8,4] parameter(1)
  zero = f32[] constant(0)
  r = f32[6] reduce(x, zero), dimensions={0,2}, to_apply=plus
  w = f32[4,3,8] reduce-window(x, zero), window={size=1x3x1 stride=1x2x1 pad=0_0x1_0x0_0}, to_apply=plus
  ROOT d = f32[4,6,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={2}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
)");
  EXPECT_EQ(roles(*m, "r", 0), "r p0 r");
  EXPECT_EQ(roles(*m, "w", 0), "p0 w1*2-1~2 p2");
  EXPECT_EQ(roles(*m, "d", 0), "p0 p1 r");
  EXPECT_EQ(roles(*m, "d", 1), "p2 r p0");
}

TEST(DimensionRoles, GroupsOfConvolutions) {
  const auto m = with_body(R"(
  x = f32[2,9,8] parameter(0)
  k = f32[3,2,12] parameter(1)
  f = f32[2,9,12] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, feature_group_count=4
  y = f32[6,9,5] parameter(2)
  l = f32[3,5,12] parameter(3)
  ROOT b = f32[2,9,12] convolution(y, l), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, batch_group_count=3
)");
  EXPECT_EQ(roles(*m, "f", 0), "p0 w1-1~2 b2:2/3");
  EXPECT_EQ(roles(*m, "f", 1), "r r p2");
  EXPECT_EQ(roles(*m, "b", 0), "b2:2/4 w1-1~2 r");
  EXPECT_EQ(roles(*m, "b", 1), "r r b2:4/4");
}

TEST(DimensionRoles, GatherAndScatter) {
  const auto m = with_body(R"(
  x = f32[5,6] parameter(0)
  i = s32[3,1] parameter(1)
  u = f32[3,6] parameter(2)
  g = f32[3,6] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
  ROOT s = f32[5,6] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=plus
)");
  EXPECT_EQ(roles(*m, "g", 0), "o p1");
  EXPECT_EQ(roles(*m, "g", 1), "p0 o");
  EXPECT_EQ(roles(*m, "s", 0), "p0 p1");
  EXPECT_EQ(roles(*m, "s", 1), "r o");
  EXPECT_EQ(roles(*m, "s", 2), "r p1");
}

TEST(DimensionClasses, WalkThroughSoftmax) {
  const auto m = with_body(R"(
  q = f32[7,4] parameter(0)
  k = f32[9,4] parameter(1)
  zero = f32[] constant(0)
  s = f32[7,9] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  e = f32[7,9] exponential(s)
  n = f32[7] reduce(e, zero), dimensions={1}, to_apply=plus
  bundle = (f32[7], f32[7,9]) tuple(n, e)
  same = f32[7] get-tuple-element(bundle), index=0
  b = f32[7,9] broadcast(same), dimensions={0}
  ROOT p = f32[7,9] divide(e, b)
)");
  const DimensionClasses classes(*m->entry);
  const auto of = [&](const std::string& name, int64_t d) { return classes.class_of({&find(*m, name), 0}, d); };
  EXPECT_EQ(classes.count(), 3);  // queries, keys, features
  for (const char* name : {"q", "s", "e", "n", "same", "b", "p"}) EXPECT_EQ(of(name, 0), of("q", 0)) << name;
  for (const char* name : {"s", "e", "b", "p"}) EXPECT_EQ(of(name, 1), of("k", 0)) << name;
  EXPECT_EQ(of("q", 1), of("k", 1));
  EXPECT_NE(of("q", 0), of("k", 0));
  EXPECT_EQ(classes.extent(of("k", 0)), 9);
  EXPECT_EQ(classes.members(of("q", 0)).size(), 6u);  // q s e n b p: bundles have no dimensions of their own
}

TEST(DimensionClasses, KeepSlicesApart) {
  const auto m = with_body(R"(
  x = f32[8] parameter(0)
  a = f32[7] slice(x), slice={[0:7]}
  b = f32[7] slice(x), slice={[1:8]}
  ROOT d = f32[7] subtract(a, b)
)");
  const DimensionClasses classes(*m->entry);
  const auto of = [&](const std::string& name) { return classes.class_of({&find(*m, name), 0}, 0); };
  EXPECT_EQ(of("a"), of("b"));
  EXPECT_NE(of("a"), of("x"));
}

}  // namespace
}  // namespace lowtide::engine
