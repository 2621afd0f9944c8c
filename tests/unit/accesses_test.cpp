#include "nest/accesses.h"

#include "region_test_support.h"

namespace lowtide::engine {
namespace {

bool first_output_over_input(const std::string& text, int32_t input = 0) {
  const OneRegion one = one_region(text);
  return may_lie_over(lower(one.region), static_cast<int32_t>(one.region.inputs.size()), input);
}

TEST(MayLieOver, ElementwiseButNotElsewhere) {
  const std::string x = "x = f32[20,30] parameter(0)\n";
  EXPECT_TRUE(first_output_over_input(x + "ROOT y = f32[20,30] negate(x)"));
  EXPECT_FALSE(first_output_over_input(x + "ROOT y = f32[20,30] reverse(x), dimensions={0}"));
  EXPECT_FALSE(first_output_over_input(x + "ROOT y = f32[30,20] transpose(x), dimensions={1,0}"));
  EXPECT_TRUE(first_output_over_input(x + "ROOT y = f32[600] reshape(x)"));
  EXPECT_FALSE(
      first_output_over_input(x + "r = f32[20,30] reverse(x), dimensions={1}\n ROOT y = f32[20,30] add(x, r)"));
  // the rows of one half are read where they are written; the other half is not read at all
  const std::string half = x + R"(i = s32[20,30] iota(), iota_dimension=0
    n = s32[] constant(10)
    ns = s32[20,30] broadcast(n), dimensions={}
    p = pred[20,30] compare(i, ns), direction=LT
    z = f32[] constant(0)
    zs = f32[20,30] broadcast(z), dimensions={}
    )";
  EXPECT_TRUE(first_output_over_input(half + "ROOT y = f32[20,30] select(p, x, zs)"));
  const std::string reversed = half + "r = f32[20,30] reverse(x), dimensions={0}\n";
  // the upper half comes from the lower one, which is written later
  EXPECT_TRUE(first_output_over_input(reversed + "ROOT y = f32[20,30] select(p, r, x)"));
  EXPECT_TRUE(first_output_over_input(reversed + "ROOT y = f32[20,30] select(p, x, r)"));  // which stays as it is
  EXPECT_FALSE(first_output_over_input(reversed + "other = f32[20,30] negate(x)\n"
                                                  "ROOT y = f32[20,30] select(p, other, r)"));
}

TEST(MayLieOver, ColumnsAreApart) {
  // columns move by one: read at lower addresses than they are written
  const std::string text = R"(x = f32[20,30] parameter(0)
    z = f32[] constant(0)
    a = f32[20,29] slice(x), slice={[0:20], [1:30]}
    ROOT y = f32[20,30] pad(a, z), padding=0_0x0_1)";
  EXPECT_FALSE(first_output_over_input(text));
  // a column that stays, beside one that is new
  const std::string kept = R"(x = f32[20,30] parameter(0)
    z = f32[] constant(0)
    a = f32[20,29] slice(x), slice={[0:20], [0:29]}
    ROOT y = f32[20,30] pad(a, z), padding=0_0x0_1)";
  EXPECT_TRUE(first_output_over_input(kept));
}

TEST(MayLieOver, HalosAreFilledFromWhatStays) {
  const std::string field = R"(x = f32[20,30] parameter(0)
    middle = f32[20,26] slice(x), slice={[0:20], [2:28]}
    )";
  EXPECT_TRUE(first_output_over_input(field + R"(west = f32[20,2] slice(x), slice={[0:20], [26:28]}
    east = f32[20,2] slice(x), slice={[0:20], [2:4]}
    ROOT y = f32[20,30] concatenate(west, middle, east), dimensions={1})"));
  // what is read for the last columns was written with the first ones
  EXPECT_FALSE(first_output_over_input(field + R"(west = f32[20,2] slice(x), slice={[0:20], [26:28]}
    east = f32[20,2] slice(x), slice={[0:20], [0:2]}
    ROOT y = f32[20,30] concatenate(west, middle, east), dimensions={1})"));
}

TEST(MayLieOver, CornersAreReadWhereTheyAreWritten) {
  // A field with edges, that of another field added: its corners are single elements.
  const std::string edges = R"(x = f32[20,30] parameter(0)
    v = f32[20,30] parameter(1)
    z = f32[] constant(0)
    wide = f32[22,32] pad(v, z), padding=1_1x1_1
    north = f32[20,30] slice(wide), slice={[0:20], [1:31]}
    west = f32[20,30] slice(wide), slice={[1:21], [0:30]}
    both = f32[20,30] add(north, west)
    )";
  const int32_t v = 0, x = 1;  // in the order in which they are first read
  EXPECT_TRUE(first_output_over_input(edges + "ROOT y = f32[20,30] add(both, x)", x));
  EXPECT_FALSE(first_output_over_input(edges + "ROOT y = f32[20,30] add(both, x)", v));
  // The last corner reads what the first piece writes.
  const std::string corner = R"(x = f32[1,1024] parameter(0)
    a = f32[1,1] slice(x), slice={[0:1], [0:1]}
    b = f32[1,1023] slice(x), slice={[0:1], [0:1023]}
    n = f32[1,1023] negate(b)
    )";
  EXPECT_FALSE(first_output_over_input(corner + "ROOT y = f32[1,1024] concatenate(n, a), dimensions={1}"));
}

TEST(MayLieOver, WhatStaysIsNotWritten) {
  // both sides of a halo come from inside, which stays where it is
  const OneRegion one = one_region(R"(x = f32[20,32] parameter(0)
    inside = f32[20,28] slice(x), slice={[0:20], [2:30]}
    west = f32[20,2] slice(x), slice={[0:20], [28:30]}
    east = f32[20,2] slice(x), slice={[0:20], [2:4]}
    ROOT y = f32[20,32] concatenate(west, inside, east), dimensions={1})");
  const Nest nest = lower(one.region);
  EXPECT_TRUE(may_lie_over(nest, 1, 0));
  EXPECT_EQ(idle_pieces(nest, 1, 0), std::vector<int32_t>{1});
  EXPECT_TRUE(idle_pieces(nest, 0, 1).empty());
}

TEST(MayLieOver, PlacesThatComeAgain) {
  // Places that come from data may name an element twice: the second time it is read when it is changed.
  const OneRegion one = one_region(R"(HloModule m
    add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }
    ENTRY main { x = f32[3] parameter(0)
      i = s32[8,1] parameter(1)
      w = f32[3] parameter(2)
      u = f32[8] gather(w, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
      ROOT y = f32[3] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add })");
  const auto read =
      std::ranges::find_if(one.region.inputs, [](const LeafRef& l) { return l.instruction->name == "w"; });
  ASSERT_NE(read, one.region.inputs.end());
  const auto inputs = static_cast<int32_t>(one.region.inputs.size());
  EXPECT_FALSE(may_lie_over(lower(one.region), inputs, static_cast<int32_t>(read - one.region.inputs.begin())));
}

TEST(MayLieOver, SumsOfAllBefore) {
  const auto sums = [](const std::string& of, const std::string& window) {
    return "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
           "ENTRY main { x = f32[300] parameter(0)\n z = f32[] constant(0)\n" +
           of + "ROOT y = f32[300] reduce-window(v, z), window={" + window + "}, to_apply=add }";
  };
  const std::string itself = "v = f32[300] negate(x)\n", reversed = "v = f32[300] reverse(x), dimensions={0}\n";
  EXPECT_TRUE(first_output_over_input(sums(itself, "size=300 pad=299_0")));
  EXPECT_TRUE(first_output_over_input(sums(itself, "size=300 pad=0_299")));
  // the last element is read first, when the first is written
  EXPECT_FALSE(first_output_over_input(sums(reversed, "size=300 pad=299_0")));
}

}  // namespace
}  // namespace lowtide::engine
