// What MLX's documentation states of the operations of ops.h: values, types, and how limits are treated. The numbers
// are those that MLX 0.32.4 gives for the same lines.
#include "support.h"

namespace lowtide {
namespace {

using Ints = std::vector<int>;

TEST(ArraysDocumented, ComparisonsAreBooleans) {
  const array a({1, 2, 3}), b({2, 2, 2});
  EXPECT_EQ(ints(greater(a, b)), (Ints{0, 0, 1}));
  EXPECT_EQ(ints(less_equal(a, b)), (Ints{1, 1, 0}));
  EXPECT_EQ(ints(not_equal(a, b)), (Ints{1, 0, 1}));
  EXPECT_EQ(not_equal(a, b).dtype(), bool_);
  EXPECT_EQ(ints(not_equal(array({NAN}), array({NAN}))), (Ints{1}));
  EXPECT_EQ(ints(logical_not(array({0, 5, -1}))), (Ints{1, 0, 0}));
  EXPECT_EQ(ints(logical_and(array({0, 5, 3}), array({1, 2, 0}))), (Ints{0, 1, 0}));
  EXPECT_EQ(logical_and(a, b).dtype(), bool_);
  EXPECT_EQ(ints(isposinf(array({INFINITY, -INFINITY, 1.0F}))), (Ints{1, 0, 0}));
  EXPECT_EQ(ints(isneginf(array({INFINITY, -INFINITY, 1.0F}))), (Ints{0, 1, 0}));
}

TEST(ArraysDocumented, ClosenessIsRelativeToTheSecond) {
  const array a({1.0F, 100.0F, INFINITY, INFINITY, NAN}), b({1.000005F, 101.0F, INFINITY, -INFINITY, NAN});
  EXPECT_EQ(ints(isclose(a, b)), (Ints{1, 0, 1, 0, 0}));
  EXPECT_EQ(ints(isclose(a, b, 0.0, 2.0)), (Ints{1, 1, 1, 0, 0}));
  EXPECT_EQ(ints(isclose(a, b, 1e-5, 1e-8, true)), (Ints{1, 0, 1, 0, 1}));
  // |a - b| <= rtol |b|: it matters which comes second.
  EXPECT_EQ(ints(isclose(array({10.0F, 9.0F}), array({9.0F, 10.0F}), 0.105, 0.0)), (Ints{0, 1}));
}

TEST(ArraysDocumented, BitsAreThoseOfTheType) {
  EXPECT_EQ(ints(bitwise_or(array({12, 3}), array({10, 4}))), (Ints{14, 7}));
  EXPECT_EQ(ints(bitwise_xor(array({12, 3}), array({10, 4}))), (Ints{6, 7}));
  EXPECT_EQ(elements<uint8_t>(bitwise_invert(array({0, 1, 255}, uint8))), (std::vector<uint8_t>{255, 254, 0}));
  EXPECT_EQ(ints(right_shift(array({-16, 16}), array({2, 3}))), (Ints{-4, 2}));
  EXPECT_EQ(bitwise_or(array({true}), array({false})).dtype(), bool_);
}

TEST(ArraysDocumented, QuotientsAndRemainders) {
  expect_near(divide(array({7, -7}), array({2, 2})), {3.5F, -3.5F});  // integers, too
  EXPECT_EQ(divide(array({7}), array({2})).dtype(), float32);
  expect_near(remainder(array({5.5F, -5.5F}), array({2.0F, 2.0F})), {1.5F, 0.5F});
  const auto both = divmod(array({7, -7}), array({2, 2}));
  EXPECT_EQ(ints(both[0]), (Ints{3, -4}));
  EXPECT_EQ(ints(both[1]), (Ints{1, 1}));
  expect_near(reciprocal(array({2.0F, -4.0F})), {0.5F, -0.25F});
  expect_near(rsqrt(array({4.0F, 0.25F})), {0.5F, 2});
  EXPECT_EQ(ints(subtract(array({1, 2}), array({3, 1}))), (Ints{-2, 1}));
}

TEST(ArraysDocumented, SignsAndAngles) {
  expect_near(sign(array({-2.5F, 0.0F, 3.0F})), {-1, 0, 1});
  EXPECT_EQ(ints(sign(array({0, 7}, uint8))), (Ints{0, 1}));
  expect_near(degrees(array({0.0F, 3.14159265F})), {0, 180});
  expect_near(radians(array({90.0F})), {1.57079633F});
  expect_near(arctan2(array({1.0F, 1.0F, -1.0F}), array({1.0F, -1.0F, -1.0F})),
              {0.78539816F, 2.35619449F, -2.35619449F});
  expect_near(erfinv(array({0.0F, 0.5F, 1.0F, -1.0F})), {0, 0.47693628F, INFINITY, -INFINITY});
  EXPECT_EQ(ints(isnan(erfinv(array({2.0F})))), (Ints{1}));
  const array z({complex64_t(1, -2)});
  EXPECT_EQ(conjugate(z).item<complex64_t>(), complex64_t(1, 2));
}

TEST(ArraysDocumented, BoundsOfClip) {
  const array a({-2, 0, 5});
  EXPECT_EQ(ints(clip(a, array(-1), array(3))), (Ints{-1, 0, 3}));
  EXPECT_EQ(ints(clip(a, std::nullopt, array(3))), (Ints{-2, 0, 3}));
  EXPECT_EQ(ints(clip(a, array(-1), std::nullopt)), (Ints{-1, 0, 5}));
  EXPECT_EQ(ints(maximum(a, array(1))), (Ints{1, 1, 5}));
  EXPECT_EQ(ints(isnan(maximum(array({NAN, 1.0F}), array({0.0F, NAN})))), (Ints{1, 1}));  // NaN wins
}

TEST(ArraysDocumented, WindowsAreOneInTheMiddle) {
  expect_near(bartlett(5), {0, 0.5F, 1, 0.5F, 0});
  expect_near(hanning(5), {0, 0.5F, 1, 0.5F, 0});
  expect_near(hamming(5), {0.08F, 0.54F, 1, 0.54F, 0.08F});
  expect_near(blackman(5), {0, 0.34F, 1, 0.34F, 0}, 1e-6F);
  expect_near(bartlett(1), {1});
  EXPECT_EQ(hanning(0).size(), 0U);
}

TEST(ArraysDocumented, ArraysAreMade) {
  EXPECT_EQ(full_like(array({1, 2}), 7).dtype(), int32);
  EXPECT_EQ(ints(full_like(array({1, 2}), 7)), (Ints{7, 7}));
  EXPECT_EQ(ints(identity(2, int32)), (Ints{1, 0, 0, 1}));
  EXPECT_EQ(ints(tri(2, 3, 1, int32)), (Ints{1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(ints(tri(2, 3, -1, int32)), (Ints{0, 0, 0, 1, 0, 0}));
  const auto xy = meshgrid({array({1, 2, 3}), array({4, 5})});
  EXPECT_EQ(xy[0].shape(), (Shape{2, 3}));
  EXPECT_EQ(ints(xy[0]), (Ints{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(ints(xy[1]), (Ints{4, 4, 4, 5, 5, 5}));
  const auto ij = meshgrid({array({1, 2, 3}), array({4, 5})}, true, "ij");
  EXPECT_EQ(ij[0].shape(), (Shape{3, 1}));
  EXPECT_EQ(ij[1].shape(), (Shape{1, 2}));
  EXPECT_EQ(number_of_elements(zeros({2, 3, 4}), {0, -1}, false).item<int>(), 8);
  EXPECT_EQ(number_of_elements(zeros({2, 4}), {1}, true, float32).item<float>(), 0.25F);
}

TEST(ArraysDocumented, ShapesAreChanged) {
  const array a = reshape(arange(6), {2, 3});
  EXPECT_EQ(atleast_1d(array(5)).shape(), (Shape{1}));
  EXPECT_EQ(atleast_2d(array({1, 2})).shape(), (Shape{1, 2}));
  EXPECT_EQ(atleast_3d(a).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(unflatten(zeros({2, 12}), 1, {3, -1}).shape(), (Shape{2, 3, 4}));
  const auto rows = unstack(a, 0), columns = unstack(a, -1);
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(ints(rows[1]), (Ints{3, 4, 5}));
  EXPECT_EQ(ints(columns[1]), (Ints{1, 4}));
  const auto wide = broadcast_arrays({array({1, 2, 3}), array({4, 5}, Shape{2, 1}), array(6)});
  for (const array& one : wide) EXPECT_EQ(one.shape(), (Shape{2, 3}));
  EXPECT_EQ(ints(wide[1]), (Ints{4, 4, 4, 5, 5, 5}));
  EXPECT_EQ(ints(contiguous(transpose(a))), (Ints{0, 3, 1, 4, 2, 5}));
}

TEST(ArraysDocumented, UpdatesOfSlices) {
  const array a({1, 2, 3, 4, 5});
  EXPECT_EQ(ints(slice_update_prod(a, array({10, 20}), {1}, {3})), (Ints{1, 20, 60, 4, 5}));
  EXPECT_EQ(ints(slice_update_max(a, array({9, 0, 9}), {0}, {5}, {2})), (Ints{9, 2, 3, 4, 9}));
  EXPECT_EQ(ints(slice_update_min(a, array({9, 0}), {3}, {5})), (Ints{1, 2, 3, 4, 0}));
}

TEST(ArraysDocumented, ScattersFoldWhatMeets) {
  const array a({1, 2, 3}), at({2, 0, 2});
  const auto rows = [](std::initializer_list<int> of) { return array(of, Shape{static_cast<int>(of.size()), 1}); };
  EXPECT_EQ(ints(scatter(a, array({2, 0}), rows({7, 8}), 0)), (Ints{8, 2, 7}));
  EXPECT_EQ(ints(scatter(a, array({-1}), rows({7}), 0)), (Ints{1, 2, 7}));  // negative: from the end
  EXPECT_EQ(ints(scatter_prod(a, at, rows({2, 5, 4}), 0)), (Ints{5, 2, 24}));
  EXPECT_EQ(ints(scatter_max(a, at, rows({2, 5, 4}), 0)), (Ints{5, 2, 4}));
  EXPECT_EQ(ints(scatter_min(a, at, rows({2, 5, 1}), 0)), (Ints{1, 2, 1}));
  EXPECT_EQ(ints(scatter_add_axis(zeros({2, 2}, int32), array({0, 0, 1, 1}, Shape{2, 2}),
                                  array({1, 2, 3, 4}, Shape{2, 2}), 1)),
            (Ints{3, 0, 0, 7}));
}

TEST(ArraysDocumented, PartitionsSplitAtTheKth) {
  const array a({5, 1, 4, 2, 3});
  for (const int k : {0, 2, 4, -1}) {
    const Ints found = ints(partition(a, k));
    const size_t at = static_cast<size_t>(k < 0 ? k + 5 : k);
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(i < at ? found[i] <= found[at] : found[i] >= found[at]);
    EXPECT_EQ(found[at], static_cast<int>(at) + 1);
    EXPECT_EQ(ints(take(a, argpartition(a, k))), found);
  }
  EXPECT_EQ(argpartition(a, 2).dtype(), uint32);
}

TEST(ArraysDocumented, ProductsOfVectorsAndWindows) {
  expect_near(vecdot(array({1.0F, 2.0F, 3.0F, 4.0F}, Shape{2, 2}), array({5.0F, 6.0F, 7.0F, 8.0F}, Shape{2, 2})),
              {17, 53});
  const array image = reshape(arange(16, float32), {1, 4, 4, 1}), ones_ = ones({1, 2, 2, 1});
  EXPECT_EQ(conv2d(image, ones_).shape(), (Shape{1, 3, 3, 1}));
  expect_near(slice(conv2d(image, ones_), {0, 0, 0, 0}, {1, 1, 3, 1}), {10, 14, 18});
  expect_near(conv2d(image, ones_, {2, 2}), {10, 18, 42, 50});
  EXPECT_EQ(conv2d(image, ones_, {1, 1}, {1, 1}).shape(), (Shape{1, 5, 5, 1}));
  EXPECT_EQ(conv2d(image, ones_, {1, 1}, {0, 0}, {2, 2}).shape(), (Shape{1, 2, 2, 1}));
  const array turned = conv_general(image, array({1.0F, 0.0F, 0.0F, 0.0F}, Shape{1, 2, 2, 1}), {2, 2}, {0, 0}, {0, 0},
                                    {1, 1}, {1, 1}, 1, true);
  expect_near(turned, {5, 7, 13, 15});  // a flipped window takes its last element
}

}  // namespace
}  // namespace lowtide
