#include "lapack/blas.h"

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
void Blas<T>::symv(int64_t order, T alpha, const T* a, int64_t lead, const T* x, T beta, T* y) {
  constexpr char kLower = 'L';
  const int32_t n = narrow(order), lda = narrow(lead), one = 1;
  call_blas(function<T>(OpenBlas::kSymv), &kLower, &n, &alpha, a, &lda, x, &one, &beta, y, &one, kText);
}

template <class T>
void Blas<T>::gemm_transposed(int64_t rows, int64_t columns, int64_t depth, T alpha, const T* a, int64_t a_lead,
                              const T* b, int64_t b_lead, T* c, int64_t c_lead) {
  constexpr char kPlain = 'N', kTransposed = 'T';
  const int32_t m = narrow(rows), n = narrow(columns), k = narrow(depth);
  const int32_t lda = narrow(a_lead), ldb = narrow(b_lead), ldc = narrow(c_lead);
  const T one = 1;
  call_blas(open_blas()->gemm[sizeof(T) == 4 ? 0 : 1], &kPlain, &kTransposed, &m, &n, &k, &alpha, a, &lda, b, &ldb,
            &one, c, &ldc, kText, kText);
}

template <class T>
T Blas<T>::larfg(int64_t n, T* alpha, T* x, int64_t step) {
  const int32_t count = narrow(n), incx = narrow(step);
  T tau = 0;
  call_blas(function<T>(OpenBlas::kLarfg), &count, alpha, x, &incx, &tau);
  return tau;
}

template <class T>
int32_t Blas<T>::stedc(int64_t order, T* diagonal, T* beside, T* vectors, T* reals, int32_t* integers) {
  constexpr char kOfThreeDiagonals = 'I';
  const int32_t n = narrow(order), lwork = narrow(stedc_reals(order)), liwork = narrow(stedc_integers(order));
  int32_t info = 0;
  call_blas(function<T>(OpenBlas::kStedc), &kOfThreeDiagonals, &n, diagonal, beside, vectors, &n, reals, &lwork,
            integers, &liwork, &info, kText);
  return info;
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
void Blas<T>::ormlq(int64_t rows, int64_t columns, const T* a, int64_t a_lead, const T* taus, T* c, int64_t c_lead,
                    T* reals) {
  constexpr char kRight = 'R', kAsMade = 'N';  // gelqf's product has its last reflector first
  const int32_t m = narrow(rows), n = narrow(columns), lda = narrow(a_lead), ldc = narrow(c_lead);
  const int32_t lwork = narrow(ormlq_reals(rows));
  int32_t info = 0;
  call_blas(function<T>(OpenBlas::kOrmlq), &kRight, &kAsMade, &m, &n, &n, a, &lda, taus, c, &ldc, reals, &lwork, &info,
            kText, kText);
}

template struct Blas<float>;
template struct Blas<double>;

}  // namespace lowtide::engine
