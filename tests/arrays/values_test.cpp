// Values that MLX 0.32.4 gives, and what its functions refuse.
#include "support.h"

namespace lowtide {
namespace {

TEST(ArraysValues, OrderAndDifference) {
  const array a({2, 1, 2, 3, 1});
  const auto made = unique(a, 4, true, true, true, array(0));
  EXPECT_EQ(ints(made[0]), (std::vector<int>{1, 2, 3, 0}));
  EXPECT_EQ(ints(made[1]), (std::vector<int>{1, 0, 3, 1}));
  EXPECT_EQ(ints(made[2]), (std::vector<int>{1, 0, 1, 2, 0}));
  EXPECT_EQ(ints(made[3]), (std::vector<int>{2, 2, 1, 0}));
  EXPECT_EQ(made[1].dtype(), uint32);
  EXPECT_EQ(made[3].dtype(), int32);
  const auto cut = unique(a, 2, false, true, true);
  EXPECT_EQ(ints(cut[1]), (std::vector<int>{1, 0, 1, 1, 0}));
  EXPECT_EQ(ints(cut[2]), (std::vector<int>{2, 2}));
  const auto each = unique(array({1.0F, NAN, NAN}), 4, false, false, true);  // NaN differs from NaN
  EXPECT_EQ(ints(each[1]), (std::vector<int>{1, 1, 1, 0}));
  EXPECT_NE(fault_of([] { unique(zeros({0}), 1); }), "");

  const array line({1.0F, 2.0F, NAN});
  EXPECT_EQ(ints(searchsorted(line, array({NAN, 2.0F}))), (std::vector<int>{2, 1}));
  EXPECT_EQ(ints(searchsorted(line, array({NAN, 2.0F}), "right")), (std::vector<int>{3, 2}));
  EXPECT_EQ(fault_of([&] { searchsorted(line, line, "middle"); }),
            "searchsorted: found the side \"middle\", expected \"left\" or \"right\"");

  const array z({complex64_t(1, 2), complex64_t(1, 1), complex64_t(0, 5)});
  EXPECT_EQ(ints(argsort(z)), (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(ints(argmax(z)), (std::vector<int>{0}));
  EXPECT_EQ(min(z).item<complex64_t>(), complex64_t(0, 5));
  EXPECT_EQ(ints(less(z, flip(z))), (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(floats(real(median(array({complex64_t(0, 1), complex64_t(2), complex64_t(3)})))), std::vector<float>{2});
  const auto [least, most] = minmax(array({3, 1, 2}));
  EXPECT_EQ(least.item<int>(), 1);
  EXPECT_EQ(most.item<int>(), 3);
}

TEST(ArraysValues, RunningSumsKeepTheirType) {
  const array a({1, 5, 2}, int8);
  EXPECT_EQ(cumsum(a).dtype(), int8);
  EXPECT_EQ(cumsum(array({true, true})).dtype(), int32);
  EXPECT_EQ(cumprod(array({true, false})).dtype(), bool_);
  expect_near(cumsum(a, 0, false, true, float32), {1, 6, 8});
  EXPECT_EQ(ints(cumsum(array({1.5F, 2.5F}), false, true, int8)), (std::vector<int>{1, 3}));
  EXPECT_EQ(ints(cummax(a, 0, false, false)), (std::vector<int>{-128, 1, 5}));
  EXPECT_EQ(elements<int64_t>(cummin(astype(a, int64), 0, false, false))[0], INT64_MAX);
  EXPECT_EQ(elements<uint8_t>(cummin(astype(a, uint8), 0, false, false))[0], 255);
}

TEST(ArraysValues, Integers) {
  EXPECT_EQ(ints(floor_divide(array({-7, 7, -6}), array({2, -2, 2}))), (std::vector<int>{-4, -4, -3}));
  EXPECT_EQ(left_shift(array(true), array(1, int8)).dtype(), int8);
  EXPECT_EQ(ints(power(array({true, true, false, false}), array({true, false, true, false}))),
            (std::vector<int>{1, 1, 0, 1}));
  EXPECT_EQ(ints(logical_xor(array({1, 0, 2}), array({1, 1, 0}))), (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(var(array({complex64_t(0, 1), complex64_t(2), complex64_t(3)})).dtype(), float32);
  EXPECT_EQ(addmm(zeros({1, 1}), zeros({1, 1}, float16), zeros({1, 1}, float16)).dtype(), float32);
}

TEST(ArraysValues, FloatsOfEightBits) {
  const array x({0.0F, 1.0F, -1.0F, 448.0F, 464.0F, 1e9F, NAN, 1e-3F, 0x1p-9F, 0x1p-10F, 0x1.8p-9F, -0.0F});
  EXPECT_EQ(ints(to_fp8(x)), (std::vector<int>{0, 56, 184, 126, 126, 126, 126, 1, 1, 0, 2, 128}));
  expect_near(from_fp8(array({0, 1, 0x7e, 0xfe, 8, 0x38}, uint8), float32), {0, 0x1p-9F, 448, -448, 0x1p-6F, 1});
  EXPECT_TRUE(std::isnan(floats(from_fp8(array({0xff}, uint8), float16))[0]));
  const array all = astype(arange(127), uint8);
  EXPECT_EQ(ints(to_fp8(from_fp8(all, bfloat16))), ints(all));
}

TEST(ArraysValues, Shapes) {
  const array a = reshape(arange(6), {2, 3});
  EXPECT_EQ(ints(roll(a, Shape{1, 1})), (std::vector<int>{4, 5, 0, 1, 2, 3}));
  EXPECT_EQ(ints(roll(a, Shape{1, 3}, 1)), (std::vector<int>{2, 0, 1, 5, 3, 4}));
  expect_near(pad(array({1.0F, 2.0F, 3.0F}), 4, array(0), "reflect"), {1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3});
  expect_near(pad(array({1.0F, 2.0F}), 3, array(0), "symmetric"), {2, 2, 1, 1, 2, 2, 1, 1});
  const auto parts = split(arange(6), Shape{3, 1});
  EXPECT_EQ(parts[1].size(), 0U);
  EXPECT_EQ(parts[2].size(), 5U);
  EXPECT_EQ(atleast_2d(std::vector<array>{array(1), a})[0].shape(), (Shape{1, 1}));
  EXPECT_EQ(zeros_like(a, float16).dtype(), float16);
  const array mask({true, false, true, false, true, false}, {2, 3});
  EXPECT_EQ(ints(masked_scatter(a, mask, array({10, 11, 12, 13}))), (std::vector<int>{10, 1, 11, 3, 12, 5}));
  EXPECT_EQ(ints(masked_scatter(a, array({false, true}), array({7, 8, 9}))), (std::vector<int>{0, 1, 2, 7, 8, 9}));
  EXPECT_EQ(ints(depends({a}, {sum(a)})[0]), ints(a));
  EXPECT_EQ(ints(take(zeros({0, 3}), zeros({0}, int32), 0)).size(), 0U);
}

TEST(ArraysValues, Products) {
  expect_near(hadamard_transform(array({1, 2, 3, 4})), {5, -1, -2, 0});
  expect_near(take(hadamard_transform(eye(12), 1.0F), 1, 0), {-1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1});
  const array h = hadamard_transform(eye(56));
  EXPECT_TRUE(allclose(matmul(h, transpose(h)), eye(56), 1e-5, 1e-5).item<bool>());
  EXPECT_NE(fault_of([] { hadamard_transform(zeros({3})); }), "");
  const array row = reshape(arange(6.0), {1, 6});
  expect_near(segmented_mm(row, ones({6, 1}), array({0, 2, 2, 6, 3, 3}, {3, 2})), {1, 14, 0});
  const array a = reshape(arange(8.0), {2, 2, 2});
  expect_near(gather_mm(a, a, array({1}), array({0})), {10, 19, 14, 27});
  expect_near(block_masked_mm(ones({3, 4}), ones({4, 1}), 2, array({0.5F, 2.0F}, {2, 1})), {2, 2, 8});
  expect_near(block_masked_mm(ones({3, 4}), ones({4, 1}), 2, {}, array({true, true, false, true}, {2, 2})), {4, 4, 2});
  expect_near(einsum("...ij,kj->...ki", {a, ones({1, 2})}), {1, 5, 9, 13});
  expect_near(einsum("...i->i...", {a}), floats(transpose(a, {2, 0, 1})));
  const auto [path, text] = einsum_path("ij,jk,kl->il", {zeros({2, 3}), zeros({3, 4}), zeros({4, 5})});
  EXPECT_EQ(path, (std::vector<std::vector<int>>{{0, 1}, {0, 1}}));
  EXPECT_NE(text.find("operations:  128"), std::string::npos);
}

TEST(ArraysValues, TransposedConvolutions) {
  const array x({1.0F, 2.0F, 3.0F}, {1, 3, 1}), w({1.0F, 10.0F, 100.0F}, {1, 3, 1});
  expect_near(conv_transpose1d(x, w), {1, 12, 123, 230, 300});
  expect_near(conv_transpose1d(x, w, 2, 1, 1, 1), {10, 102, 20, 203, 30, 300});
  expect_near(conv_transpose1d(x, w, 2, 0, 2, 1), {1, 0, 12, 0, 123, 0, 230, 0, 300, 0});
  expect_near(conv3d(ones({1, 2, 2, 2, 1}), ones({1, 2, 2, 2, 1})), {8});
  expect_near(conv_transpose3d(ones({1, 1, 1, 1, 1}), ones({1, 1, 1, 2, 1})), {1, 1});
  expect_near(conv_transpose2d(ones({1, 1, 1, 1}), ones({1, 2, 2, 1})), {1, 1, 1, 1});
}

TEST(ArraysValues, PartsOfASignal) {
  using namespace fft;
  const array made = stft(arange(10.0), 4, 2, 3, array({1.0F, 2.0F, 3.0F}), false);
  expect_near(real(made), {8, 20, 32, 44, -6, -10, -14, -18, 4, 8, 12, 16});
  expect_near(istft(stft(arange(11.0), 4, 5, {}, {}, false), {}, 5, {}, {}, false), {0, 1, 2, 3, 0, 5, 6, 7, 8});
  const array window({0.5F, 1.0F, 2.0F, 1.5F});
  expect_near(istft(stft(arange(10.0), 4, 2, {}, window), {}, 2, {}, window, true, FFTNorm::Backward, {}, 12),
              {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7}, 1e-4F);
  EXPECT_EQ(fault_of([] { stft(zeros({3}), 4, {}, {}, {}, false); }), "stft: found 3 elements, expected at least 4");
}

TEST(ArraysValues, Models) {
  const array logits({1.0F, 2.0F, 3.0F, 3.0F, 2.0F, 1.0F}, {2, 3});
  expect_near(fast::cross_entropy(logits, array({0, 2})), {2.4076058864593506F, 2.4076058864593506F});
  const auto wave = [](const Shape& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return reshape(sin(astype(arange(static_cast<int>(count)), float32)), shape);
  };
  const auto cosine = [](const Shape& shape, float scale) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return cos(sin(reshape(astype(arange(static_cast<int>(count)), float32), shape)) * scale);
  };
  expect_near(fast::scaled_dot_product_attention(wave({1, 2, 2, 2}), cosine({1, 1, 3, 2}, 2), wave({1, 1, 3, 2}) * 3.0F,
                                                 0.5F, "causal", {}, array({0.5F, -1.0F})),
              {0.9964750F, 0.7419463F, 0.0650167F, 0.2840712F, 1.0592810F, 1.1876701F, 0.5284439F, 0.0468286F}, 1e-4F);
  const auto made = fast::gated_delta_update(wave({1, 3, 1, 2}), cosine({1, 3, 1, 2}, 1), wave({1, 3, 2, 2}) * 2.0F,
                                             array({0.9F, 0.8F, 0.7F, 0.6F, 0.5F, 0.4F}, {1, 3, 2}),
                                             array({0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F}, {1, 3, 2}), {},
                                             array({true, false, true}, {1, 3}));
  expect_near(made[0],
              {0, 0.0943673F, 0.2039475F, 0.0316520F, 0, 0, 0, 0, -1.0893121F, -0.5197963F, 0.6223727F, 1.3062599F},
              1e-4F);
  expect_near(made[1],
              {0.7192982F, 0.5682882F, 0.3498242F, 0.2659735F, -0.3995724F, -0.3336816F, -0.8607855F, -0.6828644F},
              1e-4F);
  const array x = reshape(arange(16.0), {2, 1, 2, 4});
  const array each = fast::rope(x, 4, false, 10.0F, 1, array({1, 2}));
  expect_near(take(each, 1, 0), floats(take(fast::rope(x, 4, false, 10.0F, 1, 2), 1, 0)));
}

}  // namespace
}  // namespace lowtide
