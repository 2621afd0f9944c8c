// Arguments that any implementation can reproduce from a seed.
#include <complex>

#include "interp/interpreter.h"

namespace lowtide::engine {
namespace {

uint64_t splitmix64(uint64_t z) {
  z += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

template <class T>
T element(uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits % 2 != 0;
  } else if constexpr (std::is_integral_v<T> || requires(T t) { t.held; }) {
    return T(static_cast<int64_t>(bits % 8));
  } else {
    const double number = 0.1 + 0.9 * (static_cast<double>(bits) / 16777216.0);
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>) {
      return T(number);
    } else {
      return T(static_cast<float>(number));  // narrow types round from float
    }
  }
}

Value make(const Shape& shape, uint64_t seed, int64_t& k) {
  if (shape.is_tuple()) {
    std::vector<Value> parts;
    for (const Shape& part : shape.elements) parts.push_back(make(part, seed, k));
    return std::make_shared<Literal>(std::move(parts));
  }
  if (!shape.is_array()) return std::make_shared<Literal>(Literal::token());
  auto literal = std::make_shared<Literal>(shape);
  seed_elements(shape.type, seed, k++, 0, literal->size(), literal->bytes().data());
  return literal;
}

}  // namespace

void seed_elements(ElementType type, uint64_t seed, int64_t argument, int64_t begin, int64_t end, std::byte* array) {
  const uint64_t base = (seed << 56) + (static_cast<uint64_t>(argument) << 40);
  dispatch(type, [&]<class T>() {
    auto* const data = reinterpret_cast<T*>(array);
    for (int64_t i = begin; i < end; ++i) data[i] = element<T>(splitmix64(base + static_cast<uint64_t>(i)) >> 40);
  });
}

std::vector<Value> seeded_arguments(const Module& module, uint64_t seed) {
  std::vector<Value> arguments;
  int64_t k = 0;
  for (const Instruction* parameter : module.entry->parameters()) arguments.push_back(make(parameter->shape, seed, k));
  return arguments;
}

}  // namespace lowtide::engine
