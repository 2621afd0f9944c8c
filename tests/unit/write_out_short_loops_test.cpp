#include "nest/write_out_short_loops.h"

#include "region_test_support.h"

namespace lowtide::engine {
namespace {

/// The nest of a computation, written out; it must still be legal, and the same the second time.
std::string written_out(const std::string& body) {
  const OneRegion one = one_region(body);
  const Nest nest = write_out_short_loops(lower(one.region));
  EXPECT_EQ(check_nest(nest), "");
  EXPECT_EQ(to_text(write_out_short_loops(nest)), to_text(nest));
  return to_text(nest);
}

TEST(WriteOutShortLoops, StoresOfARowStandBesideEachOther) {
  EXPECT_EQ(written_out(R"(
  x = f32[2,50] parameter(0)
  ROOT y = f32[50,2] transpose(x), dimensions={1,0})"),
            R"(buffer b0 f32[100] read
buffer b1 f32[100] written
parallel i0 < 50
  %0 = f32 b0[i0]
  %1 = f32 b0[i0 + 50]
  b1[2 * i0] = %0
  b1[2 * i0 + 1] = %1
)");
  EXPECT_EQ(written_out(R"(
  x = f32[50] parameter(0)
  ROOT y = f32[50,3] broadcast(x), dimensions={0})"),
            R"(buffer b0 f32[50] read
buffer b1 f32[150] written
parallel i0 < 50
  %0 = f32 b0[i0]
  b1[3 * i0] = %0
  b1[3 * i0 + 1] = %0
  b1[3 * i0 + 2] = %0
)");
}

TEST(WriteOutShortLoops, SumsShareCostlyTerms) {
  EXPECT_EQ(written_out(R"(
  x = f32[50,32] parameter(0)
  t = f32[50,32] tanh(x)
  w = f32[32,2] parameter(1)
  ROOT y = f32[50,2] dot(t, w), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
            R"(buffer b0 f32[1600] read
buffer b1 f32[64] read
buffer b2 f32[100] written
parallel i0 < 50
  reduce i1 < 32 carrying f32 c1.0 = f32:0x0, f32 c1.1 = f32:0x0 neutral f32:0x80000000, f32:0x80000000
    combine
      %0 = f32 add(a0, a2)
      %1 = f32 add(a1, a3)
      give %0, %1
    %0 = f32 b0[32 * i0 + i1]
    %1 = f32 tanh(%0)
    %2 = f32 b1[2 * i1]
    %3 = f32 b1[2 * i1 + 1]
    %4 = f32 multiply(%1, %2)
    %5 = f32 multiply(%1, %3)
    %6 = f32 add(c1.0, %4)
    %7 = f32 add(c1.1, %5)
    next %6, %7
  b2[2 * i0] = r1.0
  b2[2 * i0 + 1] = r1.1
)");
}

TEST(WriteOutShortLoops, OthersStay) {
  // long rows, few rows, parts of rows, sums, and indices that are values
  for (const char* body : {"x = f32[50] parameter(0)\n ROOT y = f32[50,5] broadcast(x), dimensions={0}",
                           "x = f32[9] parameter(0)\n ROOT y = f32[9,3] broadcast(x), dimensions={0}",
                           "x = f32[3,50] parameter(0)\n y = f32[50,3] transpose(x), dimensions={1,0}\n"
                           " w = f32[50,2] parameter(1)\n ROOT z = f32[50,5] concatenate(y, w), dimensions={1}",
                           // sums of cheap terms, and of terms that differ
                           "x = f32[50,32] parameter(0)\n w = f32[32,2] parameter(1)\n ROOT y = f32[50,2] dot(x, w), "
                           "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                           "x = f32[50,32] parameter(0)\n w = f32[32,2] parameter(1)\n t = f32[32,2] tanh(w)\n"
                           " ROOT y = f32[50,2] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                           "x = f32[50] parameter(0)\n i = f32[50,3] iota(), iota_dimension=1\n"
                           " b = f32[50,3] broadcast(x), dimensions={0}\n ROOT y = f32[50,3] add(b, i)"}) {
    const OneRegion one = one_region(body);
    const Nest nest = lower(one.region);
    EXPECT_EQ(to_text(write_out_short_loops(nest)), to_text(nest)) << body;
  }
}

}  // namespace
}  // namespace lowtide::engine
