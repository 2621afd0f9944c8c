// What goes with arrays: devices and streams, types, printing, views of what an array is; functions with rules of the
// caller's.
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "support.h"

namespace lowtide {
namespace {

std::string text_of(const auto& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(ArraysUtils, AGpuHasANameAndIsNotThere) {
  EXPECT_TRUE(is_available(Device::cpu));
  EXPECT_FALSE(is_available(Device::gpu));
  EXPECT_FALSE(is_available(Device(Device::cpu, 1)));
  EXPECT_EQ(device_count(Device::gpu), 0);
  EXPECT_TRUE(default_device() == Device::cpu);
  set_default_device(Device::cpu);
  EXPECT_EQ(fault_of([] { set_default_device(Device::gpu); }),
            "set_default_device: found the device (gpu, 0), expected the processor");
  EXPECT_EQ(fault_of([] { add(array(1), array(2), Device::gpu); }),
            "stream: found the device (gpu, 0), expected the processor");
  EXPECT_EQ(add(array(1), array(2), Device::cpu).item<int>(), 3);
  EXPECT_EQ(device_info().count("architecture"), 1U);
  EXPECT_EQ(text_of(Device(Device::cpu)), "Device(cpu, 0)");
  EXPECT_EQ(text_of(Stream{2}), "Stream(Device(cpu, 0), 2)");
  EXPECT_FALSE(peek_default_stream(Device::gpu).has_value());
}

TEST(ArraysUtils, StreamsOfAThread) {
  const Stream first = default_stream();
  {
    const StreamContext other(new_stream());
    EXPECT_NE(default_stream(), first);
    EXPECT_EQ(to_stream({}), default_stream());
  }
  EXPECT_EQ(default_stream(), first);
  const ThreadLocalStream local = new_thread_local_stream(Device::cpu);
  const Stream here = stream_from_thread_local_stream(local);
  EXPECT_EQ(to_stream(local), here);
  EXPECT_EQ(add(array(1), array(2), local).item<int>(), 3);
  EXPECT_GT(get_streams().size(), static_cast<size_t>(here.index));
  synchronize(local);
  clear_streams();
  EXPECT_EQ(default_stream().index, 0);
}

TEST(ArraysUtils, EachThreadHasItsStream) {
  std::mutex mutex;
  std::set<int> streams{default_stream().index};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      const bool unknown = !peek_default_stream(Device::cpu).has_value();
      const array x = array(1) + array(2);  // asks for one
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(unknown);
      EXPECT_EQ(peek_default_stream(Device::cpu), default_stream());
      EXPECT_TRUE(streams.insert(default_stream().index).second);
      EXPECT_EQ(array(x).item<int>(), 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(streams.size(), 4U);
  bool ran = false;
  scheduler::enqueue(default_stream(), [&] { ran = true; });
  synchronize(default_stream());
  EXPECT_TRUE(ran);
}

TEST(ArraysUtils, Types) {
  EXPECT_TRUE(issubdtype(float32, float32));
  EXPECT_FALSE(issubdtype(float32, float16));
  EXPECT_TRUE(issubdtype(floating, inexact));
  EXPECT_FALSE(issubdtype(inexact, floating));
  EXPECT_TRUE(issubdtype(integer, number));
  EXPECT_TRUE(issubdtype(generic, generic));
  EXPECT_FALSE(issubdtype(generic, number));
  EXPECT_FALSE(issubdtype(floating, float32));
  std::string kinds;
  for (const Dtype type : {bool_, uint8, int64, float16, complex64, bfloat16}) kinds += text_of(kindof(type));
  EXPECT_EQ(kinds, "buifcV");
  EXPECT_EQ(result_type({array(1), array(2.0F)}), float32);
  EXPECT_EQ(result_type(std::vector<array>{}), bool_);
  EXPECT_EQ(broadcast_shapes({2, 1}, {3}), (Shape{2, 3}));
  EXPECT_EQ(normalize_axis_index(-1, 3), 2);
  EXPECT_EQ(fault_of([] { normalize_axis_index(5, 3, "here: "); }),
            "here: found axis 5, expected one of an array of 3 dimensions");
  EXPECT_EQ(finfo(float16).max, 65504);
  EXPECT_EQ(finfo(bfloat16).eps, 0x1p-7);
  EXPECT_EQ(finfo(float32).smallest_normal, static_cast<double>(std::numeric_limits<float>::min()));
  EXPECT_EQ(iinfo(int8).min, -128);
  EXPECT_EQ(iinfo(uint64).max, UINT64_MAX);
}

TEST(ArraysUtils, Printing) {
  EXPECT_EQ(text_of(Shape{1, 2}), "(1,2)");
  EXPECT_EQ(text_of(array(complex64_t(1, -2))), "array(1-2j, dtype=complex64)");
  set_printoptions({.precision = 2});
  EXPECT_EQ(text_of(array({1.23456F, 100.5F})), "array([1.23, 100.50], dtype=float32)");
  set_printoptions({});
  EXPECT_EQ(text_of(array({1.5F, 1e-8F})), "array([1.5, 1e-08], dtype=float32)");
}

TEST(ArraysUtils, WhatAnArrayIs) {
  const array a = reshape(arange(6), {2, 3}) + 1;
  EXPECT_EQ(a.strides(), (Strides{3, 1}));
  EXPECT_EQ(a.strides(-1), 1);
  EXPECT_TRUE(a.flags().row_contiguous);
  EXPECT_FALSE(a.flags().col_contiguous);
  EXPECT_EQ(a.data_size(), 6U);
  EXPECT_EQ(a.status(), array::unscheduled);
  EXPECT_TRUE(a.has_primitive());
  EXPECT_EQ(a.inputs().size(), 2U);
  array b = a;
  b.detach();
  EXPECT_EQ(a.status(), array::available);
  EXPECT_FALSE(a.has_primitive());
  EXPECT_EQ(get_array_buffer_size({a, b}), get_array_buffer_size({a}));
  EXPECT_GE(get_array_buffer_size({a}), 24U);
  std::vector<int> sums;
  for (const array& row : a) sums.push_back(sum(row).item<int>());
  EXPECT_EQ(sums, (std::vector<int>{6, 15}));
  EXPECT_NE(fault_of([] { (void)array(1).begin(); }), "");
  EXPECT_EQ(set_wired_limit(5), 0U);
  EXPECT_EQ(set_wired_limit(0), 5U);
}

TEST(ArraysUtils, NumbersWithoutATypeAreFloat32) {
  EXPECT_EQ(array({1.0, 2.0}).dtype(), float32);
  EXPECT_EQ(array({1.0, 2.0, 3.0}, {3, 1}).dtype(), float32);
  const std::vector<double> numbers{1, 2};
  EXPECT_EQ(array(numbers.begin(), {2}).dtype(), float32);
  EXPECT_EQ(array(numbers.begin(), {2}, float64).dtype(), float64);
  EXPECT_EQ(array({1.0, 2.0}, float64).dtype(), float64);
  EXPECT_EQ(array({int64_t{1}}).dtype(), int64);
}

TEST(ArraysUtils, SlicesInTurn) {
  const array a = reshape(arange(6), {3, 2});
  auto at = a.begin();
  EXPECT_EQ(ints(*(at + 2)), (std::vector<int>{4, 5}));
  EXPECT_EQ(ints(*at), (std::vector<int>{0, 1}));
  EXPECT_EQ(ints(*++at), (std::vector<int>{2, 3}));
  EXPECT_TRUE(a.begin() + 3 == a.end());
  EXPECT_FALSE(a.begin() == (a + 0).begin());
  EXPECT_THROW((void)a.shape(2), std::out_of_range);
  EXPECT_THROW((void)a.strides(-3), std::out_of_range);
  EXPECT_TRUE(zeros({3, 0, 2}).flags().col_contiguous);
}

TEST(ArraysUtils, TracersAreThoseOfTransformationsAtWork) {
  const array x(1.5F);
  std::optional<array> kept;
  const auto looked = [&](const array& a) {
    EXPECT_TRUE(a.is_tracer());
    EXPECT_TRUE((a * x).is_tracer());
    EXPECT_FALSE((x * x).is_tracer());
    kept = a;
    return a * a;
  };
  expect_near(grad(looked)(x), {3});
  EXPECT_FALSE(x.is_tracer());
  EXPECT_FALSE(kept->is_tracer());  // its transformation has ended
  EXPECT_EQ(ints(vmap(looked)(array({1, 2}))), (std::vector<int>{1, 4}));
}

TEST(ArraysUtils, GraphsAsText) {
  const array x({1.0F, 2.0F}), y = exp(x) + x;
  std::ostringstream lines, dot;
  print_graph(lines, y);
  EXPECT_EQ(lines.str(),
            "Inputs: A\nOutputs: C\nexp A [(2,), float32] -> B [(2,), float32]\n"
            "add B [(2,), float32], A [(2,), float32] -> C [(2,), float32]\n");
  NodeNamer namer;
  namer.set_name(x, "a \"name\"");
  export_to_dot(dot, namer, {y});
  EXPECT_EQ(dot.str(),
            "digraph {\n  { rank=source; \"a \\\"name\\\"\" [label=\"a \\\"name\\\"\", shape=diamond]; }\n"
            "  { 0 [label=\"exp\", shape=rectangle]; }\n  \"a \\\"name\\\"\" -> 0\n  0 -> \"B\"\n"
            "  { 1 [label=\"add\", shape=rectangle]; }\n  \"B\" -> 1\n  \"a \\\"name\\\"\" -> 1\n  1 -> \"C\"\n}\n");
  EXPECT_FALSE(y.is_available());
  std::vector<array> many;
  for (int k = 0; k < 28; ++k) many.emplace_back(k);
  NodeNamer letters;
  std::string last;
  for (const array& a : many) last = letters.get_name(a);
  EXPECT_EQ(last, "AB");
  eval(y);
  std::ostringstream after;
  print_graph(after, y);
  EXPECT_EQ(after.str(), "Inputs: A\nOutputs: A\n");
}

TEST(ArraysUtils, BoundsAreNumbersOrArrays) {
  const array high({1.0F, 10.0F}), k = random::key(3);
  for (const array& drawn :
       {random::uniform(0, high, {100, 2}, float32, k), random::uniform(array(0.0F), high, {100, 2}, float32, k)}) {
    EXPECT_EQ(floats(drawn), floats(random::uniform(array(0.0F), high, {100, 2}, float32, k)));
  }
  EXPECT_EQ(ints(random::randint(array(3), 4, {2})), (std::vector<int>{3, 3}));
  EXPECT_EQ(ints(random::integers(3, array(4), {2})), (std::vector<int>{3, 3}));
}

TEST(ArraysUtils, AxesOfNothing) {
  const ManyToMany twice = [](const std::vector<array>& in) { return std::vector<array>{in[0] + in[0]}; };
  EXPECT_EQ(ints(vmap(twice, {-1}, {-1})({array({1, 2})})[0]), (std::vector<int>{2, 4}));
  EXPECT_NE(fault_of([&] { vmap(twice, {-1}, {0}); }), "");
  EXPECT_NE(fault_of([&] { vmap(twice, {0}, {-1})({array({1, 2})}); }), "");
}

std::vector<array> doubled(const std::vector<array>& in) { return {in[0] + in[0]}; }

TEST(ArraysUtils, CompiledFunctions) {
  EXPECT_EQ(ints(compile(doubled)({array({1, 2})})[0]), (std::vector<int>{2, 4}));
  EXPECT_EQ(ints(compile([](const std::vector<array>& in) { return doubled(in); })({array({1, 2})})[0]),
            (std::vector<int>{2, 4}));
  int calls = 0;
  const ManyToMany counted = compile([&](const std::vector<array>& in) {
    ++calls;
    return doubled(in);
  });
  counted({array(1)});
  counted({array(2)});
  EXPECT_EQ(calls, 1);
  disable_compile();
  counted({array(3)});
  EXPECT_EQ(calls, 2);
  set_compile_mode(CompileMode::enabled);
  counted({array(3)});
  EXPECT_EQ(calls, 2);
}

TEST(ArraysUtils, RulesOfTheCallers) {
  const ManyToMany square = [](const std::vector<array>& in) { return std::vector<array>{in[0] * in[1]}; };
  const ManyToMany by_jvp = custom_function(
      square, {}, [](const std::vector<array>&, const std::vector<array>& t, const std::vector<int>& at) {
        array made = zeros_like(t[0]);
        for (size_t k = 0; k < at.size(); ++k) made = made + t[k] * array(static_cast<float>(10 * (at[k] + 1)));
        return std::vector<array>{made};
      });
  const array x({1.0F, 2.0F}), y({3.0F, 4.0F});
  expect_near(jvp(by_jvp, {x, y}, {ones_like(x), ones_like(x)}).second[0], {30, 30});
  expect_near(grad(ManyToOne([&](const std::vector<array>& in) { return sum(by_jvp(in)[0]); }), 1)({x, y})[0], {1, 2});
  const ManyToMany by_vmap =
      custom_function(square, {}, {}, [](const std::vector<array>& in, const std::vector<int>& axes) {
        EXPECT_EQ(axes, (std::vector<int>{0, -1}));
        return std::pair(std::vector<array>{in[0] * array(100.0F)}, std::vector<int>{0});
      });
  expect_near(vmap(by_vmap, {0, -1}, {0})({x, array(7.0F)})[0], {100, 200});
  // A derivative for one is one for each of a batch.
  const ManyToMany by_vjp =
      custom_function([](const std::vector<array>& in) { return std::vector<array>{sum(in[0]) * in[1]}; },
                      [](const std::vector<array>& in, const std::vector<array>& c, const std::vector<array>&) {
                        return std::vector<array>{broadcast_to(c[0] * array(2.0F), in[0].shape()), c[0] * sum(in[0])};
                      });
  const ManyToOne loss = [&](const std::vector<array>& in) { return sum(vmap(by_vjp, {0, -1}, {0})(in)[0]); };
  const auto slopes = grad(loss, {0, 1})({reshape(arange(6.0), {2, 3}), array(1.0F)});
  expect_near(slopes[0], {2, 2, 2, 2, 2, 2});
  expect_near(slopes[1], {15});
}

TEST(ArraysUtils, AxesThatDontExist) {
  const array x = zeros({2, 3});
  EXPECT_THROW((void)sum(x, 2), std::out_of_range);
  EXPECT_THROW((void)cumsum(x, -3), std::out_of_range);
  EXPECT_THROW((void)sort(x, 2), std::out_of_range);
  EXPECT_THROW((void)transpose(x, {0, 2}), std::out_of_range);
  EXPECT_THROW((void)diagonal(x, 0, 0, 2), std::out_of_range);
  EXPECT_THROW((void)diagonal(zeros({3}), 0, 0, 1), std::invalid_argument);
  EXPECT_THROW((void)gather(x, array(0), -1, {2, 1}), std::invalid_argument);
  EXPECT_THROW((void)linalg::norm(zeros({2, 2, 2}), std::vector<int>{0, 1, 2}), std::invalid_argument);
  EXPECT_THROW((void)unflatten(x, 0, {}), std::invalid_argument);
  EXPECT_THROW((void)unflatten(x, 0, {-1, -1}), std::invalid_argument);
  EXPECT_EQ(flatten(x, -4, 7).shape(), Shape{6});
  EXPECT_THROW((void)flatten(x, 7, 7), std::invalid_argument);
}

TEST(ArraysUtils, NothingAlongAnAxis) {
  EXPECT_EQ(take_along_axis(zeros({1, 0}), array({0}, {1, 1}), 0).shape(), (Shape{1, 0}));
  EXPECT_EQ(put_along_axis(zeros({1, 0}), array({0}, {1, 1}), array(1.0F), 0).shape(), (Shape{1, 0}));
  EXPECT_THROW((void)take_along_axis(zeros({2, 0}), zeros({2, 3}, int32), 1), std::invalid_argument);
  EXPECT_THROW((void)put_along_axis(zeros({2, 0}), zeros({2, 3}, int32), array(1.0F), 1), std::invalid_argument);
  EXPECT_THROW((void)take(zeros({0}), zeros({0})), std::invalid_argument);  // indices are integers
}

TEST(ArraysUtils, FunctionsThatCantBeTransformed) {
  EXPECT_THROW((void)compile(nullptr), std::invalid_argument);
  const OneToOne same = [](const array& x) { return x; };
  EXPECT_THROW((void)vmap(same, 0, -1), std::invalid_argument);
  const ManyToOne product = [](const std::vector<array>& in) { return in[0] * in[1]; };
  EXPECT_THROW((void)grad(product, {0, 0})({array(1.0F), array(2.0F)}), std::invalid_argument);
}

TEST(ArraysUtils, DerivativesOfIntegers) {
  const OneToOne truncated = [](const array& x) { return astype(x, int32); };
  const array two = full({2}, 2.0F);
  EXPECT_TRUE(array_equal(jvp(truncated, ones({2}), two).second, array({2, 2})).item<bool>());
  EXPECT_TRUE(array_equal(vjp(truncated, ones({2}), array({2, 2})).second, two).item<bool>());
  const OneToOne row = [](const array& x) { return slice(x, {0, 0}, {1, 2}); };
  const array of_row = vjp(row, array({1, 2, 3, 4}, {2, 2}), array({1, 1}, {1, 2})).second;
  EXPECT_TRUE(array_equal(of_row, array({1, 1, 0, 0}, {2, 2})).item<bool>());
  // Indices that are computed from floats have none.
  const OneToOne chosen = [](const array& x) { return take(x, astype(x, int32), 0); };
  EXPECT_TRUE(array_equal(vjp(chosen, array({1.0F, 1.0F}), ones({2})).second, array({0.0F, 2.0F})).item<bool>());
}

}  // namespace
}  // namespace lowtide
