#include "passes/resize/resize.h"
#include "read_module.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "interp/interpreter.h"
#include "ops/verify.h"
#include "passes/stream/stream_alike.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

TEST(Atoms, SplitEachOther) {
  Atoms atoms;
  const Product merged = atoms.make(96), a = atoms.make(8), b = atoms.make(12), c = atoms.make(4), d = atoms.make(24);
  Product ab = a, cd = c;
  ab.push_back(b[0]);
  cd.push_back(d[0]);
  atoms.unite(merged, ab, {});
  atoms.unite(merged, cd, {});
  const Product whole = atoms.whole(merged);
  std::vector<int64_t> extents;
  for (const int32_t atom : whole) extents.push_back(atoms.extent(atom));
  EXPECT_EQ(extents, (std::vector<int64_t>{4, 2, 12}));
  EXPECT_EQ(atoms.whole(ab), whole);
  EXPECT_EQ(atoms.whole(cd), whole);
}

TEST(Atoms, KeepWhatDoesNotDivide) {
  Atoms atoms;
  const Product a = atoms.make(6), b = atoms.make(4), c = atoms.make(4), d = atoms.make(6);
  atoms.unite({a[0], b[0]}, {c[0], d[0]}, {});
  for (const Product& p : {a, b, c, d}) EXPECT_TRUE(atoms.is_frozen(atoms.whole(p)[0]));
}

constexpr const char* kPairs = R"(HloModule pairs
ENTRY main {
  x = f32[1024,64] parameter(0)
  y = f32[1024,64] parameter(1)
  s = f32[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  e = f32[1024,1024] exponential(s)
  ROOT z = f32[1024,64] dot(e, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

TEST(Resize, ChangesOneClassAlone) {
  const auto module = read(kPairs);
  const ModuleExtents extents(*module);
  const Instruction& x = *module->entry->parameters()[0];
  const Product rows = extents.atoms().whole(extents.dimension(x, 0, 0));
  ASSERT_EQ(rows.size(), 1u);
  for (const int64_t wanted : {512, 4096}) {
    const auto resized = resize(*module, extents, [&](int32_t a, int64_t n) { return a == rows[0] ? wanted : n; });
    ASSERT_TRUE(resized.ok());
    EXPECT_EQ(resized->module->entry->parameters()[0]->shape.dims, (Dims{wanted, 64}));
    EXPECT_EQ(resized->module->entry->parameters()[1]->shape.dims, (Dims{1024, 64}));
    EXPECT_EQ(resized->module->entry->root->shape.dims, (Dims{wanted, 64}));
  }
}

TEST(Resize, KeepsDonationAndLayouts) {
  const auto module = read(
      R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, entry_computation_layout={(f32[256,64]{1,0})->f32[256,64]{1,0}}
ENTRY main {
  x = f32[256,64]{1,0} parameter(0)
  ROOT y = f32[256,64]{1,0} negate(x)
}
)");
  const ModuleExtents extents(*module);
  const auto resized = resize(*module, extents, small_extents(extents, 8));
  ASSERT_TRUE(resized.ok());
  const auto again = parse_hlo(std::make_shared<const Source>(Source{"again.hlo", print_hlo(*resized->module)}));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(verify(**again).ok());
  EXPECT_EQ((*again)->input_output_alias.size(), 1u);
}

TEST(Resize, SaysWhatStays) {
  const auto module = read(R"(HloModule m
ENTRY main {
  x = f32[4096,64] parameter(0)
  ROOT y = f32[4096,64] custom-call(x), custom_call_target="unknown"
}
)");
  const ModuleExtents extents(*module);
  const auto resized = resize(*module, extents, small_extents(extents, 8));
  ASSERT_TRUE(resized.ok());
  EXPECT_FALSE(resized->changed());
  EXPECT_NE(resized->classes[0].reason.find("%y"), std::string::npos) << resized->classes[0].reason;
}

// 127 - k means the end of both arrays, whatever else is related.
constexpr const char* kSharedIndex = R"(HloModule shared_index
ENTRY main {
  x = f32[128,4] parameter(0)
  y = f32[128,4] parameter(1)
  k = s32[] parameter(2)
  zero = s32[] constant(0)
  last = s32[] constant(127)
  at = s32[] subtract(last, k)
  a = f32[1,4] dynamic-slice(x, at, zero), dynamic_slice_sizes={1,4}
  b = f32[1,4] dynamic-slice(y, at, zero), dynamic_slice_sizes={1,4}
  ROOT t = (f32[1,4], f32[1,4]) tuple(a, b)
}
)";

TEST(Resize, KeepsEqualWhatOneNumberMeans) {
  const auto module = read(kSharedIndex);
  const ModuleExtents extents(*module);
  const auto rows_of = [&](const Module& of, size_t k) { return of.entry->parameters()[k]->shape.dims[0]; };
  int64_t wish = 512;  // another for each array
  const auto resized = resize(*module, extents, [&](int32_t, int64_t n) { return n == 128 ? wish *= 2 : n; });
  ASSERT_TRUE(resized.ok());
  const int64_t rows = rows_of(*resized->module, 0);
  EXPECT_GT(rows, 128);
  EXPECT_EQ(rows_of(*resized->module, 1), rows);
  EXPECT_NE(print_hlo(*resized->module).find(fmt::format("constant({})", rows - 1)), std::string::npos);
}

// Wishes for a slice that is larger than what it is taken from: the array grows until the slice fits.
TEST(Resize, GrowsWholesThatAreTooSmallForTheirParts) {
  const auto module = read(R"(HloModule m
ENTRY main {
  x = f32[64,4] parameter(0)
  at = s32[] parameter(1)
  zero = s32[] constant(0)
  ROOT y = f32[40,4] dynamic-slice(x, at, zero), dynamic_slice_sizes={40,4}
}
)");
  const ModuleExtents extents(*module);
  const auto resized = resize(*module, extents, [](int32_t, int64_t n) { return n == 64 ? 24 : n == 40 ? 32 : n; });
  ASSERT_TRUE(resized.ok());
  EXPECT_TRUE(verify(*resized->module).ok());
  EXPECT_EQ(resized->module->entry->parameters()[0]->shape.dims, (Dims{48, 4}));
  EXPECT_EQ(resized->module->entry->root->shape.dims, (Dims{32, 4}));
}

TEST(StreamAlike, TakesTheSameValuesWithIt) {
  // Of the program itself m is too small to join; of the small instantiation it wouldn't be.
  const auto module = read(kPairs);
  const ModuleExtents extents(*module);
  const auto resized = resize(*module, extents, small_extents(extents, 8));
  ASSERT_TRUE(resized.ok());
  const auto large = module->clone();
  const auto small = resized->module->clone();
  const StreamDecision decision{"main", "s", 0, 384};
  const auto streamed = stream(*large, cpu_target(), decision);
  const auto alike = stream_alike(*small, *module, cpu_target(), decision, 5);
  ASSERT_TRUE(streamed.ok() && alike.ok()) << alike.status().message();
  EXPECT_EQ(streamed->count, alike->count);
  const auto names = [](const Module& m) {
    std::vector<std::string> all;
    for (const auto& c : m.computations()) {
      for (const auto& i : c->instructions()) all.push_back(c->name + "/" + i->name);
    }
    std::ranges::sort(all);
    return all;
  };
  EXPECT_EQ(names(*large), names(*small));
  EXPECT_TRUE(verify(*small).ok());
}

}  // namespace
}  // namespace lowtide::engine
