// Linear algebra and Fourier transforms beside what theory says of them.
#include <numbers>

#include "support.h"

namespace lowtide {
namespace {

array matrix(uint64_t seed, const Shape& shape, Dtype dtype = float64) {
  return astype(random::normal(shape, random::key(seed)), dtype);
}
array positive(uint64_t seed, const Shape& shape) {
  const array a = matrix(seed, shape);
  return matmul(a, swapaxes(a, -1, -2)) + eye(static_cast<int>(shape.back()), float64);
}
array turned(const array& a) { return swapaxes(a, -1, -2); }
double apart(const array& a, const array& b) {
  return max(abs(astype(a - b, a.dtype() == complex64 ? complex64 : float64))).item<float>();
}
array cut(const array& a, int64_t rows, int64_t columns) {
  Shape stop = a.shape();
  stop[stop.size() - 2] = rows;
  stop.back() = columns;
  return slice(a, Shape(stop.size(), 0), stop);
}
array ones_on(int n) { return eye(n, float64); }

TEST(ArraysLinalg, FactorsMultiplyToTheMatrix) {
  for (const Shape& shape : {Shape{5, 3}, Shape{3, 5}, Shape{4, 4}, Shape{2, 3, 4, 4}, Shape{2, 5, 3}, Shape{1, 1}}) {
    const array a = matrix(1, shape);
    const auto m = static_cast<int>(a.shape(-2)), n = static_cast<int>(a.shape(-1)), few = std::min(m, n);
    const auto [q, r] = linalg::qr(a);
    EXPECT_LT(apart(matmul(q, r), a), 1e-12);
    EXPECT_LT(apart(matmul(turned(q), q), ones_on(few)), 1e-12);
    EXPECT_EQ(apart(tril(r, -1), zeros_like(r)), 0);
    const auto usv = linalg::svd(a);
    const array s = usv[1];
    EXPECT_LT(apart(matmul(cut(usv[0], m, few) * expand_dims(s, -2), cut(usv[2], few, n)), a), 1e-12);
    EXPECT_LT(apart(matmul(turned(usv[0]), usv[0]), ones_on(m)), 1e-12);
    EXPECT_LT(apart(linalg::svd(a, false)[0], s), 1e-12);
    const auto plu = linalg::lu(a);
    const array product = matmul(plu[1], plu[2]);
    EXPECT_LT(apart(take_along_axis(product, broadcast_to(expand_dims(plu[0], -1), product.shape()), -2), a), 1e-12);
    EXPECT_EQ(plu[0].dtype(), uint32);
    EXPECT_LE(max(abs(plu[1])).item<double>(), 1.0 + 1e-12);  // pivots were chosen
    EXPECT_EQ(linalg::lu_factor(a).second.shape(-1), few);
  }
}

TEST(ArraysLinalg, ThePlantedErrorWouldBeSeen) {  // the control of the above
  const array a = matrix(1, {4, 4});
  const auto [q, r] = linalg::qr(a);
  EXPECT_GT(apart(matmul(q, r + array(1e-9, float64)), a), 1e-12);
}

TEST(ArraysLinalg, SystemsAreSolved) {
  for (const Shape& shape : {Shape{4, 4}, Shape{3, 4, 4}, Shape{40, 40}}) {
    const array a = matrix(2, shape), b = matrix(3, {a.shape(-1), 3}), v = matrix(4, {a.shape(-1)});
    EXPECT_LT(apart(matmul(a, linalg::solve(a, b)), broadcast_to(b, matmul(a, b).shape())), 1e-10);
    const array x = expand_dims(linalg::solve(a, v), -1);
    EXPECT_LT(apart(matmul(a, x), broadcast_to(expand_dims(v, -1), x.shape())), 1e-10);
    const array on = broadcast_to(ones_on(static_cast<int>(a.shape(-1))), a.shape());
    EXPECT_LT(apart(matmul(a, linalg::inv(a)), on), 1e-10);
    EXPECT_LT(apart(matmul(linalg::inv(a), a), on), 1e-10);
    const array p = positive(5, shape);
    const array l = linalg::cholesky(p), u = linalg::cholesky(p, true);
    EXPECT_LT(apart(matmul(l, turned(l)), p), 1e-10);
    EXPECT_LT(apart(u, turned(l)), 1e-12);
    EXPECT_LT(apart(matmul(linalg::cholesky_inv(l), p), on), 1e-9);
    EXPECT_LT(apart(matmul(linalg::cholesky_inv(u, true), p), on), 1e-9);
    EXPECT_LT(apart(matmul(l, linalg::tri_inv(l)), on), 1e-10);
    EXPECT_LT(apart(matmul(u, linalg::solve_triangular(u, b, true)), broadcast_to(b, matmul(u, b).shape())), 1e-10);
  }
  const array one({2.0F, 1.0F, 0.0F, 0.0F, 0.0F, 3.0F, 4.0F, 0.0F, 0.0F}, Shape{3, 3});  // has to exchange rows
  expect_near(linalg::solve(one, array({4.0F, 9.0F, 4.0F})), {1, 2, 3});
}

TEST(ArraysLinalg, EigenvaluesAreThoseThatAreKnown) {
  for (const Shape& shape : {Shape{5, 5}, Shape{2, 3, 3}}) {
    const array a = positive(6, shape);
    for (const char* which : {"L", "U"}) {
      const array half = which[0] == 'L' ? tril(a) : triu(a);
      const auto [w, v] = linalg::eigh(half, which);
      EXPECT_LT(apart(matmul(a, v), v * expand_dims(w, -2)), 1e-10);
      EXPECT_LT(apart(linalg::eigvalsh(half, which), w), 1e-10);
      EXPECT_TRUE(all(greater_equal(diff(w), array(0.0, float64))).item<bool>());
    }
  }
  const array turn({0.0F, -1.0F, 1.0F, 0.0F}, Shape{2, 2});
  const auto [w, v] = linalg::eig(turn);
  EXPECT_LT(apart(sort(imag(w)), array({-1.0F, 1.0F})), 1e-6);
  EXPECT_LT(apart(matmul(astype(turn, complex64), v), v * expand_dims(w, -2)), 1e-6);
  EXPECT_LT(apart(sort(imag(linalg::eigvals(astype(turn, complex64)))), array({-1.0F, 1.0F})), 1e-6);
}

TEST(ArraysLinalg, DeterminantsAndPseudoInverses) {
  const array x({1.0F, 2.0F, 4.0F, 7.0F});
  const array vandermonde = power(expand_dims(x, 1), arange(4.0));  // the product of all differences
  EXPECT_NEAR(linalg::det(vandermonde).item<float>(), 1 * 3 * 6 * 2 * 5 * 3, 1e-2F);
  const auto [sign, size] = linalg::slogdet(negative(vandermonde) * array({1.0F, 1.0F, 1.0F, -1.0F}));
  EXPECT_EQ(sign.item<float>(), -1.0F);
  EXPECT_NEAR(size.item<float>(), std::log(540.0F), 1e-4F);
  EXPECT_EQ(linalg::slogdet(zeros({2, 2})).first.item<float>(), 0.0F);
  EXPECT_EQ(linalg::slogdet(zeros({2, 2})).second.item<float>(), -INFINITY);
  for (const Shape& shape : {Shape{5, 3}, Shape{3, 5}, Shape{2, 4, 4}}) {
    const array a = matrix(7, shape), p = linalg::pinv(a);
    EXPECT_LT(apart(matmul(matmul(a, p), a), a), 1e-11);
    EXPECT_LT(apart(matmul(matmul(p, a), p), p), 1e-11);
    EXPECT_LT(apart(matmul(a, p), turned(matmul(a, p))), 1e-11);
  }
  const array thin = matmul(matrix(8, {4, 1}), matrix(9, {1, 3}));  // of rank one
  EXPECT_LT(apart(matmul(matmul(thin, linalg::pinv(thin)), thin), thin), 1e-11);
}

TEST(ArraysLinalg, NormsAreTheirDefinitions) {
  const array a({3.0F, -4.0F, 0.0F, 1.0F, 2.0F, -2.0F}, Shape{2, 3});
  const float inf = INFINITY;
  expect_near(linalg::norm(a), {std::sqrt(34.0F)});
  expect_near(linalg::norm(a, 1), {5, 3});
  expect_near(linalg::norm(a, 1, true), {5, 3});
  expect_near(linalg::norm(a, 0.0, 1), {2, 3});
  expect_near(linalg::norm(a, 1.0, 1), {7, 5});
  expect_near(linalg::norm(a, 3.0, 1), {std::cbrt(91.0F), std::cbrt(17.0F)});
  expect_near(linalg::norm(a, static_cast<double>(inf), 0), {3, 4, 2});
  expect_near(linalg::norm(a, -static_cast<double>(inf), 0), {1, 2, 0});
  expect_near(linalg::norm(a, 1.0), {6});
  expect_near(linalg::norm(a, -1.0), {2});
  expect_near(linalg::norm(a, static_cast<double>(inf)), {7});
  expect_near(linalg::norm(a, -static_cast<double>(inf)), {5});
  expect_near(linalg::norm(a, "fro"), {std::sqrt(34.0F)});
  const array s = linalg::svd(a, false)[0];
  expect_near(linalg::norm(a, "nuc"), {sum(s).item<float>()});
  expect_near(linalg::norm(a, 2.0), {max(s).item<float>()});
  expect_near(linalg::norm(a, -2.0, std::vector<int>{1, 0}), {min(s).item<float>()});
  EXPECT_EQ(linalg::norm(a, 2.0, std::vector<int>{0, 1}, true).shape(), (Shape{1, 1}));
  EXPECT_EQ(linalg::norm(stack({a, a, a, a}), "nuc", std::vector<int>{1, 2}, true).shape(), (Shape{4, 1, 1}));
  expect_near(linalg::norm(stack({a, a}, 1), "nuc", std::vector<int>{2, 0}),
              {sum(s).item<float>(), sum(s).item<float>()});
  expect_near(linalg::cross(array({1.0F, 2.0F, 3.0F}), array({4.0F, 5.0F, 6.0F})), {-3, 6, -3});
  expect_near(linalg::cross(array({1.0F, 2.0F}), array({4.0F, 5.0F, 6.0F})), {12, -6, -3});
  expect_near(linalg::cross(array({1.0F, 2.0F}), array({4.0F, 5.0F})), {-3});
}

TEST(ArraysLinalg, WhatDoesNotExistIsNaN) {
  EXPECT_TRUE(all(isnan(linalg::cholesky(array({1.0F, 2.0F, 2.0F, 1.0F}, Shape{2, 2})))).item<bool>());
  const array nan = full({3, 3}, NAN);
  EXPECT_TRUE(all(isnan(linalg::eigvalsh(nan))).item<bool>());
  EXPECT_FALSE(any(isfinite(linalg::solve(zeros({2, 2}), ones({2})))).item<bool>());
}

TEST(ArraysLinalg, FaultsAreSentences) {
  EXPECT_EQ(fault_of([] { linalg::inv(zeros({2, 3})); }), "inv: found the shape (2, 3), expected square matrices");
  EXPECT_EQ(fault_of([] { linalg::qr(zeros({2})); }), "qr: found an array of shape (2,), expected matrices");
  EXPECT_EQ(fault_of([] { linalg::svd(zeros({2, 2}, float16)); }), "svd: found float16, expected float32 or float64");
  EXPECT_EQ(fault_of([] { linalg::eig(zeros({2, 2}, float64)); }), "eig: found float64, expected float32 or complex64");
  EXPECT_EQ(fault_of([] { linalg::solve(zeros({2, 2}), zeros({3})); }),
            "solve: found the shapes (2, 2) and (3,), whose extents differ");
  EXPECT_EQ(fault_of([] { linalg::eigh(zeros({2, 2}), "X"); }),
            "eigh: found the triangle \"X\", expected \"L\" or \"U\"");
  EXPECT_EQ(fault_of([] { linalg::norm(zeros({2, 2}), 3.0); }),
            "norm: found the order 3 of matrices, expected 1, 2 or infinity, or a negative of them");
  EXPECT_EQ(fault_of([] { grad(OneToOne([](const array& a) { return sum(real(linalg::eig(a).second)); }))(eye(2)); }),
            "eig: found a derivative of eigenvectors, of which any multiple is one; eigenvalues have one");
  EXPECT_EQ(fault_of([] { fft::fft(zeros({3}), 0, 0); }), "fftn: found an extent of 0, expected one from 1 on");
  EXPECT_EQ(fault_of([] { fft::rfft(zeros({3}, complex64)); }), "rfftn: found complex64, expected real numbers");
}

TEST(ArraysFft, WavesAreSingleFrequencies) {
  for (const int n : {1, 2, 7, 12, 64}) {
    const array j = arange(static_cast<double>(n));
    for (const int k : {0, 1, n / 2}) {
      const array angle = j * static_cast<float>(2 * std::numbers::pi * k / n);
      const array found = fft::fft(cos(angle)), half = fft::rfft(cos(angle));
      const array expected = where(logical_or(equal(arange(n), array(k % n)), equal(arange(n), array((n - k) % n))),
                                   array(2 * k % n == 0 ? 1.0F * n : 0.5F * n), array(0.0F));
      EXPECT_LT(apart(real(found), expected), 1e-4 * n);
      EXPECT_LT(apart(imag(found), zeros({n})), 1e-4 * n);
      EXPECT_LT(apart(half, slice(found, {0}, {n / 2 + 1})), 1e-4 * n);
    }
  }
}

TEST(ArraysFft, InversesAndEnergies) {
  const array a = matrix(1, {3, 4, 5, 6}, float32);
  const array z = astype(a, complex64) + fft::fft(a, 1);
  for (const auto norm : {fft::FFTNorm::Backward, fft::FFTNorm::Ortho, fft::FFTNorm::Forward}) {
    EXPECT_LT(apart(fft::ifftn(fft::fftn(z, norm), norm), z), 1e-4);  // four dimensions at once
    EXPECT_LT(apart(fft::ifft2(fft::fft2(z, {0, 2}, norm), {0, 2}, norm), z), 1e-4);
    EXPECT_LT(apart(fft::irfftn(fft::rfftn(a, norm), norm), a), 1e-4);
    EXPECT_LT(apart(fft::irfft(fft::rfft(a, 1, norm), 4, 1, norm), a), 1e-4);
    EXPECT_LT(apart(fft::irfft(fft::rfft(a, 2, norm), 5, 2, norm), a), 1e-4);  // an odd extent
  }
  const array energy = sum(square(abs(fft::fftn(z, fft::FFTNorm::Ortho)))) / sum(square(abs(z)));
  EXPECT_NEAR(energy.item<float>(), 1, 1e-5);
  EXPECT_LT(apart(fft::fftn(z), fft::fft(fft::fft(fft::fft(fft::fft(z, 0), 1), 2), 3)), 2e-3);
  EXPECT_GT(apart(fft::fftn(z), fft::fft(fft::fft(fft::fft(z, 0), 1), 2)), 1.0);  // the control
  EXPECT_EQ(fft::rfft2(a, {8, 3}, {1, 3}).shape(), (Shape{3, 8, 5, 2}));
  EXPECT_LT(apart(fft::fft(z, 9, 1), fft::fft(pad(z, std::vector<int>{1}, Shape{0}, Shape{5}), 1)), 1e-5);
  EXPECT_LT(apart(fft::fft(z, 2, 1), fft::fft(slice(z, {0, 0, 0, 0}, {3, 2, 5, 6}), 1)), 1e-5);
  expect_near(fft::fftfreq(5, 0.5), {0, 0.4F, 0.8F, -0.8F, -0.4F});
  expect_near(fft::fftfreq(4), {0, 0.25F, -0.5F, -0.25F});
  expect_near(fft::rfftfreq(4), {0, 0.25F, 0.5F});
  expect_near(fft::fftshift(arange(5.0)), {3, 4, 0, 1, 2});
  expect_near(fft::ifftshift(fft::fftshift(arange(5.0))), {0, 1, 2, 3, 4});
  EXPECT_LT(apart(fft::ifftshift(fft::fftshift(a, {1, 2}), {1, 2}), a), 1e-9);
}

}  // namespace
}  // namespace lowtide
