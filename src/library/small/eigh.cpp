/// syevd of small matrices: Householder reduction to tridiagonal form, then QL steps with implicit shifts (Golub and
/// Van Loan, Matrix Computations, 8.3), in which each lane has its own shift and rotates only the part of its matrix
/// that isn't diagonal yet.
#include <algorithm>

#include "library/small/kernels.h"
#include "library/small/reflectors.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostSteps = 60;  ///< per eigenvalue, of the slowest lane; three are many

template <class S, int kBytes>
struct EighBody {
  using A = Across<S, kBytes>;
  using R = Reflectors<S, kBytes>;
  using Vector = typename A::Vector;
  using Mask = typename A::Mask;
  using Matrix = typename A::Matrix;

  /// Scratch of one block.
  struct Room {
    Vector* given;                             ///< n x n
    Vector* reduced;                           ///< n x (n + 1): a column that the vectors need, then the matrix
    Vector *diagonal, *beside, *taus, *pairs;  ///< n, n, n, 2 n
    Vector *cosine, *sine;                     ///< of a step's rotations: n, n
    Room(std::byte* scratch, int64_t n) : given(reinterpret_cast<Vector*>(scratch)) {
      reduced = given + n * n;
      diagonal = reduced + n * (n + 1);
      beside = diagonal + n;
      taus = beside + n;
      pairs = taus + n;
      cosine = pairs + 2 * n;
      sine = cosine + n;
    }
  };

  [[gnu::always_inline]] static void run(const SmallMatrices& matrices, int64_t first, int64_t count,
                                         std::byte* scratch) {
    const LapackProblem& p = *matrices.problem;
    const int64_t n = p.n;
    const bool vectors = p.mode == 'V';
    const Room room(scratch, n);
    A::load(matrices.operand<S>(0, first, n * n), n * n, n * n, count, room.given);
    const Matrix a{room.reduced + 1, n + 1, 1}, z{room.reduced, n + 1, 1};
    const Matrix given = p.uplo == 'L' ? Matrix{room.given, n, 1} : Matrix{room.given, 1, n};
    Vector largest{}, poison{};
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        const Vector x = given(i, j);
        largest = A::max(A::abs(x), largest);
        poison += x * 0;
      }
    }
    // A matrix with infinities or NaN has no eigenvalues, and the iteration might not end: zeros replace it meanwhile.
    const Mask finite = poison == 0;
    const Vector unit = A::power_of_two(largest), inverse = 1 / unit;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) a(i, j) = a(j, i) = finite ? given(i, j) * inverse : Vector{};
    }
    reduce(a, n, room);
    if (vectors) multiply_out(z, n, room);
    Mask info{};
    for (int64_t l = 0; l + 1 < n; ++l) isolate(l, n, z, vectors, room, info);
    info = finite ? info : A::all_counts(n);
    for (int64_t k = 0; k < n; ++k) {
      room.diagonal[k] = finite ? room.diagonal[k] * unit : A::all(std::numeric_limits<S>::quiet_NaN());
    }
    S* values = matrices.result<S>(1, first, n);
    S* out = matrices.result<S>(0, first, n * n);
    if (!vectors) A::store(room.given, n * n, count, out, n * n);
    for (int64_t k = 0; k < n; ++k) {
      const Mask place = place_of(k, n, room.diagonal);
      for (int64_t l = 0; l < count; ++l) values[l * n + static_cast<int64_t>(place[l])] = room.diagonal[k][l];
      for (int64_t i = 0; i < n && vectors; ++i) {
        const Vector x = finite ? z(i, k) : A::all(std::numeric_limits<S>::quiet_NaN());
        for (int64_t l = 0; l < count; ++l) out[(l * n + i) * n + static_cast<int64_t>(place[l])] = x[l];
      }
    }
    A::store_counts(info, count, matrices.result<int32_t>(2, first, 1), 1);
  }

 private:
  /// Reduces a to tridiagonal form; reflectors stay below the off-diagonal.
  [[gnu::always_inline]] static void reduce(Matrix a, int64_t n, const Room& room) {
    for (int64_t k = 0; k + 1 < n; ++k) {
      const int64_t m = n - k - 1;
      const Matrix v = a.from(k + 1, k), rest = a.from(k + 1, k + 1), pairs{room.pairs, 2, 1};
      const Vector tau = R::make(v, m);
      room.taus[k] = tau;
      room.diagonal[k] = a(k, k);
      room.beside[k] = v(0, 0);
      v(0, 0) = A::all(1);
      // h rest h = rest - v w^T - w v^T, w = p - tau/2 (p^T v) v, p = tau rest v
      for (int64_t i = 0; i < m; ++i) pairs(i, 1) = Vector{};
      A::subtract(pairs.from(0, 1), rest, v, m, 1, m);
      Vector product{};
      for (int64_t i = 0; i < m; ++i) {
        pairs(i, 0) = v(i, 0);
        pairs(i, 1) *= -tau;
        product += pairs(i, 1) * v(i, 0);
      }
      product *= tau * S(0.5);
      for (int64_t i = 0; i < m; ++i) pairs(i, 1) -= product * v(i, 0);
      A::subtract(rest, pairs, {room.pairs + 1, -1, 2}, m, m, 2);
    }
    room.diagonal[n - 1] = a(n - 1, n - 1);
    room.beside[n - 1] = Vector{};
  }

  /// Stores the reflectors' product, whose first row and column are the identity's, in z.
  [[gnu::always_inline]] static void multiply_out(Matrix z, int64_t n, const Room& room) {
    R::multiply_out(z.from(1, 1), room.taus, n - 1, n - 1, n - 1);
    for (int64_t i = 0; i < n; ++i) z(i, 0) = z(0, i) = Vector{};
    z(0, 0) = A::all(1);
  }

  /// Iterates until the off-diagonal element next to diagonal element l is zero.
  [[gnu::always_inline]] static void isolate(int64_t l, int64_t n, Matrix z, bool vectors, const Room& room,
                                             Mask& info) {
    Vector *d = room.diagonal, *e = room.beside;
    for (int64_t step = 0;; ++step) {
      Mask end = A::all_counts(n - 1);  // end of the part that begins at l
      Vector last = d[n - 1];
      for (int64_t i = n - 2; i >= l; --i) {
        const Vector near = A::abs(d[i]) + A::abs(d[i + 1]);
        const Mask apart = A::abs(e[i]) <= near * std::numeric_limits<S>::epsilon() + kNothing;
        e[i] = apart ? Vector{} : e[i];
        end = apart ? A::all_counts(i) : end;
        last = apart ? d[i] : last;
      }
      const Mask waits = end > A::all_counts(l);
      if (!A::any(waits)) return;
      if (step == kMostSteps) {
        info = (waits & (info == 0)) ? A::all_counts(l + 1) : info;
        return;
      }
      int64_t longest = l;
      for (int64_t lane = 0; lane < A::kLanes; ++lane) longest = std::max<int64_t>(longest, end[lane]);
      make_rotations(l, longest, end, last, room);
      if (vectors) rotate(z, n, l, longest, room);
    }
  }

  /// One step on elements l to `end` of each lane.
  [[gnu::always_inline]] static void make_rotations(int64_t l, int64_t longest, Mask end, Vector last,
                                                    const Room& room) {
    Vector *d = room.diagonal, *e = room.beside;
    const Mask waits = end > A::all_counts(l);
    const Vector slope = (d[l + 1] - d[l]) / (waits ? 2 * e[l] : A::all(1));
    const Vector root = A::sqrt(slope * slope + 1);
    const Vector divisor = waits ? slope + (slope < 0 ? -root : root) : A::all(1);
    Vector g = last - d[l] + e[l] / divisor, s = A::all(1), c = A::all(1), p{};
    for (int64_t i = longest - 1; i >= l; --i) {
      const Mask turns = waits & (end > A::all_counts(i));
      const Vector f = s * e[i], b = c * e[i];
      const Mask vanishes = A::max(A::abs(f), A::abs(g)) < kNothing;
      const Vector r = vanishes ? Vector{} : A::sqrt(f * f + g * g), inverse = 1 / (vanishes ? A::all(1) : r);
      s = turns ? f * inverse : s;
      c = turns ? (vanishes ? A::all(1) : g * inverse) : c;
      room.sine[i] = turns ? s : Vector{};
      room.cosine[i] = turns ? c : A::all(1);
      e[i + 1] = (turns & (end != A::all_counts(i + 1))) ? r : e[i + 1];
      const Vector shifted = d[i + 1] - p, next = (d[i] - shifted) * s + 2 * c * b;
      p = turns ? s * next : p;
      d[i + 1] = turns ? shifted + p : d[i + 1];
      g = turns ? c * next - b : g;
    }
    d[l] -= p;
    e[l] = waits ? g : e[l];
  }

  /// Applies the rotations of columns longest - 1 to l with their right neighbours, one after another.
  [[gnu::always_inline]] static void rotate(Matrix z, int64_t n, int64_t l, int64_t longest, const Room& room) {
    int64_t i = 0;
    for (; i + kRows <= n; i += kRows) rotate_rows<kRows>(z.from(i, 0), l, longest, room);
    for (; i < n; ++i) rotate_rows<1>(z.from(i, 0), l, longest, room);
  }
  template <int kCount>
  [[gnu::always_inline]] static void rotate_rows(Matrix z, int64_t l, int64_t longest, const Room& room) {
    Vector carried[kCount];
    LT_UNROLL for (int r = 0; r < kCount; ++r) carried[r] = z(r, longest);
    for (int64_t i = longest - 1; i >= l; --i) {
      const Vector s = room.sine[i], c = room.cosine[i];
      LT_UNROLL for (int r = 0; r < kCount; ++r) {
        const Vector x = z(r, i);
        z(r, i + 1) = s * x + c * carried[r];
        carried[r] = c * x - s * carried[r];
      }
    }
    LT_UNROLL for (int r = 0; r < kCount; ++r) z(r, l) = carried[r];
  }

  /// The number of eigenvalues that sort before element k of the diagonal.
  [[gnu::always_inline]] static Mask place_of(int64_t k, int64_t n, const Vector* diagonal) {
    Mask place{};
    for (int64_t j = 0; j < n; ++j) {
      place -= j < k ? ~(diagonal[j] > diagonal[k]) : diagonal[j] < diagonal[k];
    }
    return place;
  }

  static constexpr int kRows = 4;
  /// A number below this is negligible next to elements near 1. If one of two numbers isn't below it, squares that are
  /// flushed to zero are less than the rounding error of its square.
  static constexpr S kNothing = sizeof(S) == 4 ? S(0x1p-51) : S(0x1p-485);
};

}  // namespace

SmallRoutine small_eigh(const LapackProblem& problem) {
  const int64_t n = problem.n;
  return {small_kernel<EighBody>(problem.type), n * n + n * (n + 1) + 7 * n};
}

}  // namespace lowtide::engine
