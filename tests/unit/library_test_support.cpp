#include "library_test_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "base/denormals.h"
#include "support/allocation_watch.h"

namespace lowtide::engine::library_test {

std::unique_ptr<Module> read(const std::string& text) {
  auto module = parse_hlo(std::make_shared<Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message() << "\n" << text;
  return module.ok() ? module.take() : nullptr;
}

namespace {

template <class T>
constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

}  // namespace

Value definite(const Value& array) {
  const Shape& shape = array->shape();
  if (shape.rank() < 2 || shape.dims[shape.dims.size() - 2] != shape.dims.back()) return array;
  auto made = std::make_shared<Literal>(*array);
  const auto n = static_cast<size_t>(shape.dims.back());
  dispatch(shape.type, [&]<class T>() {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || kIsComplex<T>) {
      for (size_t first = 0; n > 0 && first < made->data<T>().size(); first += n * n) {
        T* a = made->data<T>().data() + first;
        for (size_t i = 0; i < n; ++i) {
          for (size_t j = 0; j < i; ++j) {
            if constexpr (kIsComplex<T>) {
              a[i * n + j] = std::conj(a[j * n + i]);
            } else {
              a[i * n + j] = a[j * n + i];
            }
          }
          a[i * n + i] = T(static_cast<float>(10 * n + i));
        }
      }
    }
  });
  return made;
}

Value random_array(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  auto value = std::make_shared<Literal>(Shape::array(shape.type, shape.dims));
  dispatch(shape.type, [&]<class T>() {
    for (T& element : value->data<T>()) {
      const int number = static_cast<int>(random() % 17) - 8;
      if constexpr (std::is_same_v<T, bool>) {
        element = number > 0;
      } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        element = T(static_cast<typename T::value_type>(number), static_cast<typename T::value_type>(random() % 5));
      } else if constexpr (std::is_integral_v<T> || requires(T t) { t.held; }) {
        element = static_cast<T>(number);
      } else {
        element = static_cast<T>(static_cast<float>(number) / 4.0f);
      }
    }
  });
  return value;
}

std::string dot(const std::string& result, const std::string& left, const std::string& right,
                const std::string& attributes) {
  return fmt::format(
      "HloModule m\nENTRY e {{\n  a = {} parameter(0)\n  b = {} "
      "parameter(1)\n  ROOT d = {} dot(a, b), {}\n}}\n",
      left, right, result, attributes);
}

std::string sort(const std::string& shapes, const std::string& result, int dimension, const std::string& comparator) {
  std::string parameters, names;
  int k = 0;
  for (size_t from = 0; from < shapes.size();) {
    const size_t to = std::min(shapes.find(';', from), shapes.size());
    parameters += fmt::format("  p{} = {} parameter({})\n", k, shapes.substr(from, to - from), k);
    names += fmt::format("{}p{}", k ? ", " : "", k);
    ++k;
    from = to + 1;
  }
  return fmt::format(
      "HloModule m\nc {{\n{}}}\nENTRY e {{\n{}  ROOT s = {} sort({}), "
      "dimensions={{{}}}, is_stable=true, to_apply=c\n}}\n",
      comparator, parameters, result, names, dimension);
}

void flatten(const Value& value, std::vector<Value>& leaves) {
  if (!value->shape().is_tuple()) {
    leaves.push_back(value);
    return;
  }
  for (const Value& part : value->parts()) flatten(part, leaves);
}

std::vector<Bytes> run(const Module& module, std::span<const Value> arguments, int threads, bool in_place) {
  const Instruction& root = *module.entry->root;
  EXPECT_TRUE(in_library(root)) << root.name;
  const DenormalsScope flushed(Denormals::kFlushed);  // as in a run
  const auto routine = library_routine(root);
  if (!routine) return {};
  routine->prepare();
  constexpr size_t kGuard = 64;
  std::vector<Bytes> operands, results;
  for (size_t k = 0; k < root.operands.size(); ++k) {
    const Instruction& operand = root.operand(k);
    const bool is_given = operand.opcode == Opcode::kParameter;
    const auto from = arguments[is_given ? static_cast<size_t>(operand.as<ParameterAttributes>().number) : k]->bytes();
    operands.emplace_back(from.begin(), from.end());
  }
  for_each_leaf(root.shape, [&](const ShapeIndex&, const Shape& leaf) {
    results.emplace_back(static_cast<size_t>(element_count(leaf) * stored_bytes(leaf.type)), std::byte{0xAB});
  });
  std::vector<const void*> from;
  for (const Bytes& operand : operands) from.push_back(operand.data());
  std::vector<void*> to;
  for (size_t k = 0; k < results.size(); ++k) {
    const int overwritten = in_place ? library_in_place(root, static_cast<int64_t>(k)) : -1;
    to.push_back(overwritten >= 0 ? operands[overwritten].data() : results[k].data());
  }
  const auto scratch_bytes = static_cast<size_t>(routine->scratch_bytes());
  Bytes room(scratch_bytes + kGuard + 64, std::byte{0xCD});
  void* aligned = room.data();
  size_t left = room.size();
  auto* scratch = static_cast<std::byte*>(std::align(64, scratch_bytes + kGuard, aligned, left));
  ThreadPool pool(threads);
  for (int round = 0; round < 2; ++round) {  // a routine is run many times
    if (round == 1 && in_place) break;
    const AllocationWatch watch;
    const Status status = routine->run(from, to, scratch, pool);
    EXPECT_LE(watch.most_bytes(), kAllowedOutsidePlan) << "beside the scratch";
    EXPECT_TRUE(status.ok()) << status.message();
  }
  for (size_t i = 0; i < kGuard; ++i) EXPECT_EQ(scratch[scratch_bytes + i], std::byte{0xCD}) << "beyond the scratch";
  for (size_t k = 0; k < results.size(); ++k) {
    if (to[k] != results[k].data()) std::memcpy(results[k].data(), to[k], results[k].size());
  }
  return results;
}

void expect_as_defined(const std::string& text, double tolerance, unsigned seed, bool factors) {
  SCOPED_TRACE(text);
  const auto module = read(text);
  if (!module) return;
  std::vector<Value> arguments;
  for (const Instruction* parameter : module->entry->parameters()) {
    arguments.push_back(random_array(parameter->shape, seed++));
    if (factors) arguments.back() = definite(arguments.back());
  }
  const auto expected = interpret(*module, arguments);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  const std::vector<Bytes> one = run(*module, arguments, 1, false), three = run(*module, arguments, 3, false);
  EXPECT_EQ(one, three) << "threads change bits";
  bool in_place = false;
  for (size_t k = 0; k < one.size(); ++k) {
    in_place |= library_in_place(*module->entry->root, static_cast<int64_t>(k)) >= 0;
  }
  if (in_place) {
    EXPECT_EQ(one, run(*module, arguments, 2, true)) << "in place";
  }
  std::vector<Value> leaves;
  for (const Value& value : *expected) flatten(value, leaves);
  ASSERT_EQ(leaves.size(), one.size());
  for (size_t k = 0; k < leaves.size(); ++k) {
    const Literal& want = *leaves[k];
    ASSERT_EQ(want.bytes().size(), one[k].size());
    if (tolerance == 0) {
      EXPECT_TRUE(std::ranges::equal(want.bytes(), one[k])) << "leaf " << k;
      continue;
    }
    auto got = std::make_shared<Literal>(want.shape());
    std::copy(one[k].begin(), one[k].end(), got->bytes().begin());
    dispatch(want.shape().type, [&]<class T>() {
      double largest = 0, off = 0;
      for (int64_t i = 0; i < want.size(); ++i) {
        const T x = want.data<T>()[i], y = got->data<T>()[i];
        if constexpr (requires { x.real(); }) {
          largest = std::max<double>(largest, std::abs(x));
          off = std::max<double>(off, std::abs(x - y));
        } else {
          largest = std::max(largest, std::fabs(static_cast<double>(x)));
          off = std::max(off, std::fabs(static_cast<double>(x) - static_cast<double>(y)));
        }
      }
      EXPECT_LE(off, tolerance * largest) << "leaf " << k;
    });
  }
}

}  // namespace lowtide::engine::library_test
