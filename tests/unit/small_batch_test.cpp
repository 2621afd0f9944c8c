// Batches of small matrices against what defines their results, in f64: orders around the widths of vectors and tiles,
// batches that leave lanes empty, matrices that make special cases.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "matrices.h"

namespace lowtide::engine::library_test {
namespace {

/// Shapes of both types that lanes, tiles and blocks don't divide, and others.
void for_each_problem(bool square, const std::function<void(const Problem&, std::mt19937&)>& test) {
  std::mt19937 random(7);
  for (const std::string type : {"f32", "f64"}) {
    for (int round = 0; round < 24; ++round) {
      const auto draw = [&](int64_t least, int64_t most) {
        return least + static_cast<int64_t>(random()) % (most - least + 1);
      };
      Problem problem{type, draw(8, 40), round < 12 ? round + 1 : draw(1, 32), 0};
      problem.n = square || round % 3 == 0 ? problem.m : draw(1, 32);
      if (round == 22) problem = {type, 37, 45, square ? 45 : 19};
      if (round == 23) problem.m = problem.n = 32;
      SCOPED_TRACE(problem.words());
      test(problem, random);
      if (testing::Test::HasFailure()) return;
    }
  }
}

/// Symmetric, its smallest eigenvalue far from zero.
Matrices definite(const Problem& p, std::mt19937& random) {
  const Matrices a = draw(p, random);
  Matrices made = product(a, a, true);
  for (int64_t l = 0; l < p.batch; ++l) {
    for (int64_t i = 0; i < p.n; ++i) made(l, i, i) += static_cast<double>(p.n);
  }
  return made;
}

TEST(SmallBatch, CholeskyFactors) {
  for_each_problem(true, [](const Problem& p, std::mt19937& random) {
    Matrices a = definite(p, random);
    const int64_t bad = static_cast<int64_t>(random()) % p.batch, at = static_cast<int64_t>(random()) % p.n;
    a(bad, at, at) = -1;  // in one matrix only
    for (const bool lower : {true, false}) {
      const auto got = call("potrf", fmt::format("uplo = {} : ui8", lower ? 76 : 85), {matrix(p)}, {matrix(p), info(p)},
                            {a.numbers});
      Matrices factor{p.n, p.n, got[0]}, want = a;
      for (int64_t l = 0; l < p.batch; ++l) {
        EXPECT_EQ(got[1][l], l == bad ? static_cast<double>(at + 1) : 0.0);
        for (int64_t i = 0; i < p.n; ++i) {
          for (int64_t j = 0; j < p.n; ++j) {
            const bool other = lower ? j > i : j < i;
            if (other) {
              EXPECT_EQ(factor(l, i, j), p.type == "f32" ? static_cast<float>(a(l, i, j)) : a(l, i, j));
            }
            if (other || l == bad) factor(l, i, j) = 0;
            if (l == bad) want(l, i, j) = 0;
          }
        }
      }
      if (!lower) factor = transposed(factor);
      expect_near(product(factor, factor, true), want, p.tolerance());
    }
  });
}

TEST(SmallBatch, TriangularSystems) {
  for_each_problem(false, [](const Problem& p, std::mt19937& random) {
    const Matrices x = draw(p, random);
    const char uplo = random() % 2 == 0 ? 'L' : 'U', diag = random() % 2 == 0 ? 'N' : 'U';
    for (const char side : {'L', 'R'}) {
      for (const char trans : {'N', 'T', 'C'}) {
        const int64_t order = side == 'L' ? p.m : p.n;
        const Problem square{p.type, p.batch, order, order};
        Matrices a = draw(square, random), used = a;
        for (int64_t l = 0; l < p.batch; ++l) {
          for (int64_t i = 0; i < order; ++i) {
            for (int64_t j = 0; j < order; ++j) {
              a(l, i, j) = i == j ? a(l, i, i) + 8 : a(l, i, j) / static_cast<double>(order);
              const bool counts = i == j ? diag == 'N' : (uplo == 'L') == (j < i);
              used(l, i, j) = counts ? p.type == "f32" ? static_cast<float>(a(l, i, j)) : a(l, i, j) : i == j;
            }
          }
        }
        const Matrices op = trans == 'N' ? used : transposed(used);
        const Matrices b = side == 'L' ? product(op, x) : product(x, op);
        const auto got = call("trsm",
                              fmt::format("side = {} : ui8, uplo = {} : ui8, trans_x = {} : ui8, diag = {} : ui8",
                                          int{side}, int{uplo}, int{trans}, int{diag}),
                              {matrix(square), matrix(p)}, {matrix(p)}, {a.numbers, b.numbers});
        expect_near({p.m, p.n, got[0]}, x, p.tolerance());
      }
    }
  });
}

TEST(SmallBatch, FactorsWithPivots) {
  for_each_problem(false, [](const Problem& p, std::mt19937& random) {
    Matrices a = draw(p, random);
    const int64_t few = std::min(p.m, p.n), bad = static_cast<int64_t>(random()) % p.batch;
    const int64_t zero = static_cast<int64_t>(random()) % few;
    for (int64_t i = 0; i < p.m; ++i) a(bad, i, zero) = 0;
    const Array pivots{"s32", {p.batch, few}};
    const auto got = call("getrf", "", {matrix(p)}, {matrix(p), pivots, info(p)}, {a.numbers});
    Matrices lower{p.m, few, Numbers(static_cast<size_t>(p.batch * p.m * few))};
    Matrices upper{few, p.n, Numbers(static_cast<size_t>(p.batch * few * p.n))}, exchanged = a;
    const Matrices both{p.m, p.n, got[0]};
    for (int64_t l = 0; l < p.batch; ++l) {
      EXPECT_EQ(got[2][l], l == bad ? static_cast<double>(zero + 1) : 0.0);
      for (int64_t k = 0; k < few; ++k) {
        const auto pivot = static_cast<int64_t>(got[1][l * few + k]) - 1;
        ASSERT_TRUE(k <= pivot && pivot < p.m);
        for (int64_t j = 0; j < p.n; ++j) std::swap(exchanged(l, k, j), exchanged(l, pivot, j));
        for (int64_t i = k; i < p.m; ++i) {
          lower(l, i, k) = i == k ? 1 : both(l, i, k);
          EXPECT_LE(std::fabs(lower(l, i, k)), 1 + p.epsilon());
        }
        for (int64_t j = k; j < p.n; ++j) upper(l, k, j) = both(l, k, j);
      }
    }
    expect_near(product(lower, upper), exchanged, p.tolerance());
  });
}

TEST(SmallBatch, OrthogonalFactors) {
  for_each_problem(false, [](const Problem& p, std::mt19937& random) {
    Matrices a = draw(p, random);
    const int64_t few = std::min(p.m, p.n), special = static_cast<int64_t>(random()) % p.batch;
    for (int64_t i = 0; i < p.m; ++i) {  // zeros, what would overflow, what would vanish
      for (int64_t j = 0; j < p.n; ++j) {
        if (j == 0) a(special, i, j) = 0;
        a((special + 1) % p.batch, i, j) *= p.type == "f32" ? 0x1p100 : 0x1p900;
        a((special + 2) % p.batch, i, j) *= p.type == "f32" ? 0x1p-110 : 0x1p-960;
      }
    }
    const auto got = call("geqrf", "", {matrix(p)}, {matrix(p), vector(p, few)}, {a.numbers});
    const Matrices factored{p.m, p.n, got[0]};
    Matrices r{few, p.n, Numbers(static_cast<size_t>(p.batch * few * p.n))};
    Matrices reflectors{p.m, few, Numbers(static_cast<size_t>(p.batch * p.m * few))};
    for (int64_t l = 0; l < p.batch; ++l) {
      for (int64_t i = 0; i < p.m; ++i) {
        for (int64_t j = 0; j < few; ++j) reflectors(l, i, j) = factored(l, i, j);
        for (int64_t j = i; j < p.n && i < few; ++j) r(l, i, j) = factored(l, i, j);
      }
    }
    const Problem thin{p.type, p.batch, p.m, few};
    const auto made = call("orgqr", "", {matrix(thin), vector(p, few)}, {matrix(thin)}, {reflectors.numbers, got[1]});
    const Matrices q{p.m, few, made[0]};
    expect_orthonormal_columns(q, p.tolerance());
    const Matrices back = product(q, r);
    for (int64_t l = 0; l < p.batch; ++l) {  // each beside its own largest element
      const auto one = [&](const Matrices& all) {
        const auto begin = all.numbers.begin() + l * p.m * p.n;
        return Matrices{p.m, p.n, Numbers(begin, begin + p.m * p.n)};
      };
      expect_near(one(back), one(a), p.tolerance());
    }
  });
}

/// Householder's reflectors are unique by LAPACK's convention: as the definition has them.
TEST(SmallBatch, ReflectorsAsDefined) {
  for (const auto& [m, n] : {std::pair{5, 5}, {7, 3}, {3, 8}, {17, 17}, {32, 9}}) {
    const std::string layout = fmt::format("f64[9,{},{}]{{1,2,0}}", m, n);
    expect_as_defined(
        fmt::format("HloModule m\nENTRY e {{\n  a = f64[9,{0},{1}] parameter(0)\n  ROOT r = ({2}, f64[9,{3}]) "
                    "custom-call(a), custom_call_target=\"lapack_dgeqrf_ffi\", "
                    "operand_layout_constraints={{{2}}}, backend_config={{}}\n}}\n",
                    m, n, layout, std::min(m, n)),
        1e-12, 3);
  }
}

TEST(SmallBatch, EigenvaluesAndVectors) {
  for_each_problem(true, [](const Problem& p, std::mt19937& random) {
    Matrices a = draw(p, random);
    const double huge = p.type == "f32" ? 0x1p120 : 0x1p1000,
                 tiny = p.type == "f32" ? 0x1p-96 : 0x1p-950;  // roundings are no denormals
    for (int64_t l = 0; l < p.batch; ++l) {
      for (int64_t i = 0; i < p.n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          double& x = a(l, i, j);
          switch ((l + p.n) % 8) {
            case 0: x *= huge; break;
            case 1: x *= tiny; break;
            case 2: x = 0; break;
            case 3: x = i == j; break;
            case 4: x = 1; break;                                                  // n - 1 equal eigenvalues
            case 5: x = i == j ? static_cast<double>(i % 2) : i == j + 1; break;   // three diagonals already
            case 6: x *= std::pow(2.0, static_cast<double>(-2 * (i + j))); break;  // graded
            default: break;
          }
          a(l, j, i) = x;
        }
      }
    }
    for (const char uplo : {'L', 'U'}) {
      Matrices given = a;  // the other triangle is nobody's
      for (int64_t l = 0; l < p.batch; ++l) {
        for (int64_t i = 0; i < p.n; ++i) {
          for (int64_t j = 0; j < i; ++j) (uplo == 'L' ? given(l, j, i) : given(l, i, j)) = 77;
        }
      }
      const auto solve = [&](char mode) {
        return call("syevd", fmt::format("mode = {} : ui8, uplo = {} : ui8", int{mode}, int{uplo}), {matrix(p)},
                    {matrix(p), vector(p, p.n), info(p)}, {given.numbers});
      };
      const auto got = solve('V');
      const auto without = solve('N');
      const Matrices v{p.n, p.n, got[0]};
      expect_orthonormal_columns(v, p.tolerance());
      for (int64_t l = 0; l < p.batch; ++l) {
        EXPECT_EQ(got[2][l], 0.0);
        double largest = 0;
        for (int64_t i = 0; i < p.n * p.n; ++i) {
          largest = std::max(largest, std::fabs(a.numbers[l * p.n * p.n + i]));
        }
        for (int64_t k = 0; k < p.n; ++k) {
          const double value = got[1][l * p.n + k];
          EXPECT_NEAR(without[1][l * p.n + k], value, p.tolerance() * largest);
          if (k > 0) {
            EXPECT_LE(got[1][l * p.n + k - 1], value);
          }
          for (int64_t i = 0; i < p.n; ++i) {
            double off = -value * v(l, i, k);
            for (int64_t j = 0; j < p.n; ++j) off += a(l, i, j) * v(l, j, k);
            ASSERT_LE(std::fabs(off), p.tolerance() * largest) << l << " " << i << " " << k;
          }
        }
      }
    }
  });
}

TEST(SmallBatch, SingularValuesAndVectors) {
  for_each_problem(false, [](const Problem& p, std::mt19937& random) {
    Matrices a = draw(p, random);
    const double huge = p.type == "f32" ? 0x1p120 : 0x1p1000,
                 tiny = p.type == "f32" ? 0x1p-96 : 0x1p-950;  // roundings are no denormals
    for (int64_t l = 0; l < p.batch; ++l) {
      for (int64_t i = 0; i < p.m; ++i) {
        for (int64_t j = 0; j < p.n; ++j) {
          double& x = a(l, i, j);
          switch ((l + p.n) % 7) {
            case 0: x *= huge; break;
            case 1: x *= tiny; break;
            case 2: x = 0; break;
            case 3: x = i == j; break;
            case 4: x = 1; break;  // of rank 1
            case 5: x *= std::pow(2.0, static_cast<double>(-2 * (i + j))); break;
            default: break;
          }
        }
      }
    }
    const int64_t few = std::min(p.m, p.n);
    for (const char mode : {'S', 'A'}) {
      const int64_t lefts = mode == 'A' ? p.m : few, rights = mode == 'A' ? p.n : few;
      const auto solve = [&](char wanted) {
        return call(
            "gesdd", fmt::format("mode = {} : ui8", int{wanted}), {matrix(p)},
            {matrix(p), vector(p, few), {p.type, {p.batch, p.m, lefts}}, {p.type, {p.batch, rights, p.n}}, info(p)},
            {a.numbers});
      };
      const auto got = solve(mode), without = solve('N');
      for (const double x : without[2]) EXPECT_EQ(x, 0.0);
      const Matrices u{p.m, lefts, got[2]}, vt{rights, p.n, got[3]};
      expect_orthonormal_columns(u, p.tolerance());
      expect_orthonormal_columns(transposed(vt), p.tolerance());
      for (int64_t l = 0; l < p.batch; ++l) {
        EXPECT_EQ(got[4][l], 0.0);
        const double* values = &got[1][l * few];
        for (int64_t k = 0; k + 1 < few; ++k) EXPECT_GE(values[k], values[k + 1]);
        EXPECT_GE(values[few - 1], 0);
        for (int64_t k = 0; k < few; ++k) {
          EXPECT_NEAR(without[1][l * few + k], values[k], p.tolerance() * values[0]);
        }
        for (int64_t i = 0; i < p.m; ++i) {
          for (int64_t j = 0; j < p.n; ++j) {
            double off = -a(l, i, j);
            for (int64_t k = 0; k < few; ++k) off += u(l, i, k) * values[k] * vt(l, k, j);
            ASSERT_LE(std::fabs(off), p.tolerance() * values[0]) << l << " " << i << " " << j;
          }
        }
      }
    }
  });
}

/// What isn't finite spoils its own matrix only.
TEST(SmallBatch, EigenvaluesOfNothingFinite) {
  const Problem p{"f32", 11, 9, 9};
  std::mt19937 random(3);
  Matrices a = draw(p, random);
  a(2, 5, 1) = std::numeric_limits<double>::quiet_NaN();
  a(7, 4, 4) = std::numeric_limits<double>::infinity();
  const auto got =
      call("syevd", "mode = 86 : ui8, uplo = 76 : ui8", {matrix(p)}, {matrix(p), vector(p, p.n), info(p)}, {a.numbers});
  for (int64_t l = 0; l < p.batch; ++l) {
    const bool bad = l == 2 || l == 7;
    EXPECT_EQ(got[2][l] != 0, bad);
    for (int64_t k = 0; k < p.n; ++k) EXPECT_EQ(std::isnan(got[1][l * p.n + k]), bad);
  }
}

}  // namespace
}  // namespace lowtide::engine::library_test
