// Programs as functions of arrays, and functions as programs.
#include <lowtide/programs.h>
#include <lowtide/session.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support.h"

namespace lowtide {
namespace {

const Session& session() {
  static const Session kSession = Session::open({.kernels_of_any_shape = true}).value();
  return kSession;
}

Module parsed(const std::string& text) {
  auto module = session().parse(text);
  if (!module.ok()) throw std::invalid_argument(module.error().message);
  return *module;
}

ManyToMany read(const std::string& text) { return function_of(parsed(text)); }

/// The largest difference of two lists of arrays, over the largest element of each; infinite where their forms differ.
double distance(const std::vector<array>& a, const std::vector<array>& b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].shape() != b[k].shape() || a[k].dtype().val != b[k].dtype().val) return INFINITY;
    if (a[k].size() == 0) continue;
    const array x = astype(real(a[k]), float32), y = astype(real(b[k]), float32);
    const std::vector<float> left = floats(x), right = floats(y);
    double scale = 1e-30;
    for (const float value : right) scale = std::max(scale, std::isfinite(value) ? std::fabs(value) : 0.0);
    for (size_t i = 0; i < left.size(); ++i) {
      if (left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i]))) continue;
      most = std::max(most, std::fabs(left[i] - right[i]) / scale);
    }
  }
  return most;
}

constexpr const char* kScaledSquares = R"(HloModule squares
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[3] parameter(0)
  s = f32[] parameter(1)
  w = f32[3] broadcast(s), dimensions={}
  y = f32[3] multiply(x, w)
  q = f32[3] multiply(y, y)
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(q, zero), dimensions={0}, to_apply=sum
})";

TEST(ArraysPrograms, AProgramIsAFunctionWithGradients) {
  const auto loss = read(kScaledSquares);
  const array x = {1.0F, 2, 3}, s(2.0F);
  EXPECT_EQ(loss({x, s})[0].item<float>(), 56);
  const auto [values, gradients] = value_and_grad(loss, {0, 1})({x, s});
  expect_near(values[0], {56});
  expect_near(gradients[0], {8, 16, 24});
  expect_near(gradients[1], {56});
  // Second derivative along x.
  const auto slope = [&](const std::vector<array>& in) {
    return std::vector<array>{sum(value_and_grad(loss, 0)(in).second[0])};
  };
  expect_near(value_and_grad(slope, 0)({x, s}).second[0], {8, 8, 8});
  expect_near(vmap(loss, {0, -1})({stack({x, x * array(2.0F)}), s})[0], {56, 224});
  expect_near(compile(loss)({x, s})[0], {56});
}

TEST(ArraysPrograms, GradientsAreProgramsAgain) {
  const auto loss = read(kScaledSquares);
  const auto gradient = [&](const std::vector<array>& in) { return value_and_grad(loss, {0, 1})(in).second; };
  const std::vector<array> args = {array({1.0F, 2, 3}), array(2.0F)};
  const Module module = to_module(gradient, args, "gradient");
  EXPECT_EQ(module.name(), "gradient");
  EXPECT_EQ(module.arguments().size(), 2U);
  EXPECT_EQ(module.results().size(), 2U);
  for (const std::string& text : {module.hlo(), module.stablehlo().value()})
    EXPECT_LT(distance(read(text)(args), gradient(args)), 1e-6);
  EXPECT_TRUE(session().explain(module).ok());
  EXPECT_TRUE(session().fit(module).ok());
}

TEST(ArraysPrograms, CapturedArraysAreConstantsOfTheProgram) {
  const array w = exp(array({1.0F, 2, 3}));
  const Module module =
      to_module([&](const std::vector<array>& in) { return std::vector<array>{in[0] * w}; }, {array({1.0F, 1, 1})});
  EXPECT_EQ(module.arguments().size(), 1U);
  expect_near(function_of(module)({array({1.0F, 0, 2})})[0], {2.718282F, 0, 40.17107F});
}

TEST(ArraysPrograms, WrongArgumentsAreTold) {
  const auto loss = read(kScaledSquares);
  EXPECT_EQ(fault_of([&] { (void)loss({array({1.0F, 2, 3})}); }), "squares: found 1 arguments, expected 2");
  EXPECT_EQ(fault_of([&] { (void)loss({array({1.0F, 2}), array(1.0F)}); }),
            "squares: found argument 0 of float32 and shape (2,), expected float32 and (3,)");
  EXPECT_EQ(fault_of([&] { (void)loss({array({1.0F, 2, 3}), array(1)}); }),
            "squares: found argument 1 of int32 and shape (), expected float32 and ()");
  EXPECT_NE(fault_of([] { (void)function_of(std::string("/no/such/file.hlo")); }), "");
}

TEST(ArraysPrograms, WhatArraysLackIsNamedWithItsPlace) {
  const std::string fault = fault_of([] {
    (void)read(
        "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  r = f8e5m2[2] convert(x)\n  ROOT y = f32[2] "
        "convert(r)\n}");
  });
  EXPECT_NE(fault.find("convert r ("), std::string::npos) << fault;
  EXPECT_NE(fault.find(":4:"), std::string::npos) << fault;
  EXPECT_NE(fault.find("elements of type f8e5m2, which arrays lack"), std::string::npos) << fault;
  EXPECT_NE(
      fault_of([] {
        (void)read(
            "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  a = f32[] constant(0)\n  b = f32[] constant(1)\n"
            "  r = f32[2] rng(a, b), distribution=rng_uniform\n  ROOT y = f32[2] add(x, r)\n}");
      }).find("rng r ("),
      std::string::npos);
}

TEST(ArraysPrograms, AnOperationWithoutADerivativeIsNamedWithItsPlace) {
  const auto f = read(R"(HloModule m
ENTRY e {
  x = f32[4,2] parameter(0)
  w = f32[2,2,3] parameter(1)
  g = s32[2] constant({1,3})
  ROOT y = f32[4,3] ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
})");
  const std::vector<array> args = {ones({4, 2}), ones({2, 2, 3})};
  expect_near(f(args)[0], std::vector<float>(12, 2));
  const std::string fault = fault_of([&] { (void)vjp(f, args, {ones({4, 3})}); });
  EXPECT_NE(fault.find("ragged-dot y ("), std::string::npos) << fault;
  EXPECT_NE(fault.find("has no derivative"), std::string::npos) << fault;
}

constexpr const char* kCountedLoop = R"(HloModule loop
body {
  p = (s32[], f32[2], f32[4,2], f32[4,2], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  c = f32[2] get-tuple-element(p), index=1
  xs = f32[4,2] get-tuple-element(p), index=2
  ys = f32[4,2] get-tuple-element(p), index=3
  n = s32[] get-tuple-element(p), index=4
  one = s32[] constant(1)
  zero = s32[] constant(0)
  low = pred[] compare(i, zero), direction=LT
  wrapped = s32[] add(i, n)
  at = s32[] select(low, wrapped, i)
  x1 = f32[1,2] dynamic-slice(xs, at, zero), dynamic_slice_sizes={1,2}
  x = f32[2] reshape(x1)
  m = f32[2] multiply(c, x)
  next = f32[2] sine(m)
  y = f32[1,2] reshape(m)
  out = f32[4,2] dynamic-update-slice(ys, y, at, zero)
  j = s32[] add(i, one)
  ROOT t = (s32[], f32[2], f32[4,2], f32[4,2], s32[]) tuple(j, next, xs, out, n)
}
condition {
  p = (s32[], f32[2], f32[4,2], f32[4,2], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=4
  ROOT r = pred[] compare(i, n), direction=LT
}
ENTRY main {
  c = f32[2] parameter(0)
  xs = f32[4,2] parameter(1)
  zero = s32[] constant(0)
  n = s32[] constant(4)
  z = f32[] constant(0)
  ys = f32[4,2] broadcast(z), dimensions={}
  t = (s32[], f32[2], f32[4,2], f32[4,2], s32[]) tuple(zero, c, xs, ys, n)
  w = (s32[], f32[2], f32[4,2], f32[4,2], s32[]) while(t), condition=condition, body=body
  last = f32[2] get-tuple-element(w), index=1
  stack = f32[4,2] get-tuple-element(w), index=3
  ROOT r = (f32[2], f32[4,2]) tuple(last, stack)
})";

TEST(ArraysPrograms, ACountedLoopIsAScan) {
  const auto loop = read(kCountedLoop);
  const auto by_hand = [](const std::vector<array>& in) {
    array c = in[0];
    std::vector<array> ys;
    for (int t = 0; t < 4; ++t) {
      ys.push_back(c * take(in[1], t, 0));
      c = sin(ys.back());
    }
    return std::vector<array>{c, stack(ys)};
  };
  const std::vector<array> args = {array({0.5F, 1.5F}),
                                   reshape(array({0.3F, 1, 0.7F, -1, 2, 0.1F, 1.1F, 0.9F}), {4, 2})};
  EXPECT_LT(distance(loop(args), by_hand(args)), 1e-6);
  const std::vector<array> cotangents = {array({1.0F, 2}), reshape(array({1.0F, 2, 3, 4, 5, 6, 7, 8}), {4, 2})};
  EXPECT_LT(distance(vjp(loop, args, cotangents).second, vjp(by_hand, args, cotangents).second), 1e-5);
  EXPECT_LT(distance(jvp(loop, args, args).second, jvp(by_hand, args, args).second), 1e-5);
  const std::vector<array> batch = {stack({args[0], args[0] * array(2.0F)}), args[1]};
  EXPECT_LT(distance(vmap(loop, {0, -1})(batch), vmap(by_hand, {0, -1})(batch)), 1e-6);
}

TEST(ArraysPrograms, SlicesOfACountedLoopAreNotSavedByItsDerivative) {
  // 64 trips over rows of 64 KiB. As a carry the stack of results would be saved 64 times.
  std::string text = kCountedLoop;
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("f32[4,2]", "f32[64,16384]");
  replace("f32[1,2]", "f32[1,16384]");
  replace("f32[2]", "f32[16384]");
  replace("{1,2}", "{1,16384}");
  replace("constant(4)", "constant(64)");
  const auto loop = read(text);
  const auto loss = [&](const std::vector<array>& in) { return std::vector<array>{sum(loop(in)[1])}; };
  const auto gradients = [&](const std::vector<array>& in) { return value_and_grad(loss, {0, 1})(in).second; };
  const Plan planned = plan(gradients, {ones({16384}), ones({64, 16384})});
  const int64_t stack = int64_t{64} * 16384 * 4;
  EXPECT_LT(planned.peak_bytes(), 5 * stack);
}

constexpr const char* kOpenLoop = R"(HloModule open
body {
  p = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(p), index=0
  s = f32[] get-tuple-element(p), index=1
  y = f32[] multiply(x, s)
  ROOT t = (f32[], f32[]) tuple(y, s)
}
condition {
  p = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(p), index=0
  m = f32[] constant(100)
  ROOT r = pred[] compare(x, m), direction=LT
}
ENTRY main {
  x = f32[] parameter(0)
  s = f32[] parameter(1)
  t = (f32[], f32[]) tuple(x, s)
  w = (f32[], f32[]) while(t), condition=condition, body=body
  ROOT r = f32[] get-tuple-element(w), index=0
})";

TEST(ArraysPrograms, AnOpenLoopHasForwardDerivativesAlone) {
  const auto loop = read(kOpenLoop);
  const std::vector<array> args = {array(3.0F), array(2.0F)};  // six trips: 3 s^6
  EXPECT_EQ(loop(args)[0].item<float>(), 192);
  expect_near(jvp(loop, args, {array(1.0F), array(0.0F)}).second[0], {64});
  expect_near(jvp(loop, args, {array(0.0F), array(1.0F)}).second[0], {576});
  const auto slope = [&](const std::vector<array>& in) {
    return jvp(loop, in, {zeros_like(in[0]), ones_like(in[1])}).second;
  };
  expect_near(jvp(slope, args, {array(0.0F), array(1.0F)}).second[0], {1440});
  const std::string fault = fault_of([&] { eval(vjp(loop, args, {array(1.0F)}).second); });
  EXPECT_NE(fault.find("number of trips isn't known"), std::string::npos) << fault;
  expect_near(vmap(loop, {0, -1})({array({3.0F, 60}), args[1]})[0], {192, 120});
}

// ---- files

Dtype dtype_named(const std::string& name) {
  constexpr const char* kNames[] = {"pred", "u8",  "u16", "u32",  "u64", "s8",  "s16",
                                    "s32",  "s64", "f16", "bf16", "f32", "f64", "c64"};
  for (size_t t = 0; t < std::size(kNames); ++t) {
    if (name == kNames[t]) return Dtype(static_cast<Dtype::Val>(t));
  }
  throw std::runtime_error("no array has elements of " + name);
}

void* memory_of(array& a) {
  switch (a.dtype().val) {
    case Dtype::Val::bool_: return a.data<bool>();
    case Dtype::Val::uint8: return a.data<uint8_t>();
    case Dtype::Val::uint16: return a.data<uint16_t>();
    case Dtype::Val::uint32: return a.data<uint32_t>();
    case Dtype::Val::uint64: return a.data<uint64_t>();
    case Dtype::Val::int8: return a.data<int8_t>();
    case Dtype::Val::int16: return a.data<int16_t>();
    case Dtype::Val::int32: return a.data<int32_t>();
    case Dtype::Val::int64: return a.data<int64_t>();
    case Dtype::Val::float16: return a.data<float16_t>();
    case Dtype::Val::bfloat16: return a.data<bfloat16_t>();
    case Dtype::Val::float32: return a.data<float>();
    case Dtype::Val::float64: return a.data<double>();
    case Dtype::Val::complex64: return a.data<complex64_t>();
  }
  return nullptr;
}

array seeded(const Shape& shape, Dtype dtype, uint64_t seed) {
  const array key = random::key(seed);
  if (dtype.val == Dtype::Val::bool_) return random::bernoulli(0.5F, shape, key);
  if (issubdtype(dtype, integer)) return astype(random::randint(0, 3, shape, int32, key), dtype);
  return astype(random::uniform(0.25F, 1.0F, shape, float32, key), dtype);
}

std::vector<array> seeded_arguments(const Module& module, uint64_t seed) {
  std::vector<array> args;
  for (const ProgramArray& argument : module.arguments())
    args.push_back(seeded(argument.dims, dtype_named(argument.type), seed + args.size()));
  eval(args);
  return args;
}

/// The program's results by its own plan.
std::vector<array> run_directly(const Module& module, std::vector<array> args) {
  const Executable executable = session().compile(session().plan(module).value()).value();
  std::vector<Argument> arguments;
  for (array& a : args) arguments.push_back({memory_of(a), false});
  std::vector<array> made;
  std::vector<void*> results;
  for (const ProgramArray& result : module.results()) {
    made.push_back(zeros(result.dims, dtype_named(result.type)));
    made.back().eval();
  }
  for (array& a : made) results.push_back(memory_of(a));
  const auto ran = executable.run(arguments, results);
  if (!ran.ok()) throw std::runtime_error(ran.error().message);
  return made;
}

bool is_coarse(const Module& module) { return module.hlo().find("f16[") != std::string::npos; }

double inner(const std::vector<array>& a, const std::vector<array>& b, double& scale) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    if (!issubdtype(a[k].dtype(), inexact)) continue;
    const array product = astype(real(a[k] * b[k]), float64);
    sum += lowtide::sum(product).item<double>();
    scale += lowtide::sum(abs(product)).item<double>();
  }
  return sum;
}

struct Seen {
  int programs = 0, refused = 0, differentiated = 0, without = 0, batched = 0;
};

/// Everything that a function of arrays can do, on one program.
void check_all_of(const std::string& path, Seen& seen) {
  const auto module = session().read(path);
  if (!module.ok() || !module->can_run().ok()) return;
  ManyToMany f;
  std::vector<array> args;
  try {
    f = function_of(*module);
    args = seeded_arguments(*module, 1);
    (void)session().compile(session().plan(*module).value()).value();
  } catch (const std::exception&) {
    ++seen.refused;
    return;
  }
  ++seen.programs;
  const std::vector<array> own = run_directly(*module, args), found = f(args);
  eval(found);
  const double tolerance = is_coarse(*module) ? 0.04 : 2e-4;
  EXPECT_LE(distance(found, own), tolerance);
  const Module again = to_module(f, args);
  EXPECT_LE(distance(function_of(again)(args), own), tolerance) << "there and back";
  if (args.empty() || found.empty()) return;

  const std::vector<array> others = seeded_arguments(*module, 1000);
  std::vector<array> both;
  for (size_t k = 0; k < args.size(); ++k) both.push_back(stack({args[k], others[k]}));
  const std::vector<array> batch = vmap(f)(both), second = f(others);
  std::vector<array> expected;
  for (size_t k = 0; k < found.size(); ++k) expected.push_back(stack({found[k], second[k]}));
  EXPECT_LE(distance(batch, expected), tolerance) << "batched";
  ++seen.batched;

  if (std::none_of(args.begin(), args.end(), [](const array& a) { return issubdtype(a.dtype(), floating); })) return;
  std::vector<array> tangents, cotangents;
  for (const array& a : args)
    tangents.push_back(issubdtype(a.dtype(), floating) ? seeded(a.shape(), a.dtype(), 7 + tangents.size())
                                                       : zeros_like(a));
  for (const array& a : found)
    cotangents.push_back(issubdtype(a.dtype(), floating) ? seeded(a.shape(), a.dtype(), 77 + cotangents.size())
                                                         : zeros_like(a));
  try {
    const std::vector<array> forwards = jvp(f, args, tangents).second, backwards = vjp(f, args, cotangents).second;
    double scale = 1e-30;
    const double left = inner(forwards, cotangents, scale), right = inner(backwards, tangents, scale);
    if (std::isfinite(scale)) {
      EXPECT_LE(std::fabs(left - right), 5 * tolerance * scale + 1e-6) << left << " " << right;
    }
    ++seen.differentiated;
  } catch (const std::runtime_error& e) {
    const std::string why = e.what();
    EXPECT_TRUE(why.find("has no derivative") != std::string::npos || why.find("number of trips") != std::string::npos)
        << why;
    ++seen.without;
  }
}

void check_program(const std::string& path, Seen& seen) {
  SCOPED_TRACE(path);
  try {
    check_all_of(path, seen);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

std::vector<std::string> files_in(const std::string& folder, const std::string& ending) {
  std::vector<std::string> found;
  if (!std::filesystem::exists(folder)) return found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().string().ends_with(ending)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

const std::string kRoot = std::string(LOWTIDE_HEADERS) + "/../../";

TEST(ArraysProgramFiles, TheTextTestsAsFunctions) {
  Seen seen;
  for (const char* folder : {"compiled", "elements", "regions", "stream"}) {
    for (const std::string& path : files_in(kRoot + "tests/text/" + folder, ".hlo")) check_program(path, seen);
  }
  std::cout << seen.programs << " programs, " << seen.differentiated << " with derivatives, " << seen.without
            << " without, " << seen.batched << " batched, " << seen.refused << " refused\n";
  EXPECT_GE(seen.differentiated, 50);
}

TEST(ArraysProgramFiles, TheCorpusAsFunctions) {
  Seen seen;
  const std::string corpus = kRoot + "../shared/corpus/";
  std::vector<std::string> paths = files_in(corpus + "cases", ".small.hlo");
  for (const std::string& path : files_in(corpus + "kernels", ".small.hlo")) paths.push_back(path);
  if (paths.empty()) GTEST_SKIP() << "there is no " << corpus;
  const size_t each = std::getenv("LOWTIDE_WHOLE_CORPUS") != nullptr ? 1 : 3;  // all of it takes a minute
  for (size_t k = 0; k < paths.size(); k += each) check_program(paths[k], seen);
  std::cout << seen.programs << " programs, " << seen.differentiated << " with derivatives, " << seen.without
            << " without, " << seen.batched << " batched, " << seen.refused << " refused\n";
  EXPECT_GE(seen.differentiated, each == 1 ? 60 : 20);
}

}  // namespace
}  // namespace lowtide
