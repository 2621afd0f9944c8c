#include <fmt/format.h>

#include "region_test_support.h"

namespace lowtide::engine {
namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Lower, SharesLoopsAndMergesThem) {
  const std::string text = expect_region_matches(R"(
  x = f32[6,50] parameter(0)
  y = f32[6,50] multiply(x, x)
  z = f32[6,50] negate(y)
  ROOT t = (f32[6,50], f32[6,50]) tuple(y, z))");
  EXPECT_EQ(text, R"(buffer b0 f32[300] read
buffer b1 f32[300] written
buffer b2 f32[300] written
parallel i0 < 300
  %0 = f32 b0[i0]
  %1 = f32 multiply(%0, %0)
  %2 = f32 negate(%1)
  b1[i0] = %1
  b2[i0] = %2
)");
}

/// Sequential loops are merged like parallel ones, in the same order; the control reads only one of the two indices.
TEST(Lower, MergesLoopsOverUpdates) {
  const auto of_updates = [](const std::string& updates) {
    return expect_region_matches(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8] parameter(0)
  i = s32[5,3,1] parameter(1)
  )" + updates + R"(
  ROOT y = f32[8] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=add
})");
  };
  const std::string merged = of_updates("u = f32[5,3] parameter(2)");
  EXPECT_EQ(count(merged, "sequential"), 1) << merged;
  EXPECT_EQ(count(merged, "< 15"), 1) << merged;
  const std::string apart = of_updates("v = f32[5] parameter(2)\n  u = f32[5,3] broadcast(v), dimensions={0}");
  EXPECT_EQ(count(apart, "sequential"), 2) << apart;
}

/// A loop in which each element of x evolves by itself, while i < `limit`; n is carried along unchanged.
std::string text_of_loop(const std::string& limit, const std::string& n) {
  return expect_region_matches("HloModule m\ncondition {\n  t = (s32[], s32[], f32[300]) parameter(0)\n  n = s32[] " +
                               limit + R"(
  i = s32[] get-tuple-element(t), index=0
  ROOT more = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], s32[], f32[300]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  v = f32[300] get-tuple-element(t), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = f32[300] multiply(v, v)
  ROOT r = (s32[], s32[], f32[300]) tuple(next, n, w)
}
ENTRY main {
  x = f32[300] parameter(0)
  zero = s32[] constant(0)
  n = s32[] )" + n + R"(
  t = (s32[], s32[], f32[300]) tuple(zero, n, x)
  loop = (s32[], s32[], f32[300]) while(t), condition=condition, body=body
  ROOT y = f32[300] get-tuple-element(loop), index=2
})");
}

TEST(Lower, CountsTripsOfLoopsOverElements) {
  const std::string counted = text_of_loop("constant(3)", "constant(7)");
  EXPECT_EQ(count(counted, "sequential i1 < 3"), 1) << counted;
  EXPECT_EQ(text_of_loop("get-tuple-element(t), index=1", "constant(3)"), counted);
}

TEST(Lower, WritesTestsBeforeBodies) {
  EXPECT_EQ(text_of_loop("get-tuple-element(t), index=1", "parameter(1)"), R"(buffer b0 s32[1] read
buffer b1 f32[300] read
buffer b2 f32[300] written
%0 = s32 b0[0]
parallel i0 < 300
  %1 = f32 b1[i0]
  while 1 carrying f32 c1.0 = %1, s32 c1.1 = s32:0x0
    %2 = pred compare.lt(c1.1, %0)
    %3 = f32 multiply(c1.0, c1.0)
    %4 = s32 add(c1.1, s32:0x1)
    while %2
    next %3, %4
  b2[i0] = r1.0
)");
}

TEST(Lower, MakesIndexMaps) {
  const char* const kMaps[] = {
      "ROOT y = f32[4,3] transpose(x), dimensions={1,0}",
      "ROOT y = f32[12] reshape(x)",
      "ROOT y = f32[2,6] reshape(x)",
      "ROOT y = f32[3,2,4] broadcast(x), dimensions={0,2}",
      "ROOT y = f32[2,2] slice(x), slice={[1:3], [0:4:3]}",
      "ROOT y = f32[3,4] reverse(x), dimensions={1}",
      "ROOT y = f32[4,9] pad(x, p), padding=-1_2x1_1_1",
      "ROOT y = f32[3,4] pad(x, p), padding=2_-2x-3_3",
      "ROOT y = f32[7,4] concatenate(x, w, x), dimensions={0}",
      "ROOT y = f32[3,4]{0,1} bitcast(x)",
      "ROOT y = u32[3,4] bitcast-convert(x)",
      "ROOT y = u16[3,4,2] bitcast-convert(x)",
      "u = u16[3,4] convert(n) \n  ROOT y = u32[3] bitcast-convert(s) \n",
      "ROOT y = c64[3,4] complex(x, x)",
      "c = c64[3,4] complex(x, x)\n  ROOT y = f32[3,4] imag(c)",
      "c = c64[3,4] complex(x, x)\n  ROOT y = u16[3,4,4] bitcast-convert(c)",
      "i = s32[3,4] iota(), iota_dimension=1\n  ROOT y = s32[3,4] multiply(i, i)",
      "ROOT y = bf16[3,4] convert(x)",
      "a = f32[] constant(0.3)\n  b = f32[] constant(0.6)\n  ROOT y = f32[3,4] clamp(a, x, b)",
      "ROOT y = pred[3,4] compare(x, x), direction=LE",
      "ROOT y = f32[3,4] reduce-precision(x), exponent_bits=5, mantissa_bits=3",
      "c = f32[4] constant({1,2,3,4})\n  b = f32[3,4] broadcast(c), dimensions={1}\n  ROOT y = f32[3,4] add(x, b)",
      "c = f32[4] constant({2,2,2,2})\n  b = f32[3,4] broadcast(c), dimensions={1}\n  ROOT y = f32[3,4] add(x, b)",
      "ROOT y = f32[0,4] slice(x), slice={[1:1], [0:4]}",
      "ROOT y = f32[] slice(p), slice={}",
      "ROOT y = f32[3,4] copy(x)",
      "ROOT y = u32[] partition-id()",
      "ROOT y = f32[2,2] dynamic-slice(x, s0, s1), dynamic_slice_sizes={2,2}",
  };
  for (std::string map : kMaps) {
    if (map.starts_with("u = ")) {
      map =
          "u = u16[3,4] convert(n)\n  s = u16[3,2] slice(u), slice={[0:3], [1:3]}\n  ROOT y = u32[3] "
          "bitcast-convert(s)";
    }
    SCOPED_TRACE(map);
    expect_region_matches(R"(
  x = f32[3,4] parameter(0)
  w = f32[1,4] parameter(1)
  p = f32[] parameter(2)
  n = s32[3,4] parameter(3)
  s0 = s32[] parameter(4)
  s1 = s32[] parameter(5)
  )" + map);
  }
}

TEST(Lower, MakesPartsOfRowsTogether) {
  const auto loops = [](const std::string& body) {
    const std::string text = expect_region_matches(body);
    return std::pair(count(text, "\nparallel"), count(text, "\n  parallel"));
  };
  const std::string field = R"(
  x = f32[30,40] parameter(0)
  z = f32[] constant(0)
  wide = f32[32,42] pad(x, z), padding=1_1x1_1
  north = f32[30,40] slice(wide), slice={[0:30], [1:41]}
  west = f32[30,40] slice(wide), slice={[1:31], [0:40]}
  east = f32[30,40] slice(wide), slice={[1:31], [2:42]}
  )";
  // The first row's corners, its middle, which is one loop, and the others, whose three parts are made row by row.
  EXPECT_EQ(loops(field + "a = f32[30,40] add(north, west)\n  ROOT y = f32[30,40] add(a, east)"), std::pair(3, 1));
  // Rows that lie far apart stay so: both ends of a sum with itself, rolled.
  EXPECT_EQ(loops(R"(
  x = f32[90,5] parameter(0)
  a = f32[20,5] slice(x), slice={[70:90], [0:5]}
  b = f32[70,5] slice(x), slice={[0:70], [0:5]}
  up = f32[90,5] concatenate(a, b), dimensions={0}
  c = f32[70,5] slice(x), slice={[20:90], [0:5]}
  d = f32[20,5] slice(x), slice={[0:20], [0:5]}
  down = f32[90,5] concatenate(c, d), dimensions={0}
  ROOT y = f32[90,5] add(up, down))"),
            std::pair(3, 0));
  // What is only moved is moved box by box.
  EXPECT_EQ(loops(R"(
  x = f32[30,40] parameter(0)
  a = f32[30,10] slice(x), slice={[0:30], [30:40]}
  b = f32[30,30] slice(x), slice={[0:30], [0:30]}
  ROOT y = f32[30,40] concatenate(a, b), dimensions={1})"),
            std::pair(2, 2));
}

TEST(Lower, CutsWhereRangesAreAskedFor) {
  const std::string padded = expect_region_matches(R"(
  x = f32[30,40] parameter(0)
  z = f32[] constant(0)
  ROOT y = f32[32,42] pad(x, z), padding=1_1x1_1)");
  EXPECT_EQ(count(padded, "select"), 0) << padded;
  EXPECT_EQ(count(padded, "clamp"), 0) << padded;
  EXPECT_EQ(count(padded, "= f32 b0["), 1) << padded;

  const std::string rolled = expect_region_matches(R"(
  x = f32[1000] parameter(0)
  a = f32[10] slice(x), slice={[990:1000]}
  b = f32[990] slice(x), slice={[0:990]}
  c = f32[1000] concatenate(a, b), dimensions={0}
  ROOT y = f32[1000] add(c, x))");
  EXPECT_EQ(count(rolled, "parallel"), 2) << rolled;
  EXPECT_EQ(count(rolled, "select"), 0) << rolled;

  const std::string masked = expect_region_matches(R"(
  x = f32[40,40] parameter(0)
  i = s32[40,40] iota(), iota_dimension=0
  limit = s32[] constant(7)
  limits = s32[40,40] broadcast(limit), dimensions={}
  early = pred[40,40] compare(i, limits), direction=LT
  z = f32[] constant(0)
  zs = f32[40,40] broadcast(z), dimensions={}
  ROOT y = f32[40,40] select(early, x, zs))");
  EXPECT_EQ(count(masked, "select"), 0) << masked;
  EXPECT_EQ(count(masked, "parallel"), 2) << masked;
}

/// Conditions on the position of an element in several dimensions.
TEST(Lower, CutsAtPositionsInRows) {
  const auto halves = [](int first, const std::string& rest) {
    return fmt::format(R"(
  a = f32[{}] parameter(0)
  b = f32[{}] parameter(1)
  x = f32[40,60] parameter(2)
  c = f32[2400] concatenate(a, b), dimensions={{0}}
  m = f32[40,60] reshape(c)
  {})",
                       first, 2400 - first, rest);
  };
  // The end of a row, in the middle of all, and the middle of one: all elements are walked in one loop.
  for (const auto& [first, loops] : {std::pair(1200, 1), std::pair(930, 2)}) {
    const std::string text = expect_region_matches(halves(first, "ROOT y = f32[40,60] add(m, x)"));
    EXPECT_EQ(count(text, "select"), 0) << text;
    EXPECT_EQ(count(text, "parallel"), loops) << text;
  }
  // Columns are told apart: the row that the cut goes through is cut again.
  const std::string own = "v = f32[60] parameter(3)\n  w = f32[40,60] broadcast(v), dimensions={1}\n";
  const std::string cut = expect_region_matches(halves(930, own + "  ROOT y = f32[40,60] add(m, w)"));
  EXPECT_EQ(count(cut, "select"), 0) << cut;
  EXPECT_EQ(count(cut, "f32 b0["), 2) << cut;
  // A triangle has no such cuts.
  const std::string triangle = expect_region_matches(R"(
  x = f32[60,60] parameter(0)
  i = s32[60,60] iota(), iota_dimension=0
  j = s32[60,60] iota(), iota_dimension=1
  early = pred[60,60] compare(i, j), direction=LT
  z = f32[] constant(0)
  zs = f32[60,60] broadcast(z), dimensions={}
  ROOT y = f32[60,60] select(early, x, zs))");
  EXPECT_EQ(count(triangle, "parallel"), 2) << triangle;
  EXPECT_EQ(count(triangle, "select"), 1) << triangle;
}

/// The two words of one hash, in an array of rows: computed together, whatever is done with each.
TEST(Lower, ComputesTheHashOfTwoWordsOnce) {
  const auto words = [](const char* consumer) {
    std::string text =
        "\n  i = u32[1000] iota(), iota_dimension=0\n  half = u32[] constant(500)\n"
        "  halves = u32[1000] broadcast(half), dimensions={}\n"
        "  low = pred[1000] compare(i, halves), direction=LT\n"
        "  back = u32[1000] subtract(i, halves)\n  h0 = u32[1000] select(low, i, back)\n";
    for (int k = 0; k < 16; ++k)
      text += fmt::format("  m{0} = u32[1000] multiply(h{0}, h{0})\n  h{1} = u32[1000] xor(m{0}, h{0})\n", k, k + 1);
    return text + "  word = u32[1000] select(low, m15, h16)\n  rows = u32[20,50] reshape(word)\n" + consumer;
  };
  const std::string together = expect_region_matches(words("  ROOT y = f32[20,50] convert(rows)"));
  EXPECT_EQ(count(together, "parallel i0 < 500"), 1) << together;
  EXPECT_EQ(count(together, "multiply"), 16) << together;
  EXPECT_EQ(count(together, "f32 convert"), 2) << together;
  // What is done with each word is most of the work.
  std::string much = "  y0 = f32[20,50] convert(rows)\n";
  for (int k = 0; k < 99; ++k) much += fmt::format("  y{} = f32[20,50] cosine(y{})\n", k + 1, k);
  const std::string apart = expect_region_matches(words((much + "  ROOT y = f32[20,50] sine(y99)").c_str()));
  EXPECT_EQ(count(apart, "parallel"), 2) << apart;
}

TEST(Lower, WalksNarrowRowsOnce) {
  const std::string columns = expect_region_matches(R"(
  x = f32[2000,3] parameter(0)
  ROOT y = f32[3,2000] transpose(x), dimensions={1,0})");
  EXPECT_EQ(columns, R"(buffer b0 f32[6000] read
buffer b1 f32[6000] written
parallel i0 < 2000
  parallel i1 < 3
    %0 = f32 b0[3 * i0 + i1]
    b1[i0 + 2000 * i1] = %0
)");
  // rows that aren't narrow, loops of which neither is long, and what is computed: as they were
  for (const char* program : {"x = f32[2000,20] parameter(0)\n ROOT y = f32[20,2000] transpose(x), dimensions={1,0}",
                              "x = f32[900,3] parameter(0)\n ROOT y = f32[3,900] transpose(x), dimensions={1,0}",
                              "x = f32[2000,3] parameter(0)\n t = f32[3,2000] transpose(x), dimensions={1,0}\n"
                              " ROOT y = f32[3,2000] exponential(t)"}) {
    const std::string text = expect_region_matches(program);
    EXPECT_EQ(text.find("parallel i0 < 2000"), std::string::npos) << text;
  }
}

TEST(Lower, MakesReductionsOutsideOfWhatReadsThem) {
  const std::string text = expect_region_matches(R"(HloModule m
add { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b) }
ENTRY main {
  x = s32[6,50] parameter(0)
  z = s32[] constant(0)
  s = s32[6] reduce(x, z), dimensions={1}, to_apply=add
  b = s32[6,50] broadcast(s), dimensions={0}
  ROOT y = s32[6,50] divide(x, b)
})");
  EXPECT_LT(text.find("reduce"), text.find("  parallel i2")) << text;
  EXPECT_EQ(count(text, "reduce"), 1) << text;
}

TEST(Lower, RunsWholeComputations) {
  // softmax with a mask, two outputs of different extents, in several types
  for (const char* type : {"f32", "bf16", "f16", "f64"}) {
    std::string text = R"(HloModule m
add { a = T[] parameter(0)
  b = T[] parameter(1)
  ROOT c = T[] add(a, b) }
max { a = T[] parameter(0)
  b = T[] parameter(1)
  ROOT c = T[] maximum(a, b) }
ENTRY main {
  x = T[5,17] parameter(0)
  i = s32[5,17] iota(), iota_dimension=0
  j = s32[5,17] iota(), iota_dimension=1
  causal = pred[5,17] compare(j, i), direction=LE
  low = T[] constant(-inf)
  lows = T[5,17] broadcast(low), dimensions={}
  masked = T[5,17] select(causal, x, lows)
  m = T[5] reduce(masked, low), dimensions={1}, to_apply=max
  mb = T[5,17] broadcast(m), dimensions={0}
  d = T[5,17] subtract(masked, mb)
  e = T[5,17] exponential(d)
  z = T[] constant(0)
  s = T[5] reduce(e, z), dimensions={1}, to_apply=add
  sb = T[5,17] broadcast(s), dimensions={0}
  p = T[5,17] divide(e, sb)
  ROOT t = (T[5,17], T[5]) tuple(p, s)
})";
    for (size_t at = text.find("T["); at != std::string::npos; at = text.find("T[")) text.replace(at, 1, type);
    expect_region_matches(text);
  }
}

TEST(Lower, UpdatesOfEqualBoxesShareLoops) {
  const std::string body = R"(
  w = f32[64,24] parameter(0)
  v = f32[64,24] parameter(1)
  g = f32[%,24] parameter(2)
  i = s32[] parameter(3)
  z = s32[] constant(0)
  vs = f32[16,24] dynamic-slice(v, i, z), dynamic_slice_sizes={16,24}
  gs = f32[16,24] slice(g), slice={[0:16], [0:24]}
  vn = f32[16,24] add(vs, gs)
  v2 = f32[64,24] dynamic-update-slice(v, vn, i, z)
  w2 = f32[64,24] dynamic-update-slice(w, g, i, z)
  ROOT out = (f32[64,24], f32[64,24]) tuple(w2, v2))";
  const auto loops = [](const std::string& nest) {
    size_t count = 0;
    for (size_t at = nest.find("parallel"); at != std::string::npos; at = nest.find("parallel", at + 1)) ++count;
    return count;
  };
  const auto with_rows = [&](const std::string& rows) {
    std::string text = body;
    return expect_region_matches(text.replace(text.find('%'), 1, rows));
  };
  EXPECT_EQ(loops(with_rows("16")), 1u);  // over all elements of the box
  EXPECT_EQ(loops(with_rows("17")), 2u);
}

TEST(Lower, NoticesADifference) {
  // the control: a nest with another constant must not pass for this one
  const OneRegion one = one_region(
      "x = f32[4] parameter(0)\n  c = f32[] constant(2)\n  b = f32[4] broadcast(c), "
      "dimensions={}\n  ROOT y = f32[4] multiply(x, b)");
  Nest nest = lower(one.region);
  for (Node& node : nest.nodes) {
    if (node.kind == NodeKind::kConstant) node.bits[0] ^= 1;
  }
  const std::vector<Value> arguments = seeded_arguments(*one.module, 1);
  const auto expected = interpret(*one.module, arguments);
  const std::vector<Value> results = execute_region(one, nest, arguments);
  EXPECT_NE(results[0]->data<float>()[0], (*expected)[0]->data<float>()[0]);
}

}  // namespace
}  // namespace lowtide::engine
