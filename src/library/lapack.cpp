/// LAPACK's custom calls: large matrices are transposed in place, small ones in scratch, and threads share the problems
/// of a batch.
#include "ops/lapack_call.h"

#include "base/copy_bytes.h"
#include "library/copy_block.h"
#include "library/lanes.h"
#include "library/moves.h"
#include "library/routines.h"
#include "library/shared_problem.h"
#include "library/small/small_batch.h"
#include "library/triangular.h"

namespace lowtide::engine {
namespace {

int64_t bytes_of(const LapackArray& array) { return array.count() * stored_bytes(array.type); }

class LapackBatch : public LibraryRoutine {
 public:
  explicit LapackBatch(LapackCall call)
      : call_(std::move(call)), read_(call_.read()), shared_(make_shared_problem(call_.problem)) {
    side_by_side_ = !shared_ || (call_.batch > 1 && call_.problem.n < kLeastShared);
    lanes_ = Lanes(side_by_side_ ? call_.batch : 1, bytes_of_one());
    for (const LapackArray& array : call_.results) {
      turned_in_.push_back(moves_of_result(array, false));
      turned_out_.push_back(moves_of_result(array, true));
      for (const auto* way : {&turned_in_.back(), &turned_out_.back()}) {
        for (const ArrayMove& move : *way) move_bytes_ = std::max(move_bytes_, scratch_of(move));
      }
    }
  }

  int64_t scratch_bytes() const override { return std::max(lanes_.scratch_bytes(), move_bytes_); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    auto* room = static_cast<std::byte*>(scratch);
    for (size_t r = 0; r < results.size(); ++r) {
      const int from = call_.results[r].operand;
      if (from < 0 || is_small_matrix(call_.results[r])) continue;
      begin_as(static_cast<const std::byte*>(operands[from]), r, results, room, pool);
    }
    if (side_by_side_) {
      lanes_.run(pool, room, [&](int64_t problem, std::byte* own) { run_one(operands, results, problem, own, pool); });
    } else {
      for (int64_t problem = 0; problem < call_.batch; ++problem) run_one(operands, results, problem, room, pool);
    }
    for (size_t r = 0; r < results.size(); ++r) {
      turn(turned_out_[r], results[r], room, pool);
    }
    return {};
  }

 private:
  static constexpr size_t kMost = 6;  ///< results; operands are fewer
  /// From this many columns on, several matrices are solved faster one after another, each by all threads.
  static constexpr int32_t kLeastShared = 384;

  /// Up to this size, a matrix of a result is computed in scratch: transposing it there takes half the time.
  static constexpr int64_t kSmallMatrix = int64_t{256} << 10;

  static bool is_small_matrix(const LapackArray& array) { return array.is_matrix() && bytes_of(array) <= kSmallMatrix; }

  int64_t bytes_of_one() const {
    int64_t bytes = align_scratch(shared_ ? shared_->scratch_bytes() : lapack_workspace_bytes(call_.problem));
    for (const size_t k : read_) {
      if (call_.operands[k].is_matrix()) bytes += align_scratch(bytes_of(call_.operands[k]));
    }
    for (const LapackArray& array : call_.results) {
      if (is_small_matrix(array)) bytes += align_scratch(bytes_of(array));
    }
    return bytes;
  }

  using Moves = std::vector<ArrayMove>;
  /// Transposes a row-major result to column-major, or (back) column-major to row-major.
  Moves moves_of_result(const LapackArray& array, bool back) const {
    if (!array.is_matrix() || is_small_matrix(array)) return {};
    const int64_t rows = array.extents[back ? 1 : 0], columns = array.extents[back ? 0 : 1];
    return moves_of({call_.batch, rows, columns}, {0, 2, 1}, {false, false, false}, stored_bytes(array.type));
  }
  static void turn(const Moves& moves, void* array, std::byte* room, ThreadPool& pool) {
    for (const ArrayMove& move : moves) lowtide::engine::run(move, static_cast<std::byte*>(array), room, pool);
  }

  /// Initialises a result with an operand, column-major: transposed while copying, unless both share memory.
  void begin_as(const std::byte* from, size_t r, std::span<void* const> results, std::byte* room,
                ThreadPool& pool) const {
    const LapackArray& array = call_.results[r];
    auto* const to = static_cast<std::byte*>(results[r]);
    if (turned_in_[r].empty() || from == to) {
      copy_bytes(to, from, call_.batch * bytes_of(array), pool);
      return turn(turned_in_[r], to, room, pool);
    }
    const int64_t rows = array.extents[0], columns = array.extents[1], element = stored_bytes(array.type);
    const int64_t some = std::max<int64_t>(1, (int64_t{128} << 10) / (columns * element)),
                  parts = (rows + some - 1) / some;
    pool.run(call_.batch * parts, [&](int64_t task, int) {
      const int64_t matrix = task / parts * rows * columns, first = task % parts * some;
      copy_transposed(element, from + (matrix + first * columns) * element, columns, columns,
                      std::min(some, rows - first), to + (matrix + first) * element, rows);
    });
  }

  void run_one(std::span<const void* const> operands, std::span<void* const> results, int64_t problem, std::byte* own,
               ThreadPool& pool) const {
    void* to[kMost] = {};
    void* from[kMost] = {};
    for (size_t r = 0; r < results.size(); ++r) {
      const LapackArray& array = call_.results[r];
      const int64_t at = problem * bytes_of(array);
      to[r] = static_cast<std::byte*>(results[r]) + at;
      if (!is_small_matrix(array)) continue;
      to[r] = own;
      own += align_scratch(bytes_of(array));
      if (array.operand < 0) continue;
      const auto* begin = static_cast<const std::byte*>(operands[array.operand]) + at;
      copy_transposed(stored_bytes(array.type), begin, array.extents[1], array.extents[1], array.extents[0],
                      static_cast<std::byte*>(to[r]), array.extents[0]);
    }
    for (size_t i = 0; i < read_.size(); ++i) {
      const LapackArray& array = call_.operands[read_[i]];
      const auto* part = static_cast<const std::byte*>(operands[read_[i]]) + problem * bytes_of(array);
      from[i] = const_cast<std::byte*>(part);  // vectors are only read
      if (!array.is_matrix()) continue;
      const int64_t rows = array.extents[0], columns = array.extents[1];
      copy_transposed(stored_bytes(array.type), part, columns, columns, rows, own, rows);
      from[i] = own;
      own += align_scratch(bytes_of(array));
    }
    if (shared_) {
      shared_->run({to, results.size()}, {from, read_.size()}, own, pool);
    } else {
      run_lapack(call_.problem, {to, results.size()}, {from, read_.size()}, own);
    }
    for (size_t r = 0; r < results.size(); ++r) {
      const LapackArray& array = call_.results[r];
      if (!is_small_matrix(array)) continue;
      copy_transposed(stored_bytes(array.type), static_cast<const std::byte*>(to[r]), array.extents[0],
                      array.extents[0], array.extents[1],
                      static_cast<std::byte*>(results[r]) + problem * bytes_of(array), array.extents[1]);
    }
  }

  LapackCall call_;
  std::vector<size_t> read_;
  std::unique_ptr<SharedProblem> shared_;  ///< solves one problem with several threads; null: LAPACK does
  bool side_by_side_ = true;
  Lanes lanes_;
  std::vector<Moves> turned_in_, turned_out_;
  int64_t move_bytes_ = 0;
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_lapack(const Instruction& call) {
  Result<LapackCall> lapack = read_lapack_call(call);
  if (!lapack.ok() || !has_lapack()) return nullptr;
  const LapackProblem& p = lapack->problem;
  if (p.routine == LapackRoutine::kPotrf) return make_row_major_potrf(p, lapack->batch);
  if (p.routine == LapackRoutine::kTrsm) return make_row_major_trsm(p, lapack->batch);
  if (auto small = make_small_batch(p, lapack->batch)) return small;
  return std::make_unique<LapackBatch>(lapack.take());
}

int lapack_in_place(const Instruction& call, int64_t leaf) {
  const Result<LapackCall> lapack = read_lapack_call(call);
  return lapack.ok() ? lapack->results[leaf].operand : -1;
}

}  // namespace lowtide::engine
