#include "ops/reducer.h"

#include <cstring>

#include "ops/elementwise.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostParts = 8;  ///< arrays that a ScalarProgram folds together

template <class T>
float widened(const std::byte* element) {
  T number;
  std::memcpy(&number, element, sizeof(T));
  return static_cast<float>(widen(number));
}

template <class T>
void rounded(float sum, std::byte* element) {
  const T number = narrow<T>(static_cast<computed_t<T>>(sum));
  std::memcpy(element, &number, sizeof(T));
}

}  // namespace

Value scalar_at(const Literal& array, int64_t at) {
  auto scalar = std::make_shared<Literal>(Shape::scalar(array.shape().type));
  const size_t width = static_cast<size_t>(stored_bytes(array.shape().type));
  std::memcpy(scalar->bytes().data(), array.bytes().data() + static_cast<size_t>(at) * width, width);
  return scalar;
}

void load_element(const Literal& array, int64_t at, std::byte* to) {
  const size_t width = static_cast<size_t>(stored_bytes(array.shape().type));
  std::memcpy(to, array.bytes().data() + static_cast<size_t>(at) * width, width);
}

void copy_element(const Literal& array, int64_t from, Literal& result, int64_t to) {
  const size_t width = static_cast<size_t>(stored_bytes(result.shape().type));
  std::memcpy(result.bytes().data() + static_cast<size_t>(to) * width,
              array.bytes().data() + static_cast<size_t>(from) * width, width);
}

void store_element(const std::byte* from, Literal& result, int64_t at) {
  const size_t width = static_cast<size_t>(stored_bytes(result.shape().type));
  std::memcpy(result.bytes().data() + static_cast<size_t>(at) * width, from, width);
}

void store_scalar(const Literal& scalar, Literal& result, int64_t at) {
  store_element(scalar.bytes().data(), result, at);
}

std::vector<Literal> results_for(const Shape& result) {
  std::vector<Literal> results;
  if (result.is_tuple()) {
    for (const Shape& element : result.elements) results.emplace_back(element);
  } else {
    results.emplace_back(result);
  }
  return results;
}

Value bundled(std::vector<Literal> results, bool as_tuple) {
  if (results.size() == 1 && !as_tuple) return std::make_shared<Literal>(std::move(results[0]));
  std::vector<Value> parts;
  for (Literal& result : results) parts.push_back(std::make_shared<Literal>(std::move(result)));
  return std::make_shared<Literal>(std::move(parts));
}

Result<Reducer> Reducer::make(const Computation& computation, Operands operands, FloatSums sums, EvalContext& context) {
  Reducer reducer(computation, context);
  const std::vector<Instruction*> parameters = computation.parameters();
  LT_ASSERT(parameters.size() == operands.size(), "a reducer takes an accumulator and an element per input");
  const size_t inputs = operands.size() / 2;
  for (size_t k = 0; k < inputs; ++k) {
    LT_ASSIGN_OR_RETURN(Value input, convert_elements(operands[k], parameters[inputs + k]->shape.type));
    LT_ASSIGN_OR_RETURN(Value initial, convert_elements(operands[inputs + k], parameters[k]->shape.type));
    reducer.inputs_.push_back(std::move(input));
    reducer.initial_.push_back(std::move(initial));
  }
  if (inputs == 1) {
    const Literal& input = *reducer.inputs_[0];
    reducer.combine_ = recognise_combiner(computation, input.shape().type).combine;
    reducer.data_ = input.bytes().data();
    reducer.width_ = static_cast<size_t>(stored_bytes(input.shape().type));
    reducer.sums_floats_ = sums == FloatSums::kWide && reducer.combine_ && input.shape().type == ElementType::kF32 &&
                           computation.root->opcode == Opcode::kAdd;
    const ElementType type = input.shape().type;
    if (reducer.combine_ && computation.root->opcode == Opcode::kAdd && is_floating(type) && type_bits(type) < 32) {
      dispatch(type, [&]<class T>() {
        if constexpr (std::is_same_v<computed_t<T>, float>) {
          reducer.widen_ = widened<T>;
          reducer.round_ = rounded<T>;
        }
      });
    }
  }
  if (!reducer.combine_ && inputs <= kMostParts) reducer.program_ = ScalarProgram::compile(computation);
  return reducer;
}

void Reducer::start() {
  if (widen_) {
    small_sum_ = widen_(initial_[0]->bytes().data());
  } else if (sums_floats_) {
    sum_ = static_cast<double>(initial_[0]->data<float>()[0]);
  } else if (combine_) {
    std::memcpy(accumulator_, initial_[0]->bytes().data(), width_);
  } else if (program_) {
    for (size_t k = 0; k < initial_.size(); ++k) load_element(*initial_[k], 0, program_->parameter(k));
  } else {
    accumulators_ = initial_;
  }
}

Status Reducer::fold(int64_t at) {
  if (widen_) {
    small_sum_ += widen_(data_ + static_cast<size_t>(at) * width_);
    return {};
  }
  if (sums_floats_) {
    sum_ += static_cast<double>(inputs_[0]->data<float>()[at]);
    return {};
  }
  if (combine_) {
    combine_(accumulator_, data_ + static_cast<size_t>(at) * width_);
    return {};
  }
  if (program_) {
    const size_t count = inputs_.size();
    for (size_t k = 0; k < count; ++k) load_element(*inputs_[k], at, program_->parameter(count + k));
    program_->run();
    // Copies all results before overwriting any parameter, because a result may itself be another parameter.
    std::array<std::byte, 16> made[kMostParts];
    for (size_t k = 0; k < count; ++k) std::memcpy(made[k].data(), program_->result(k), 16);
    for (size_t k = 0; k < count; ++k) std::memcpy(program_->parameter(k), made[k].data(), 16);
    return {};
  }
  std::vector<Value> arguments = accumulators_;
  for (const Value& input : inputs_) arguments.push_back(scalar_at(*input, at));
  LT_ASSIGN_OR_RETURN(const Value result, context_->call(*computation_, arguments));
  if (result->shape().is_tuple()) {
    accumulators_ = result->parts();
  } else {
    accumulators_ = {result};
  }
  return {};
}

void Reducer::store(std::vector<Literal>& results, int64_t at) {
  if (widen_) {
    round_(small_sum_, results[0].bytes().data() + static_cast<size_t>(at) * width_);
    return;
  }
  if (sums_floats_) {
    results[0].data<float>()[at] = static_cast<float>(sum_);
    return;
  }
  if (combine_) {
    std::memcpy(results[0].bytes().data() + static_cast<size_t>(at) * width_, accumulator_, width_);
    return;
  }
  for (size_t k = 0; k < results.size(); ++k) {
    if (program_) {
      store_element(program_->parameter(k), results[k], at);
    } else {
      store_scalar(*accumulators_[k], results[k], at);
    }
  }
}

}  // namespace lowtide::engine
