#pragma once
/// Runs a folding computation on N accumulators and N elements at a time. A single operation on one array runs
/// directly, several arrays run as a ScalarProgram if possible, and anything else is interpreted.

#include <optional>
#include <vector>

#include "ops/combiner.h"
#include "ops/op_rule.h"
#include "ops/scalar_program.h"

namespace lowtide::engine {

/// HLO doesn't specify the order of a sum. Sums of f32 either round after every addition, or are kept in double and
/// rounded once, which is closest to any order. Sums of small floats are always kept in f32 and rounded once, like XLA.
enum class FloatSums { kRounded, kWide };

class Reducer {
 public:
  /// Operands: N arrays to fold, N initial scalars; they are converted here to the computation's parameter types.
  static Result<Reducer> make(const Computation& computation, Operands operands, FloatSums sums, EvalContext& context);

  /// Sets all accumulators to the initial values.
  void start();
  /// Folds element `at` of each input.
  Status fold(int64_t at);
  /// Stores the accumulators as element `at` of N results.
  void store(std::vector<Literal>& results, int64_t at);

 private:
  Reducer(const Computation& computation, EvalContext& context) : computation_(&computation), context_(&context) {}

  const Computation* computation_;
  EvalContext* context_;
  std::vector<Value> inputs_;
  std::vector<Value> initial_;
  std::vector<Value> accumulators_;       ///< scalars; unused if `combine_` or `program_` is set
  std::optional<ScalarProgram> program_;  ///< for several arrays; accumulators are its first parameters
  CombineElements combine_ = nullptr;
  bool sums_floats_ = false;  ///< sums f32 in double, in `sum_`
  double sum_ = 0;
  float (*widen_)(const std::byte*) = nullptr;  ///< for elements of a sum of small floats
  void (*round_)(float, std::byte*) = nullptr;  ///< for that sum
  float small_sum_ = 0;
  const std::byte* data_ = nullptr;
  size_t width_ = 0;
  alignas(16) std::byte accumulator_[16] = {};
};

/// Arrays of zeros for a result: a single one, or the parts of a tuple; and the result value made of them.
std::vector<Literal> results_for(const Shape& result);
Value bundled(std::vector<Literal> results, bool as_tuple = false);

/// Element `at` of an array as a scalar value.
Value scalar_at(const Literal& array, int64_t at);
/// to = the stored element `at` of an array.
void load_element(const Literal& array, int64_t at, std::byte* to);
/// result[to] = array[from], of one element type.
void copy_element(const Literal& array, int64_t from, Literal& result, int64_t to);
/// result[at] = *from, a stored element.
void store_element(const std::byte* from, Literal& result, int64_t at);
/// result[at] = the scalar, of one element type.
void store_scalar(const Literal& scalar, Literal& result, int64_t at);

}  // namespace lowtide::engine
