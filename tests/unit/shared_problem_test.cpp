// Large problems that take all threads, against what defines their results, in f64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "matrices.h"

namespace lowtide::engine::library_test {
namespace {

/// Orders around panels and tiles; the second matrix of a batch is scaled beyond what squares stand, others have most
/// of their eigenvalues in common or fall apart.
TEST(SharedProblem, EigenvaluesAndVectors) {
  std::mt19937 random(5);
  for (const std::string type : {"f32", "f64"}) {
    for (const int64_t n : {int64_t{256}, int64_t{289}}) {
      const Problem p{type, n == 256 ? 6 : 2, n, n};
      SCOPED_TRACE(p.words());
      Matrices a = draw(p, random);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          a(1, i, j) *= type == "f32" ? 0x1p110 : 0x1p1000;
          for (int64_t l = 2; l < p.batch; ++l) {
            const double of_each[] = {0, i == j ? 1.0 : 0.0, 1, (i - j) % 2 == 0 && i - j < 5 ? a(l, i, j) : 0};
            a(l, i, j) = of_each[l - 2];
          }
          for (int64_t l = 0; l < p.batch; ++l) a(l, j, i) = a(l, i, j);
        }
      }
      for (const char uplo : {n == 256 ? 'L' : 'U'}) {
        Matrices given = a;  // the other triangle is nobody's
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < i; ++j) (uplo == 'L' ? given(0, j, i) : given(0, i, j)) = 77;
        }
        const auto solve = [&](char mode) {
          return call("syevd", fmt::format("mode = {} : ui8, uplo = {} : ui8", int{mode}, int{uplo}), {matrix(p)},
                      {matrix(p), vector(p, n), info(p)}, {given.numbers});
        };
        const auto got = solve('V'), without = solve('N');
        const Matrices v{n, n, got[0]};
        expect_orthonormal_columns(v, p.tolerance());
        const Matrices turned = product(a, v);
        for (int64_t l = 0; l < p.batch; ++l) {
          EXPECT_EQ(got[2][l], 0.0);
          const double* values = &got[1][l * n];
          const double largest = std::max(std::fabs(values[0]), std::fabs(values[n - 1]));
          for (int64_t k = 0; k < n; ++k) {
            if (k > 0) {
              EXPECT_LE(values[k - 1], values[k]);
            }
            EXPECT_NEAR(values[k], without[1][l * n + k], p.tolerance() * largest);
            for (int64_t i = 0; i < n; ++i) {
              ASSERT_LE(std::fabs(turned(l, i, k) - values[k] * v(l, i, k)), p.tolerance() * largest) << i << " " << k;
            }
          }
        }
      }
    }
  }
}

/// Tall, wide and square; LAPACK's reflectors are unique, and q may have fewer of them than columns.
TEST(SharedProblem, OrthogonalFactors) {
  std::mt19937 random(5);
  for (const std::string type : {"f32", "f64"}) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{384, 384}, {430, 391}, {400, 417}, {3001, 50}, {90, 1000}}) {
      const Problem p{type, 2, m, n};
      SCOPED_TRACE(p.words());
      const Matrices a = draw(p, random);
      const int64_t few = std::min(m, n);
      const auto got = call("geqrf", "", {matrix(p)}, {matrix(p), vector(p, few)}, {a.numbers});
      const Matrices factored{m, n, got[0]};
      Matrices r{few, n, Numbers(static_cast<size_t>(2 * few * n))};
      Matrices reflectors{m, few, Numbers(static_cast<size_t>(2 * m * few))};
      for (int64_t l = 0; l < 2; ++l) {
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < few; ++j) reflectors(l, i, j) = factored(l, i, j);
          for (int64_t j = i; j < n && i < few; ++j) r(l, i, j) = factored(l, i, j);
        }
        EXPECT_EQ(std::signbit(r(l, 0, 0)), a(l, 0, 0) >= 0);
      }
      const Problem thin{type, 2, m, few};
      const auto made = call("orgqr", "", {matrix(thin), vector(p, few)}, {matrix(thin)}, {reflectors.numbers, got[1]});
      const Matrices q{m, few, made[0]};
      expect_orthonormal_columns(q, p.tolerance());
      expect_near(product(q, r), a, p.tolerance());

      const int64_t fewer = few / 2;  // the same columns, as far as these go
      Numbers taus;
      for (int64_t l = 0; l < 2; ++l) {
        taus.insert(taus.end(), got[1].begin() + l * few, got[1].begin() + l * few + fewer);
      }
      const auto part = call("orgqr", "", {matrix(thin), vector(p, fewer)}, {matrix(thin)}, {reflectors.numbers, taus});
      const Matrices part_of_q{m, few, part[0]};
      expect_orthonormal_columns(part_of_q, p.tolerance());
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < fewer; ++j) ASSERT_NEAR(part_of_q(1, i, j), q(1, i, j), p.tolerance());
      }
    }
  }
}

/// From orders that one thread factors by blocks on; pivots are those of the largest elements.
TEST(SharedProblem, FactorsWithPivots) {
  std::mt19937 random(5);
  for (const std::string type : {"f32", "f64"}) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{64, 64}, {100, 131}, {130, 97}, {385, 420}}) {
      const Problem p{type, 3, m, n};
      SCOPED_TRACE(p.words());
      Matrices a = draw(p, random);
      const int64_t few = std::min(m, n);
      for (int64_t i = 0; i < m; ++i) a(1, i, 40) = 0;
      const auto got = call("getrf", "", {matrix(p)}, {matrix(p), {"s32", {3, few}}, info(p)}, {a.numbers});
      const Matrices both{m, n, got[0]};
      Matrices lower{m, few, Numbers(static_cast<size_t>(3 * m * few))};
      Matrices upper{few, n, Numbers(static_cast<size_t>(3 * few * n))};
      for (int64_t l = 0; l < 3; ++l) {
        EXPECT_EQ(got[2][l], l == 1 ? 41.0 : 0.0);
        for (int64_t k = 0; k < few; ++k) {
          const auto pivot = static_cast<int64_t>(got[1][l * few + k]) - 1;
          ASSERT_TRUE(k <= pivot && pivot < m);
          for (int64_t j = 0; j < n; ++j) std::swap(a(l, k, j), a(l, pivot, j));
          for (int64_t i = k; i < m; ++i) {
            lower(l, i, k) = i == k ? 1 : both(l, i, k);
            EXPECT_LE(std::fabs(lower(l, i, k)), 1 + p.epsilon());
          }
          for (int64_t j = k; j < n; ++j) upper(l, k, j) = both(l, k, j);
        }
      }
      expect_near(product(lower, upper), a, p.tolerance());
    }
  }
}

TEST(SharedProblem, ComplexFactorsAsDefined) {
  for (const int n : {70, 390}) {
    const std::string layout = fmt::format("c128[2,{0},{0}]{{1,2,0}}", n);
    expect_as_defined(fmt::format("HloModule m\nENTRY e {{\n  a = c128[2,{0},{0}] parameter(0)\n  ROOT r = ({1}, "
                                  "s32[2,{0}], s32[2]) custom-call(a), custom_call_target=\"lapack_zgetrf_ffi\", "
                                  "operand_layout_constraints={{{1}}}, backend_config={{}}\n}}\n",
                                  n, layout),
                      1e-12, 1, true);
  }
}

TEST(SharedProblem, SingularValuesAndVectors) {
  std::mt19937 random(5);
  for (const std::string type : {"f32", "f64"}) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{256, 256}, {317, 261}}) {
      const Problem p{type, 2, m, n};
      SCOPED_TRACE(p.words());
      Matrices a = draw(p, random);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) a(1, i, j) *= type == "f32" ? 0x1p-110 : 0x1p-1000;
      }
      for (const char mode : {'S', 'A'}) {
        const int64_t lefts = mode == 'A' ? m : n;
        const auto solve = [&](char wanted) {
          return call("gesdd", fmt::format("mode = {} : ui8", int{wanted}), {matrix(p)},
                      {matrix(p), vector(p, n), {type, {2, m, lefts}}, {type, {2, n, n}}, info(p)}, {a.numbers});
        };
        const auto got = solve(mode), without = solve('N');
        Matrices u{m, lefts, got[2]};
        const Matrices vt{n, n, got[3]};
        expect_orthonormal_columns(u, p.tolerance());
        expect_orthonormal_columns(transposed(vt), p.tolerance());
        Matrices scaled{m, n, Numbers(static_cast<size_t>(2 * m * n))};
        for (int64_t l = 0; l < 2; ++l) {
          EXPECT_EQ(got[4][l], 0.0);
          const double* values = &got[1][l * n];
          for (int64_t k = 0; k < n; ++k) {
            if (k > 0) {
              EXPECT_GE(values[k - 1], values[k]);
            }
            EXPECT_NEAR(values[k], without[1][l * n + k], p.tolerance() * values[0]);
            for (int64_t i = 0; i < m; ++i) scaled(l, i, k) = u(l, i, k) * values[k];
          }
        }
        const Matrices back = product(scaled, vt);
        for (int64_t l = 0; l < 2; ++l) {
          const double largest = got[1][l * n];
          for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
              ASSERT_LE(std::fabs(back(l, i, j) - a(l, i, j)), p.tolerance() * largest) << i << " " << j;
            }
          }
        }
      }
    }
  }
}

TEST(SharedProblem, EigenvaluesOfNothingFinite) {
  const Problem p{"f64", 2, 260, 260};
  std::mt19937 random(3);
  Matrices a = draw(p, random);
  a(1, 250, 3) = std::numeric_limits<double>::infinity();
  const auto got =
      call("syevd", "mode = 86 : ui8, uplo = 76 : ui8", {matrix(p)}, {matrix(p), vector(p, p.n), info(p)}, {a.numbers});
  for (int64_t l = 0; l < p.batch; ++l) {
    EXPECT_EQ(got[2][l] != 0, l == 1);
    for (int64_t k = 0; k < p.n; ++k) EXPECT_EQ(std::isnan(got[1][l * p.n + k]), l == 1);
  }
}

}  // namespace
}  // namespace lowtide::engine::library_test
