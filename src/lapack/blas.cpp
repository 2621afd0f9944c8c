#include "lapack/blas.h"

#include <algorithm>

#include "lapack/openblas.h"

namespace lowtide::engine {
namespace {

constexpr size_t kText = 1;  ///< length of an argument that is one letter

int32_t narrow(int64_t x) { return static_cast<int32_t>(x); }

template <class T>
void* function(OpenBlas::Part part) {
  return open_blas()->parts[part][sizeof(T) == 4 ? 0 : 1];
}

}  // namespace

template <class T>
void Blas<T>::gemv(char trans, int64_t rows, int64_t columns, T alpha, const T* a, int64_t lead, const T* x,
                   int64_t x_step, T beta, T* y, int64_t y_step) {
  const int32_t m = narrow(rows), n = narrow(columns), lda = narrow(lead), incx = narrow(x_step), incy = narrow(y_step);
  if (m == 0 || n == 0) return;
  call_blas(function<T>(OpenBlas::kGemv), &trans, &m, &n, &alpha, a, &lda, x, &incx, &beta, y, &incy, kText);
}

template <class T>
void Blas<T>::gemm(char trans_a, char trans_b, int64_t rows, int64_t columns, int64_t depth, T alpha, const T* a,
                   int64_t a_lead, const T* b, int64_t b_lead, T beta, T* c, int64_t c_lead) {
  const int32_t m = narrow(rows), n = narrow(columns), k = narrow(depth);
  const int32_t lda = narrow(a_lead), ldb = narrow(b_lead), ldc = narrow(c_lead);
  call_blas(open_blas()->gemm[sizeof(T) == 4 ? 0 : 1], &trans_a, &trans_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta,
            c, &ldc, kText, kText);
}

template <class T>
T Blas<T>::larfg(int64_t n, T* alpha, T* x, int64_t step) {
  const int32_t count = narrow(n), incx = narrow(step);
  T tau = 0;
  call_blas(function<T>(OpenBlas::kLarfg), &count, alpha, x, &incx, &tau);
  return tau;
}

template <class T>
int32_t Blas<T>::stedc(int64_t order, T* diagonal, T* beside, T* vectors, int64_t lead, T* reals, int32_t* integers) {
  constexpr char kOfThreeDiagonals = 'I';
  const int32_t n = narrow(order), ldz = narrow(lead);
  const int32_t lwork = narrow(stedc_reals(order)), liwork = narrow(stedc_integers(order));
  int32_t info = 0;
  call_blas(function<T>(OpenBlas::kStedc), &kOfThreeDiagonals, &n, diagonal, beside, vectors, &ldz, reals, &lwork,
            integers, &liwork, &info, kText);
  return info;
}

template <class T>
void Blas<T>::laed2(int64_t order, int64_t first, T* diagonal, T* q, int64_t q_lead, int32_t* sorted, T* z,
                    Deflation& to) {
  const int32_t n = narrow(order), n1 = narrow(first), ldq = narrow(q_lead);
  int32_t info = 0;
  call_blas(function<T>(OpenBlas::kLaed2), &to.count, &n, &n1, diagonal, q, &ldq, sorted, &to.joint, z, to.poles,
            to.weights, to.columns, to.indices, to.grouped, to.order, to.groups, &info);
}

template <class T>
int32_t Blas<T>::laed4(const Deflation& of, int64_t j, T* distances, T* root) {
  const int32_t i = narrow(j + 1);
  int32_t info = 0;
  call_blas(function<T>(OpenBlas::kLaed4), &of.count, &i, of.poles, of.weights, distances, &of.joint, root, &info);
  return info;
}

template <class T>
void Blas<T>::lamrg(int64_t ascending, int64_t descending, const T* values, int32_t* order) {
  const int32_t n1 = narrow(ascending), n2 = narrow(descending), up = 1, down = -1;
  call_blas(function<T>(OpenBlas::kLamrg), &n1, &n2, values, &up, &down, order);
}

template <class T>
int32_t Blas<T>::sterf(int64_t order, T* diagonal, T* beside) {
  const int32_t n = narrow(order);
  int32_t info = 0;
  call_blas(function<T>(OpenBlas::kSterf), &n, diagonal, beside, &info);
  return info;
}

template <class T>
int32_t Blas<T>::bdsdc(int64_t order, T* diagonal, T* beside, T* left, int64_t left_lead, T* right, int64_t right_lead,
                       T* reals, int32_t* integers) {
  constexpr char kUpper = 'U';
  const char wanted = left != nullptr ? 'I' : 'N';
  const int32_t n = narrow(order), ldu = narrow(left_lead), ldvt = narrow(right_lead);
  T unused = 0;
  int32_t unused_integer = 0, info = 0;
  call_blas(function<T>(OpenBlas::kBdsdc), &kUpper, &wanted, &n, diagonal, beside, left, &ldu, right, &ldvt, &unused,
            &unused_integer, reals, integers, &info, kText, kText);
  return info;
}

template <class T>
void Blas<T>::larfb(char side, char trans, int64_t rows, int64_t columns, int64_t count, const T* v, int64_t v_lead,
                    const T* t, int64_t t_lead, T* c, int64_t c_lead, T* work) {
  constexpr char kForward = 'F';
  const char stored = side == 'L' ? 'C' : 'R';
  const int32_t m = narrow(rows), n = narrow(columns), k = narrow(count), ldv = narrow(v_lead), ldt = narrow(t_lead);
  const int32_t ldc = narrow(c_lead), ldwork = std::max(side == 'L' ? n : m, 1);
  call_blas(function<T>(OpenBlas::kLarfb), &side, &trans, &kForward, &stored, &m, &n, &k, v, &ldv, t, &ldt, c, &ldc,
            work, &ldwork, kText, kText, kText, kText);
}

template struct Blas<float>;
template struct Blas<double>;

}  // namespace lowtide::engine
