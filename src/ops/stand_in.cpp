#include "ops/stand_in.h"

#include <algorithm>
#include <cmath>

#include "ir/element_type.h"

namespace lowtide::engine {
namespace {

constexpr double kOwnPart = 0.5;  ///< weight of the element at the same relative position of an operand
constexpr double kOfAll = 0.5;    ///< weight of all elements of all operands
constexpr double kOfNext = 0.75;  ///< an operand's weight relative to the previous operand's
constexpr int64_t kTurns = 7;  ///< positions modulo this have different weights, so that a permutation changes the sum
constexpr int64_t kFew = 4;    ///< results that are integers are less than this, since they may be indices
constexpr int64_t kMostOfIntegers = 1024;

bool is_real(const Shape& shape) { return shape.is_array() && is_floating(shape.type); }
bool is_whole(const Shape& shape) { return shape.is_array() && !is_floating(shape.type) && !is_complex(shape.type); }

/// A weighted mean of all elements; weights depend on positions.
double mixed(const Literal& array) {
  double sum = 0;
  for (int64_t e = 0; e < array.size(); ++e) sum += number_at(array, e) * static_cast<double>(1 + e % kTurns);
  return sum / static_cast<double>(std::max<int64_t>(1, array.size() * kTurns));
}

int64_t mixed_integers(const Literal& array) {
  uint64_t sum = 0;
  for (int64_t e = 0; e < array.size(); ++e)
    sum = sum * 31 + static_cast<uint64_t>(integer_at(array, e)) + static_cast<uint64_t>(e);
  return static_cast<int64_t>(sum % kMostOfIntegers);
}

void set(Literal& array, int64_t element, double number) {
  dispatch(array.shape().type, [&]<class T>() {
    T& x = array.data<T>()[element];
    if constexpr (std::is_arithmetic_v<T>) {
      x = static_cast<T>(number);
    } else if constexpr (
        !requires(T t) { t.real(); } && !requires(T t) { t.held; } && std::is_constructible_v<T, float>) {
      x = T(static_cast<float>(number));
    }
  });
}

class StandIn {
 public:
  explicit StandIn(Operands operands) {
    for (const Value& operand : operands) add(operand);
  }

  Result<Value> of(const Shape& shape) {
    if (shape.is_tuple()) {
      std::vector<Value> parts;
      for (const Shape& element : shape.elements) {
        LT_ASSIGN_OR_RETURN(Value part, of(element));
        parts.push_back(std::move(part));
      }
      return Value(std::make_shared<Literal>(std::move(parts)));
    }
    if (!is_real(shape) && !is_whole(shape)) return Status::unsupported("nothing stands for " + to_string(shape));
    ++results_;
    auto made = std::make_shared<Literal>(shape);
    for (int64_t e = 0; e < made->size(); ++e) {
      set(*made, e, is_real(shape) ? real_at(e, made->size()) : static_cast<double>((e + results_ + integers_) % kFew));
    }
    return Value(std::move(made));
  }

 private:
  void add(const Value& operand) {
    if (operand->shape().is_tuple()) {
      for (const Value& part : operand->parts()) add(part);
    } else if (is_real(operand->shape())) {
      reals_.push_back(operand);
      all_ = kOfNext * all_ + mixed(*operand);
    } else if (is_whole(operand->shape())) {
      integers_ = (integers_ * 5 + mixed_integers(*operand)) % kMostOfIntegers;
    }
  }

  double real_at(int64_t element, int64_t size) const {
    double sum = kOfAll * all_ + 0.01 * static_cast<double>(results_ + integers_ % kFew), weight = kOwnPart;
    for (const Value& operand : reals_) {
      if (operand->size() > 0) sum += weight * number_at(*operand, element * operand->size() / size);
      weight *= kOfNext;
    }
    return std::tanh(sum);
  }

  std::vector<Value> reals_;
  double all_ = 0;
  int64_t integers_ = 0, results_ = 0;
};

}  // namespace

Result<Value> stand_in_for(const Shape& results, Operands operands) { return StandIn(operands).of(results); }

}  // namespace lowtide::engine
