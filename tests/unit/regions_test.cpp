#include <gtest/gtest.h>

#include "ops/verify.h"
#include "region/cost.h"
#include "region/footprint.h"
#include "region/text.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

std::unique_ptr<Module> read(const std::string& text) {
  auto module = parse_hlo(std::make_shared<const Source>(Source{"test", text}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  const Status fault = verify(**module);
  EXPECT_TRUE(fault.ok()) << fault.message();
  return module.take();
}

const Instruction& find(const Module& module, const std::string& name) {
  for (const auto& i : module.entry->instructions()) {
    if (i->name == name) return *i;
  }
  ADD_FAILURE() << name;
  return *module.entry->root;
}

std::vector<Region> regions_of(const ModuleWork& work) {
  std::vector<Region> regions;
  for (const Work& item : work.of.at(work.module->entry)) {
    if (item.kind == WorkKind::kRegion) regions.push_back(item.region);
  }
  return regions;
}

constexpr const char* kChain = R"(HloModule chain
ENTRY main {
  x = f32[1024] parameter(0)
  e = f32[1024] exponential(x)
  t = f32[1024] tanh(e)
  ROOT y = f32[1024] negate(t)
})";

TEST(FormWork, StoresWhatIsAsked) {
  const auto module = read(kChain);
  EXPECT_EQ(to_text(form_work(*module, cpu_target())), "main\n  region y <- x : e t y\n");
  FormOptions options;
  options.store.assign(static_cast<size_t>(module->id_limit()), false);
  options.store[find(*module, "e").id] = true;
  EXPECT_EQ(to_text(form_work(*module, cpu_target(), options)), "main\n  region e <- x : e\n  region y <- e : t y\n");
}

TEST(FormWork, KeepsVirtualWhatIsAsked) {
  const auto module = read(R"(HloModule m
ENTRY main {
  x = f32[512] parameter(0)
  costly = f32[512] power(x, x)
  rows = f32[512,512] broadcast(costly), dimensions={1}
  ROOT y = f32[512,512] negate(rows)
})");
  EXPECT_EQ(regions_of(form_work(*module, cpu_target())).size(), 2u);
  FormOptions options;
  options.keep_virtual.assign(static_cast<size_t>(module->id_limit()), false);
  options.keep_virtual[find(*module, "costly").id] = true;
  EXPECT_EQ(regions_of(form_work(*module, cpu_target(), options)).size(), 1u);
}

TEST(FormWork, GivesEqualBodiesEqualOrder) {
  // Two copies of one computation, their instructions interleaved in different orders.
  const auto module = read(R"(HloModule m
ENTRY main {
  x = f32[64,128] parameter(0)
  z = f32[32,128] parameter(1)
  a1 = f32[64,128] exponential(x)
  b1 = f32[64,128] tanh(x)
  b2 = f32[32,128] tanh(z)
  a2 = f32[32,128] exponential(z)
  c1 = f32[64,128] subtract(a1, b1)
  c2 = f32[32,128] subtract(a2, b2)
  ROOT out = (f32[64,128], f32[32,128]) tuple(c1, c2)
})");
  const std::vector<Region> regions = regions_of(form_work(*module, cpu_target()));
  ASSERT_EQ(regions.size(), 2u);
  ASSERT_EQ(regions[0].ops.size(), regions[1].ops.size());
  for (size_t k = 0; k < regions[0].ops.size(); ++k) {
    EXPECT_EQ(regions[0].ops[k]->opcode, regions[1].ops[k]->opcode);
  }
}

TEST(FormWork, BoundsTheOperationsOfAKernel) {
  std::string text = "HloModule m\nENTRY main {\n  v0 = f32[64] parameter(0)\n";
  for (int k = 1; k <= 2000; ++k) {
    text += "  v" + std::to_string(k) + " = f32[64] sine(v" + std::to_string(k - 1) + ")\n";
  }
  text += "  ROOT y = f32[64] negate(v2000)\n}\n";
  const auto module = read(text);
  for (const Region& region : regions_of(form_work(*module, cpu_target()))) EXPECT_LE(region.ops.size(), 1201u);
}

TEST(FormWork, DoesNotBlowUpOnDiamonds) {
  // Every level reads the one before at two shifts: virtual all the way down would be 2^30 evaluations.
  std::string text = "HloModule m\nENTRY main {\n  c = f32[] constant(0)\n  v0 = f32[4096] parameter(0)\n";
  for (int k = 1; k <= 30; ++k) {
    const std::string n = std::to_string(k), before = "v" + std::to_string(k - 1);
    text += "  l" + n + " = f32[4096] pad(" + before + ", c), padding=1_-1\n";
    text += "  r" + n + " = f32[4096] pad(" + before + ", c), padding=-1_1\n";
    text += "  v" + n + " = f32[4096] add(l" + n + ", r" + n + ")\n";
  }
  text += "  ROOT y = f32[4096] negate(v30)\n}\n";
  const auto module = read(text);
  double evaluations = 0;
  for (const Region& region : regions_of(form_work(*module, cpu_target())))
    evaluations += footprint(region, cpu_target().cost()).evaluations;
  EXPECT_LT(evaluations, 4096.0 * 30 * 3 * 8);
}

/// A slice of rows of two arrays, both changed by what both hold there: an optimiser's step in a tile.
std::string two_updates(const std::string& second_slice, const std::string& more = "",
                        const std::string& results = "w2, v2") {
  const bool three = results != "w2, v2";
  return R"(HloModule m
ENTRY main {
  w = f32[4096,64] parameter(0)
  v = f32[4096,64] parameter(1)
  g = f32[256,64] parameter(2)
  i = s32[] parameter(3)
  z = s32[] constant(0)
  e = s32[] constant(256)
  ahead = s32[] add(i, e)
  vs = f32[256,64] dynamic-slice(v, )" +
         second_slice + R"(, z), dynamic_slice_sizes={256,64}
  gg = f32[256,64] multiply(g, g)
  vn = f32[256,64] add(vs, gg)
  v2 = f32[4096,64] dynamic-update-slice(v, vn, i, z)
  ws = f32[256,64] dynamic-slice(w, i, z), dynamic_slice_sizes={256,64}
  d = f32[256,64] divide(g, vn)
  wn = f32[256,64] subtract(ws, d)
  w2 = f32[4096,64] dynamic-update-slice(w, wn, i, z)
)" + more +
         "  ROOT out = (f32[4096,64], f32[4096,64]" + (three ? ", f32[4096,64]" : "") + ") tuple(" + results + ")\n}";
}

TEST(FormWork, UpdatesEqualBoxesInOneKernel) {
  const auto module = read(two_updates("i"));
  const std::vector<Region> regions = regions_of(form_work(*module, cpu_target()));
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].outputs.size(), 2u);
  for (const LeafRef& updated : regions[0].updates) EXPECT_NE(updated.instruction, nullptr);
}

TEST(FormWork, UpdatesApartWhatIsReadElsewhere) {
  // The slice that both read isn't the one that is written: in one loop it could be overwritten before its last read.
  EXPECT_EQ(regions_of(form_work(*read(two_updates("ahead")), cpu_target())).size(), 2u);
  // What an array was before is read after the first update and before the second.
  const auto module = read(two_updates("i", "  between = f32[4096,64] add(v2, w)\n", "w2, v2, between"));
  EXPECT_EQ(regions_of(form_work(*module, cpu_target())).size(), 3u);
}

TEST(FormWork, SumsWhatDiesBeforeOtherSmallWork) {
  const auto kernels = [](const std::string& extent) {
    std::string text = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[N,N] parameter(0)
  scale = f32[] parameter(1)
  zero = f32[] constant(0)
  d = f32[N,N] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sum = f32[] reduce(d, zero), dimensions={0,1}, to_apply=add
  loss = f32[] negate(sum)
  e = f32[N,N] dot(d, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[] reduce(e, zero), dimensions={0,1}, to_apply=add
  next = f32[] multiply(scale, s)
  ROOT r = (f32[], f32[]) tuple(loss, next)
})";
    for (size_t at = text.find("N,N"); at != std::string::npos; at = text.find("N,N"))
      text.replace(at, 3, extent + "," + extent);
    const auto module = read(text);
    return regions_of(form_work(*module, cpu_target())).size();
  };
  EXPECT_EQ(kernels("1024"), 2u);
  EXPECT_EQ(kernels("64"), 1u) << "the control: little is held for it";
}

TEST(Footprint, CountsBytesAndEvaluations) {
  const auto module = read(kChain);
  const Footprint f = footprint(regions_of(form_work(*module, cpu_target())).at(0), cpu_target().cost());
  EXPECT_EQ(f.bytes_read, 4096);
  EXPECT_EQ(f.bytes_written, 4096);
  EXPECT_EQ(f.evaluations, 3 * 1024);
}

TEST(Footprint, ReadsOfASliceOnlyTheSlice) {
  const auto module = read(R"(HloModule m
ENTRY main {
  x = f32[1024] parameter(0)
  s = f32[256] slice(x), slice={[0:256]}
  ROOT y = f32[256] negate(s)
})");
  EXPECT_EQ(footprint(regions_of(form_work(*module, cpu_target())).at(0), cpu_target().cost()).bytes_read, 1024);
}

/// A loop that is one kernel is evaluated for each element that it writes, not for each of the largest value it
/// carries.
TEST(Footprint, ALoopIsEvaluatedForWhatItWrites) {
  const auto module = read(R"(HloModule m
body {
  p = (s32[], f32[16], f32[64,16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = f32[16] get-tuple-element(p), index=1
  xs = f32[64,16] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zero = s32[] constant(0)
  row = f32[1,16] dynamic-slice(xs, i, zero), dynamic_slice_sizes={1,16}
  x = f32[16] reshape(row)
  y = f32[16] multiply(a, x)
  ROOT r = (s32[], f32[16], f32[64,16]) tuple(next, y, xs)
}
test {
  p = (s32[], f32[16], f32[64,16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(64)
  ROOT less = pred[] compare(i, n), direction=LT
}
ENTRY main {
  a = f32[16] parameter(0)
  xs = f32[64,16] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[16], f32[64,16]) tuple(zero, a, xs)
  w = (s32[], f32[16], f32[64,16]) while(t), condition=test, body=body
  ROOT y = f32[16] get-tuple-element(w), index=1
})");
  const std::vector<Region> regions = regions_of(form_work(*module, cpu_target()));
  ASSERT_EQ(regions.size(), 1u) << "the loop is one kernel";
  EXPECT_LT(footprint(regions[0], cpu_target().cost()).evaluations, 64 * 16);
}

TEST(Cost, GrowsWithWorkAndBytes) {
  const auto module = read(kChain);
  const auto larger = read(R"(HloModule chain
ENTRY main {
  x = f32[1048576] parameter(0)
  e = f32[1048576] exponential(x)
  t = f32[1048576] tanh(e)
  ROOT y = f32[1048576] negate(t)
})");
  const Cost& cost = cpu_target().cost();
  EXPECT_LT(kernel_ns(regions_of(form_work(*module, cpu_target())).at(0), cost),
            kernel_ns(regions_of(form_work(*larger, cpu_target())).at(0), cost));
}

}  // namespace
}  // namespace lowtide::engine
