#include "analysis/account.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "text/hlo.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kArray = 4096;  // bytes of f32[1024]

std::unique_ptr<Module> parse(const std::string& text) {
  auto module = parse_hlo(std::make_shared<Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? module.take() : nullptr;
}

Account account(const std::string& text, AccountMode mode = AccountMode::kAsGiven) {
  static std::vector<std::unique_ptr<Module>> kept;  // accounts point into their modules
  kept.push_back(parse(text));
  const Module* module = kept.back().get();
  const Account result = account_for(*module, mode);
  // The law that every account obeys.
  const Floor any = floor_any(*module), order = floor_order(*module);
  EXPECT_LE(any.bytes, order.bytes);
  EXPECT_LE(order.bytes, result.peak_bytes()) << order.reason;
  EXPECT_LE(result.load_bytes, result.temp_bytes);
  return result;
}

std::vector<std::string> steps(const Account& account) {
  std::vector<std::string> names;
  for (const TimelineStep& step : account.timeline) names.push_back(step.instruction->name);
  return names;
}

/// The buffer that holds a value of this name.
const AccountBuffer* holder(const Account& account, const std::string& name) {
  for (const AccountBuffer& buffer : account.buffers) {
    for (const ValueRef& value : buffer.values) {
      if (value.instruction->name == name) return &buffer;
    }
  }
  return nullptr;
}

const char* const kLoop = R"(HloModule loop, is_scheduled=true
test { carry = (s32[], f32[1024]) parameter(0)  i = s32[] get-tuple-element(carry), index=0  ten = s32[] constant(10)
  ROOT less = pred[] compare(i, ten), direction=LT }
body { carry.1 = (s32[], f32[1024]) parameter(0)  i.1 = s32[] get-tuple-element(carry.1), index=0
  x.1 = f32[1024] get-tuple-element(carry.1), index=1  one = s32[] constant(1)  next = s32[] add(i.1, one)
  twice = f32[1024] add(x.1, x.1)  ROOT out = (s32[], f32[1024]) tuple(next, twice) }
ENTRY main { a = f32[1024] parameter(0)  zero = s32[] constant(0)  start = s32[] copy(zero)  copied = f32[1024] copy(a)
  init = (s32[], f32[1024]) tuple(start, copied)
  loop = (s32[], f32[1024]) while(init), condition=test, body=body
  x = f32[1024] get-tuple-element(loop), index=1  ROOT neg = f32[1024] negate(x) })";

TEST(Timeline, LaysConditionAndBodyBeforeTheirLoop) {
  const Account a = account(kLoop);
  EXPECT_EQ(steps(a),
            (std::vector<std::string>{"a", "zero", "start", "copied", "init", "carry", "i", "ten", "less", "carry.1",
                                      "i.1", "x.1", "one", "next", "twice", "out", "loop", "x", "neg"}));
  EXPECT_EQ(a.timeline[14].depth, 1);
  EXPECT_EQ(a.timeline[14].caller->name, "loop");
  EXPECT_EQ(a.timeline[0].caller, nullptr);
}

TEST(Aliasing, ALoopsCarryIsOneBuffer) {
  const Account a = account(kLoop);
  const AccountBuffer* carry = holder(a, "copied");
  ASSERT_NE(carry, nullptr);
  EXPECT_EQ(carry, holder(a, "twice"));
  EXPECT_EQ(carry, holder(a, "loop"));
  // The carry moves into the result's own buffer: it dies where the result is written over it.
  EXPECT_EQ(carry->kind, BufferKind::kOutput);
  EXPECT_LT(a.temp_bytes, kArray);
}

TEST(Aliasing, BranchesLieEndToEndAndShareTheirResult) {
  const Account a = account(R"(HloModule branches, is_scheduled=true
yes { y = f32[1024] parameter(0)  ROOT twice = f32[1024] add(y, y) }
no { n = f32[1024] parameter(0)  ROOT minus = f32[1024] negate(n) }
ENTRY main { p = pred[] parameter(0)  a = f32[1024] parameter(1)
  ROOT either = f32[1024] conditional(p, a, a), true_computation=yes, false_computation=no })");
  EXPECT_EQ(steps(a), (std::vector<std::string>{"p", "a", "y", "twice", "n", "minus", "either"}));
  EXPECT_EQ(holder(a, "twice"), holder(a, "minus"));
  EXPECT_EQ(holder(a, "twice"), holder(a, "either"));
}

TEST(Timeline, ASharedComputationIsLaidOutAtEachCall) {
  const Account a = account(R"(HloModule calls, is_scheduled=true
f { y = f32[1024] parameter(0)  ROOT twice = f32[1024] add(y, y) }
ENTRY main { a = f32[1024] parameter(0)  one = f32[1024] call(a), to_apply=f  ROOT two = f32[1024] call(one), to_apply=f })");
  EXPECT_EQ(steps(a), (std::vector<std::string>{"a", "y", "twice", "one", "y", "twice", "two"}));
}

TEST(Timeline, RecursionIsOneStep) {
  const auto module = parse(R"(HloModule calls
f { y = f32[1024] parameter(0)  ROOT twice = f32[1024] add(y, y) }
ENTRY main { a = f32[1024] parameter(0)  ROOT one = f32[1024] call(a), to_apply=f })");
  Computation* f = module->find_computation("f");
  f->root->opcode = Opcode::kCall;
  f->root->operands.pop_back();
  f->root->called = {f};
  const Account a = account_for(*module, AccountMode::kAsGiven);
  ASSERT_EQ(a.warnings.size(), 1u);
  EXPECT_NE(a.warnings[0].find("recursive"), std::string::npos);
}

TEST(Timeline, CallsThatDoubleAtEachLevelAreGivenUp) {
  std::string text = "HloModule doubles\nf0 { x = f32[8] parameter(0)  ROOT y = f32[8] negate(x) }\n";
  for (int level = 1; level < 64; ++level) {
    const std::string below = "f" + std::to_string(level - 1);
    text += "f" + std::to_string(level) + " { x = f32[8] parameter(0)  y = f32[8] call(x), to_apply=" + below +
            "  ROOT z = f32[8] call(y), to_apply=" + below + " }\n";
  }
  text += "ENTRY main { a = f32[8] parameter(0)  ROOT b = f32[8] call(a), to_apply=f63 }";
  const Account a = account_for(*parse(text), AccountMode::kAsGiven);
  EXPECT_FALSE(a.warnings.empty());
}

TEST(Donation, TheResultLivesInItsArgument) {
  const char* body = R"(
ENTRY main { a = f32[1024] parameter(0)  b = f32[1024] parameter(1)  ROOT c = f32[1024] add(a, b) })";
  const Account kept = account(std::string("HloModule m, is_scheduled=true") + body);
  EXPECT_EQ(kept.peak_bytes(), 3 * kArray);
  const Account donated =
      account(std::string("HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }") + body);
  EXPECT_EQ(donated.peak_bytes(), 2 * kArray);
  EXPECT_EQ(donated.alias_bytes, kArray);
  EXPECT_EQ(holder(donated, "a"), holder(donated, "c"));
  EXPECT_TRUE(holder(donated, "a")->donated);
  EXPECT_TRUE(holder(donated, "a")->holds_output);
  // A donor counts where the order is ours to choose; XLA has settled it by the time a module is scheduled.
  const Account donor = account(std::string("HloModule m, buffer_donor={ (1, {}) }") + body);
  EXPECT_EQ(donor.peak_bytes(), 2 * kArray);
}

TEST(Donation, ADeadArgumentHostsTemporaries) {
  const Account a = account(R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main { a = f32[1024] parameter(0)  s = f32[2048] concatenate(a, a), dimensions={0}
  t = f32[1024] slice(s), slice={[0:1024]}  u = f32[1024] slice(t), slice={[0:1024]}
  v = f32[2048] concatenate(u, u), dimensions={0}  ROOT r = f32[1024] slice(v), slice={[0:1024]} })");
  EXPECT_EQ(holder(a, "a"), holder(a, "t"));
  EXPECT_EQ(holder(a, "a"), holder(a, "r"));
}

TEST(InPlace, ElementwiseOverADyingOperandOnly) {
  const Account a = account(R"(HloModule m, is_scheduled=true
ENTRY main { a = f32[1024] parameter(0)  b = f32[1024] reverse(a), dimensions={0}  c = f32[1024] negate(b)
  d = f32[1024] reverse(c), dimensions={0}  e = f32[1024] abs(d)  ROOT s = f32[4096] concatenate(b, e, c, d), dimensions={0} })");
  EXPECT_NE(holder(a, "b"), holder(a, "c"));  // b is read later
  EXPECT_NE(holder(a, "d"), holder(a, "e"));
  EXPECT_EQ(a.load_bytes, 4 * kArray);
  const Account dying = account(R"(HloModule m, is_scheduled=true
ENTRY main { a = f32[1024] parameter(0)  b = f32[1024] reverse(a), dimensions={0}  c = f32[1024] negate(b)
  d = f32[1024] reverse(c), dimensions={0}  ROOT s = f32[2048] concatenate(d, d), dimensions={0} })");
  EXPECT_EQ(holder(dying, "b"), holder(dying, "c"));
  EXPECT_NE(holder(dying, "c"), holder(dying, "d"));  // reverse reads other elements than it writes
}

TEST(InPlace, AnUpdateInsideAFusionIsOneBuffer) {
  const Account a = account(R"(HloModule m, is_scheduled=true
f { x = f32[1024] parameter(0)  u = f32[8] parameter(1)  i = s32[] parameter(2)
  ROOT d = f32[1024] dynamic-update-slice(x, u, i) }
ENTRY main { a = f32[1024] parameter(0)  u = f32[8] parameter(1)  i = s32[] parameter(2)  c = f32[1024] reverse(a), dimensions={0}
  n = f32[1024] fusion(c, u, i), kind=kLoop, calls=f  ROOT s = f32[2048] concatenate(n, n), dimensions={0} })");
  EXPECT_EQ(holder(a, "c"), holder(a, "n"));
}

TEST(Unscheduled, AnUpdateOfWhatIsReadLaterIsACopy) {
  const Account a = account(R"(HloModule m
ENTRY main { a = f32[1024] parameter(0)  u = f32[8] parameter(1)  i = s32[] parameter(2)  c = f32[1024] sort(a), dimensions={0}, to_apply=less
  n = f32[1024] dynamic-update-slice(c, u, i)  ROOT s = f32[2048] concatenate(n, c), dimensions={0} }
less { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT l = pred[] compare(x, y), direction=LT })");
  EXPECT_NE(holder(a, "c"), holder(a, "n"));
}

TEST(Unscheduled, ElementwiseChainsHaveNoBuffers) {
  const Account a = account(R"(HloModule m
ENTRY main { a = f32[1024] parameter(0)  two = f32[] constant(2)  b = f32[1024] broadcast(two), dimensions={}
  c = f32[1024] multiply(a, b)  d = f32[1024] exponential(c)  ROOT e = f32[1024] add(d, a) })");
  EXPECT_EQ(holder(a, "c"), nullptr);
  EXPECT_EQ(holder(a, "b"), nullptr);
  EXPECT_EQ(a.peak_bytes() - a.constant_bytes, 2 * kArray);
}

TEST(Unscheduled, AViewOfAKernelsResultKeepsItsBuffer) {
  const Account a = account(R"(HloModule m
ENTRY main { a = f32[32,32] parameter(0)  b = f32[32,32] exponential(a)  r = f32[1024] reshape(b)
  ROOT d = f32[] dot(r, r), lhs_contracting_dims={0}, rhs_contracting_dims={0} })");
  ASSERT_NE(holder(a, "b"), nullptr);
  EXPECT_EQ(holder(a, "b")->last_reader->name, "d");
}

/// A loop that writes its stack slice by slice. `late`: what the body does with the whole stack besides; `kept`: the
/// loop's third element, which no iteration changes.
std::string stack_loop(const std::string& late, const std::string& kept) {
  return R"(HloModule stack
put { s = f32[8,1024] parameter(0)  r = f32[1,1024] parameter(1)  k = s32[] parameter(2)  z = s32[] constant(0)
  ROOT d = f32[8,1024] dynamic-update-slice(s, r, k, z) }
test { carry = (s32[], f32[8,1024], f32[1,1024]) parameter(0)  i = s32[] get-tuple-element(carry), index=0
  eight = s32[] constant(8)  ROOT less = pred[] compare(i, eight), direction=LT }
body { carry.1 = (s32[], f32[8,1024], f32[1,1024]) parameter(0)  i.1 = s32[] get-tuple-element(carry.1), index=0
  stack = f32[8,1024] get-tuple-element(carry.1), index=1  kept = f32[1,1024] get-tuple-element(carry.1), index=2
  one = s32[] constant(1)  next = s32[] add(i.1, one)  zero.1 = s32[] constant(0)
)" + late +
         R"(
  put = f32[8,1024] call(stack, row, i.1), to_apply=put
  ROOT out = (s32[], f32[8,1024], f32[1,1024]) tuple(next, put, kept) }
ENTRY main { a = f32[8,1024] parameter(0)  zero = s32[] constant(0)  start = f32[8,1024] negate(a)
)" + kept +
         R"(
  init = (s32[], f32[8,1024], f32[1,1024]) tuple(zero, start, first)
  loop = (s32[], f32[8,1024], f32[1,1024]) while(init), condition=test, body=body
  x = f32[8,1024] get-tuple-element(loop), index=1  y = f32[1,1024] get-tuple-element(loop), index=2
  ROOT r = f32[1024] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_batch_dims={1}, rhs_batch_dims={1} })";
}

TEST(Unscheduled, ALoopsStackIsOneBufferFromItsInitialValueOn) {
  const std::string kept = "first = f32[1,1024] slice(a), slice={[0:1], [0:1024]}";
  const Account a = account(stack_loop("row = f32[1,1024] cosine(kept)", kept));
  const AccountBuffer* stack = holder(a, "start");
  ASSERT_NE(stack, nullptr);
  for (const char* name : {"carry.1", "d", "loop"}) EXPECT_EQ(stack, holder(a, name)) << name;
}

TEST(Unscheduled, WhatAnUnorderedReaderNeedsIsCopied) {
  const std::string kept = "first = f32[1,1024] slice(a), slice={[0:1], [0:1024]}";
  // The row is an operand of the update, or not: then it may be read late.
  const std::string ordered = "row = f32[1,1024] dynamic-slice(stack, i.1, zero.1), dynamic_slice_sizes={1,1024}";
  const std::string late =
      "row = f32[1,1024] cosine(kept)  peek = f32[8,1024] custom-call(stack), custom_call_target=\"f\"";
  const auto is_one_buffer = [](const std::string& text, const std::string& from, const std::string& to) {
    const Account a = account(text);
    return holder(a, from) == holder(a, to);
  };
  EXPECT_TRUE(is_one_buffer(stack_loop(ordered, kept), "carry.1", "d"));
  EXPECT_FALSE(is_one_buffer(stack_loop(late, kept), "carry.1", "d"));
  // What the loop only carries can be computed after it.
  const std::string carried = "first = f32[1,1024] slice(start), slice={[0:1], [0:1024]}";
  EXPECT_FALSE(is_one_buffer(stack_loop("row = f32[1,1024] cosine(kept)", carried), "start", "carry.1"));
}

TEST(Unscheduled, AKernelThatComputesAStoredValueAgainReadsItsOperands) {
  const auto text = [](const std::string& moved) {
    return R"(HloModule m
ENTRY main { a = f32[64,64] parameter(0)  b = f32[64,64] parameter(1)  x = f32[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)" + moved +
           R"(
  y = f32[64,64] add(moved, b)  z = f32[64,64] add(x, y)
  ROOT r = (f32[64,64], f32[64,64]) tuple(y, z) })";
  };
  const Account still = account(text("moved = f32[64,64] negate(x)"));
  EXPECT_EQ(holder(still, "x"), holder(still, "z"));
  const Account rolled = account(
      text("low = f32[1,64] slice(x), slice={[0:1], [0:64]}  high = f32[63,64] slice(x), slice={[1:64], [0:64]}  "
           "moved = f32[64,64] concatenate(high, low), dimensions={0}"));
  EXPECT_NE(holder(rolled, "x"), holder(rolled, "z"));
}

TEST(Spaces, OtherMemoriesAreCountedApart) {
  const Account a = account(R"(HloModule m, is_scheduled=true
ENTRY main { a = f32[8,128]{1,0:T(8,128)} parameter(0)
  s = (f32[8,128]{1,0:T(8,128)S(1)}, f32[8,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(a)
  d = f32[8,128]{1,0:T(8,128)S(1)} copy-done(s)  ROOT n = f32[8,128]{1,0:T(8,128)} negate(d) })");
  EXPECT_EQ(a.temp_bytes, 0);
  EXPECT_EQ(a.other_spaces.at(1), kArray);
}

TEST(Padding, TiledLayoutsCountWhole) {
  const Account a = account(R"(HloModule m, is_scheduled=true
ENTRY main { a = f32[3,5]{1,0:T(8,128)} parameter(0)  ROOT n = f32[3,5]{1,0:T(8,128)} negate(a) })");
  EXPECT_EQ(a.argument_bytes, kArray);
  EXPECT_EQ(holder(a, "a")->padding, kArray - 60);
}

TEST(Sizes, HugeExtentsSaturate) {
  std::string text = "HloModule m, is_scheduled=true\nENTRY main { a = f32[] parameter(0)\n";
  for (int i = 0; i < 40; ++i) text += "b" + std::to_string(i) + " = f32[8,8] broadcast(a), dimensions={}\n";
  const auto module = parse(text + "ROOT t = (f32[8,8], f32[8,8]) tuple(b0, b39) }");
  for (const auto& i : module->entry->instructions()) {
    if (i->shape.rank() == 2) i->shape.dims = {int64_t{1} << 40, int64_t{1} << 40};
    for (Shape& element : i->shape.elements) element.dims = {int64_t{1} << 40, int64_t{1} << 40};
  }
  EXPECT_GT(account_for(*module, AccountMode::kAsGiven).peak_bytes(), 0);
  EXPECT_GT(account_for(*module, AccountMode::kUnscheduled).peak_bytes(), 0);
  EXPECT_GT(floor_order(*module).bytes, 0);
}

TEST(Sharding, MoreDevicesThanTheHeaderDeclaresIsAWarning) {
  const Account a = account(R"(HloModule m
ENTRY main { a = f32[1024] parameter(0)  ROOT n = f32[1024] negate(a), sharding={devices=[8]<=[8]} })");
  ASSERT_EQ(a.warnings.size(), 1u);
  EXPECT_EQ(a.warnings[0],
            "1 sharding names 8 devices but the header declares no partitions: sizes are as for one device");
  EXPECT_EQ(a.argument_bytes, kArray);
}

TEST(Sharding, GlobalShapesAreDivided) {
  const Account a = account(R"(HloModule m, num_partitions=8
ENTRY main { a = f32[1024] parameter(0), sharding={devices=[8]<=[8]}  s = f32[1024] custom-call(a), custom_call_target="Sharding", sharding={devices=[8]<=[8]}
  ROOT n = f32[1024] negate(s), sharding={devices=[8]<=[8]} })");
  EXPECT_EQ(a.argument_bytes, kArray / 8);
  ASSERT_EQ(a.warnings.size(), 1u);
  EXPECT_NE(a.warnings[0].find("before partitioning over 8 devices"), std::string::npos);
}

TEST(Sharding, PartsAreNotDividedAgain) {
  // After the partitioner only parameters keep their shardings.
  const Account a = account(R"(HloModule m, num_partitions=8
ENTRY main_spmd { a = f32[1024] parameter(0), sharding={devices=[8]<=[8]}  ROOT n = f32[1024] negate(a) })");
  EXPECT_EQ(a.argument_bytes, kArray);
  EXPECT_TRUE(a.warnings.empty());
  // Of one with another name nobody can be sure, and no floor counts on it.
  const std::string text = R"(HloModule m, num_partitions=8
ENTRY main { a = f32[1024] parameter(0), sharding={devices=[8]<=[8]}  ROOT n = f32[1024] negate(a) })";
  const Account unsure = account(text);
  EXPECT_EQ(unsure.argument_bytes, kArray);
  ASSERT_EQ(unsure.warnings.size(), 1u);
  EXPECT_NE(unsure.warnings[0].find("arguments alone have shardings"), std::string::npos);
  EXPECT_EQ(floor_order(*parse(text)).bytes, 2 * kArray / 8);
}

TEST(Floors, OneValueInTwoResultsCountsOnce) {
  account(R"(HloModule m
f { one = u64[] constant(1)  ROOT pair = (u64[], u64[]) tuple(one, one) }
ENTRY main { pair = (u64[], u64[]) call(), to_apply=f  x = u64[] get-tuple-element(pair), index=0
  y = u64[] get-tuple-element(pair), index=1  ROOT c = pred[] compare(x, y), direction=LE })");
}

TEST(Floors, NameTheOperationThatSetsThem) {
  const auto module = parse(R"(HloModule m
ENTRY main { a = f32[1024] parameter(0)  o = f32[32,32] reshape(a)  d = f32[32,32] dot(o, o), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[32,32] dot(d, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT s = f32[] dot(e, e), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1} })");
  const Floor order = floor_order(*module);
  EXPECT_EQ(order.bytes, 3 * kArray);
  ASSERT_NE(order.instruction, nullptr);
  EXPECT_EQ(order.instruction->name, "e");
  EXPECT_EQ(floor_any(*module).bytes, kArray + 4);
}

}  // namespace
}  // namespace lowtide::engine
