#include "lapack/lapack.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "base/status.h"
#include "lapack/openblas.h"

namespace lowtide::engine {
namespace {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
constexpr bool kIsComplex = !std::is_same_v<T, typename RealOf<T>::type>;

/// Hands out parts of the workspace, or, without one, only counts their bytes.
class Workspace {
 public:
  explicit Workspace(std::byte* at) : at_(at) {}
  template <class E>
  E* take(int64_t count) {
    E* part = at_ != nullptr ? reinterpret_cast<E*>(at_ + bytes_) : nullptr;
    bytes_ += (count * static_cast<int64_t>(sizeof(E)) + 63) / 64 * 64;
    return part;
  }
  int64_t bytes() const { return bytes_; }

 private:
  std::byte* at_;
  int64_t bytes_ = 0;
};

template <class T>
bool is_finite(const T* a, int64_t count) {
  return std::all_of(a, a + count, [](const T& x) {
    if constexpr (kIsComplex<T>) {
      return std::isfinite(x.real()) && std::isfinite(x.imag());
    } else {
      return std::isfinite(x);
    }
  });
}

/// LAPACK packs the real and imaginary parts of a pair of conjugate eigenvectors into two real columns.
template <class Real>
void unpack_eigenvectors(int64_t n, const Real* imaginary, const Real* packed, std::complex<Real>* vectors) {
  for (int64_t j = 0; j < n; ++j) {
    const bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      vectors[j * n + i] = {packed[j * n + i], pair ? packed[(j + 1) * n + i] : Real(0)};
      if (pair) vectors[(j + 1) * n + i] = std::conj(vectors[j * n + i]);
    }
    if (pair) ++j;
  }
}

/// One call: measures its workspace if `results` is empty, runs otherwise. Each routine takes its workspace first, so
/// that both use the same code.
template <class T>
class Call {
  using Real = typename RealOf<T>::type;
  static constexpr size_t kText = 1;  ///< length of an argument that is one letter

 public:
  Call(const LapackProblem& problem, std::span<void* const> results, std::span<void* const> read, void* workspace)
      : p_(problem),
        results_(results),
        read_(read),
        space_(static_cast<std::byte*>(workspace)),
        function_(open_blas()->routines[static_cast<size_t>(problem.routine)][blas_column(problem.type)]),
        m_(problem.m),
        n_(problem.n),
        k_(problem.k),
        lead_(std::max(problem.lead != 0 ? problem.lead : problem.m, 1)) {}

  int64_t run() {
    switch (p_.routine) {
      case LapackRoutine::kPotrf: potrf(); break;
      case LapackRoutine::kGetrf: getrf(); break;
      case LapackRoutine::kTrsm: trsm(); break;
      case LapackRoutine::kGeqrf: geqrf(); break;
      case LapackRoutine::kOrgqr: orgqr(); break;
      case LapackRoutine::kOrmqr: ormqr(); break;
      case LapackRoutine::kGeqp3: geqp3(); break;
      case LapackRoutine::kGesdd: gesdd(); break;
      case LapackRoutine::kGesvd: gesvd(); break;
      case LapackRoutine::kSyevd: syevd(); break;
      case LapackRoutine::kGeev: geev(); break;
      case LapackRoutine::kGees: gees(); break;
      case LapackRoutine::kGehrd: gehrd(); break;
      case LapackRoutine::kSytrd: sytrd(); break;
      case LapackRoutine::kGtsv: gtsv(); break;
    }
    return space_.bytes();
  }

 private:
  bool measures() const { return results_.empty(); }
  template <class E = T>
  E* result(size_t r) const {
    return measures() ? nullptr : static_cast<E*>(results_[r]);
  }
  int32_t* info(size_t r) { return measures() ? &unused_ : static_cast<int32_t*>(results_[r]); }
  T* read(size_t r) const { return measures() ? nullptr : static_cast<T*>(read_[r]); }

  /// Calls call(work, &count, info) with the best workspace size, which the routine returns if count is -1.
  template <class F>
  void with_work(int32_t* info, F&& call) {
    T best{};
    int32_t count = -1, said = 0;
    call(&best, &count, &said);
    LT_ASSERT(said == 0, "LAPACK doesn't say what room it needs");
    // Sizes above 2^24 are rounded when they are returned as floats.
    const double size = std::nextafter(std::real(best), std::numeric_limits<Real>::infinity());
    count = std::max(static_cast<int32_t>(std::ceil(size)), 1);
    T* work = space_.take<T>(count);
    if (!measures()) call(work, &count, info);
  }

  void potrf() {
    if (!measures()) call_blas(function_, &p_.uplo, &n_, result(0), &lead_, info(1), kText);
  }
  void getrf() {
    if (!measures()) call_blas(function_, &m_, &n_, result(0), &lead_, result<int32_t>(1), info(2));
  }
  void trsm() {
    const int32_t order = p_.side == 'L' ? m_ : n_, lead = std::max(p_.read_lead != 0 ? p_.read_lead : order, 1);
    const T one(1);
    if (measures()) return;
    call_blas(function_, &p_.side, &p_.uplo, &p_.trans, &p_.diag, &m_, &n_, &one, read(0), &lead, result(0), &lead_,
              kText, kText, kText, kText);
  }
  void geqrf() {
    with_work(&unused_, [&](T* work, const int32_t* count, int32_t* info) {
      call_blas(function_, &m_, &n_, result(0), &lead_, result(1), work, count, info);
    });
  }
  void orgqr() {
    with_work(&unused_, [&](T* work, const int32_t* count, int32_t* info) {
      call_blas(function_, &m_, &n_, &k_, result(0), &lead_, read(0), work, count, info);
    });
  }
  void ormqr() {
    const int32_t lead = std::max(p_.side == 'L' ? m_ : n_, 1);
    with_work(&unused_, [&](T* work, const int32_t* count, int32_t* info) {
      call_blas(function_, &p_.side, &p_.trans, &m_, &n_, &k_, read(0), &lead, read(1), result(0), &lead_, work, count,
                info, kText, kText);
    });
  }
  void geqp3() {
    Real* real = kIsComplex<T> ? space_.take<Real>(2 * int64_t{n_}) : nullptr;
    with_work(&unused_, [&](T* work, const int32_t* count, int32_t* info) {
      if constexpr (kIsComplex<T>) {
        call_blas(function_, &m_, &n_, result(0), &lead_, result<int32_t>(1), result(2), work, count, real, info);
      } else {
        call_blas(function_, &m_, &n_, result(0), &lead_, result<int32_t>(1), result(2), work, count, info);
      }
    });
  }

  /// Singular vectors that aren't wanted are set to zero, so that every run gives the same bytes.
  void clear_singular_vectors() {
    if (measures() || p_.mode != 'N') return;
    const int64_t few = std::min(m_, n_), m = m_, n = n_;
    std::fill_n(result(2), m * (k_ != 0 ? m : few), T());
    std::fill_n(result(3), n * (k_ != 0 ? n : few), T());
  }

  void gesdd() {
    const int64_t few = std::min(m_, n_), many = std::max(m_, n_);
    const int32_t lead_vt = leading_vt();
    clear_singular_vectors();
    auto* integers = space_.take<int32_t>(8 * few);
    Real* real = nullptr;
    if constexpr (kIsComplex<T>) {  // sizes from its documentation
      real = space_.take<Real>(
          p_.mode == 'N' ? 7 * few : std::max(5 * few * few + 5 * few, 2 * many * few + 2 * few * few + few));
    }
    with_work(info(4), [&](T* work, const int32_t* count, int32_t* info) {
      if constexpr (kIsComplex<T>) {
        call_blas(function_, &p_.mode, &m_, &n_, result(0), &lead_, result<Real>(1), result(2), &lead_, result(3),
                  &lead_vt, work, count, real, integers, info, kText);
      } else {
        call_blas(function_, &p_.mode, &m_, &n_, result(0), &lead_, result<Real>(1), result(2), &lead_, result(3),
                  &lead_vt, work, count, integers, info, kText);
      }
    });
  }
  void gesvd() {
    const int32_t lead_vt = leading_vt();
    clear_singular_vectors();
    Real* real = kIsComplex<T> ? space_.take<Real>(5 * int64_t{std::min(m_, n_)}) : nullptr;
    with_work(info(4), [&](T* work, const int32_t* count, int32_t* info) {
      if constexpr (kIsComplex<T>) {
        call_blas(function_, &p_.mode, &p_.mode, &m_, &n_, result(0), &lead_, result<Real>(1), result(2), &lead_,
                  result(3), &lead_vt, work, count, real, info, kText, kText);
      } else {
        call_blas(function_, &p_.mode, &p_.mode, &m_, &n_, result(0), &lead_, result<Real>(1), result(2), &lead_,
                  result(3), &lead_vt, work, count, info, kText, kText);
      }
    });
  }
  int32_t leading_vt() const { return std::max(p_.mode == 'S' ? std::min(m_, n_) : n_, 1); }

  void syevd() {
    const int64_t n = n_;
    const bool vectors = p_.mode == 'V';
    const auto integers = static_cast<int32_t>(vectors ? 3 + 5 * n : 1);
    auto* integer_work = space_.take<int32_t>(integers);
    const auto reals = static_cast<int32_t>(vectors ? 1 + 5 * n + 2 * n * n : std::max<int64_t>(n, 1));
    Real* real_work = kIsComplex<T> ? space_.take<Real>(reals) : nullptr;
    if constexpr (kIsComplex<T>) {
      with_work(info(2), [&](T* work, const int32_t* count, int32_t* info) {
        Real said_reals = 0;
        int32_t said_integers = 0;
        const bool asks = *count == -1;
        call_blas(function_, &p_.mode, &p_.uplo, &n_, result(0), &lead_, result<Real>(1), work, count,
                  asks ? &said_reals : real_work, &reals, asks ? &said_integers : integer_work, &integers, info, kText,
                  kText);
      });
    } else {
      with_work(info(2), [&](T* work, const int32_t* count, int32_t* info) {
        int32_t said_integers = 0;
        call_blas(function_, &p_.mode, &p_.uplo, &n_, result(0), &lead_, result(1), work, count,
                  *count == -1 ? &said_integers : integer_work, &integers, info, kText, kText);
      });
    }
  }

  void geev() {
    const int64_t square = int64_t{n_} * n_;
    if constexpr (kIsComplex<T>) {
      Real* real = space_.take<Real>(2 * int64_t{n_});
      if (refused(3, {1, 2}, square)) return;
      with_work(info(3), [&](T* work, const int32_t* count, int32_t* info) {
        Real said[2];  // geev writes it even if only the workspace size is requested
        call_blas(function_, &p_.left, &p_.right, &n_, read(0), &lead_, result(0), result(1), &lead_, result(2), &lead_,
                  work, count, *count == -1 ? said : real, info, kText, kText);
      });
    } else {
      Real* left = p_.left == 'V' ? space_.take<Real>(square) : nullptr;
      Real* right = p_.right == 'V' ? space_.take<Real>(square) : nullptr;
      if (refused(4, {2, 3}, square)) return;
      with_work(info(4), [&](T* work, const int32_t* count, int32_t* info) {
        call_blas(function_, &p_.left, &p_.right, &n_, read(0), &lead_, result(0), result(1), left, &lead_, right,
                  &lead_, work, count, info, kText, kText);
      });
      if (measures() || *info(4) != 0) return;
      using Pairs = std::complex<Real>;
      if (left != nullptr) unpack_eigenvectors(n_, result(1), left, result<Pairs>(2));
      if (right != nullptr) unpack_eigenvectors(n_, result(1), right, result<Pairs>(3));
    }
  }

  /// If the matrix isn't finite, the search for eigenvalues may never end. Results that aren't computed are set to
  /// zero.
  bool refused(size_t info_at, std::initializer_list<size_t> vectors, int64_t square) {
    if (measures()) return false;
    using Pairs = std::complex<Real>;
    for (const size_t r : vectors) std::fill_n(result<Pairs>(r), square, Pairs());
    if (is_finite(read(0), square)) return false;
    for (size_t r = 0; r < vectors.begin()[0]; ++r) std::fill_n(result(r), n_, T());
    *info(info_at) = -4;
    return true;
  }

  void gees() {
    constexpr char kUnsorted = 'N';
    void* no_choice = nullptr;
    if constexpr (kIsComplex<T>) {
      Real* real = space_.take<Real>(n_);
      with_work(info(4), [&](T* work, const int32_t* count, int32_t* said) {
        call_blas(function_, &p_.mode, &kUnsorted, no_choice, &n_, result(0), &lead_, info(3), result(2), result(1),
                  &lead_, work, count, real, no_choice, said, kText, kText);
      });
    } else {
      with_work(info(5), [&](T* work, const int32_t* count, int32_t* said) {
        call_blas(function_, &p_.mode, &kUnsorted, no_choice, &n_, result(0), &lead_, info(4), result(2), result(3),
                  result(1), &lead_, work, count, no_choice, said, kText, kText);
      });
    }
  }

  void gehrd() {
    with_work(info(2), [&](T* work, const int32_t* count, int32_t* info) {
      call_blas(function_, &n_, &p_.low, &p_.high, result(0), &lead_, result(1), work, count, info);
    });
  }
  void sytrd() {
    with_work(info(4), [&](T* work, const int32_t* count, int32_t* info) {
      call_blas(function_, &p_.uplo, &n_, result(0), &lead_, result<Real>(1), result<Real>(2), result(3), work, count,
                info, kText);
    });
  }
  void gtsv() {
    // Row 0 of the lower diagonal is outside the matrix.
    if (measures()) return;
    call_blas(function_, &m_, &n_, result(0) + 1, result(1), result(2), result(3), &lead_, info(4));
  }

  const LapackProblem& p_;
  std::span<void* const> results_, read_;
  Workspace space_;
  void* function_;
  int32_t m_, n_, k_, lead_;
  int32_t unused_ = 0;
};

template <class F>
decltype(auto) dispatch_lapack(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kF32: return f.template operator()<float>();
    case ElementType::kF64: return f.template operator()<double>();
    case ElementType::kC64: return f.template operator()<std::complex<float>>();
    default: return f.template operator()<std::complex<double>>();
  }
}

}  // namespace

int64_t lapack_workspace_bytes(const LapackProblem& problem) {
  return dispatch_lapack(problem.type, [&]<class T>() { return Call<T>(problem, {}, {}, nullptr).run(); });
}

void run_lapack(const LapackProblem& problem, std::span<void* const> results, std::span<void* const> read,
                void* workspace) {
  dispatch_lapack(problem.type, [&]<class T>() { Call<T>(problem, results, read, workspace).run(); });
}

void subtract_product(const LapackProduct& p, const void* a, const void* b, void* c) {
  constexpr size_t kText = 1;
  const size_t column = blas_column(p.type);
  dispatch_lapack(p.type, [&]<class T>() {
    using Real = typename RealOf<T>::type;
    if (p.triangle != 0) {
      const Real minus_one(-1), one(1);
      call_blas(open_blas()->herk[column], &p.triangle, &p.trans_a, &p.n, &p.k, &minus_one, a, &p.lead, &one, c,
                &p.lead, kText, kText);
      return;
    }
    const T minus_one(-1), one(1);
    const int32_t a_lead = p.a_lead != 0 ? p.a_lead : p.lead, b_lead = p.b_lead != 0 ? p.b_lead : p.lead;
    call_blas(open_blas()->gemm[column], &p.trans_a, &p.trans_b, &p.m, &p.n, &p.k, &minus_one, a, &a_lead, b, &b_lead,
              &one, c, &p.lead, kText, kText);
  });
}

}  // namespace lowtide::engine
