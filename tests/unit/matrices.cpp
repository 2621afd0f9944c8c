#include "matrices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace lowtide::engine::library_test {

std::string Problem::words() const { return fmt::format("{}[{},{},{}]", type, batch, m, n); }

std::string Array::text() const {
  std::string text = fmt::format("{}[{}]", type, fmt::join(dims, ","));
  if (dims.size() == 3) text += "{1,2,0}";
  if (dims.size() == 2) text += "{1,0}";
  return text;
}

Matrices draw(const Problem& p, std::mt19937& random) {
  std::normal_distribution<double> normal;
  Matrices matrices{p.m, p.n, Numbers(static_cast<size_t>(p.batch * p.m * p.n))};
  for (double& x : matrices.numbers) x = p.type == "f32" ? static_cast<float>(normal(random)) : normal(random);
  return matrices;
}

namespace {

Value to_value(const std::string& type, std::vector<int64_t> dims, const Numbers& numbers) {
  const bool narrow = type == "f32";
  auto value = std::make_shared<Literal>(Shape::array(narrow ? ElementType::kF32 : ElementType::kF64, dims));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (narrow) {
      value->data<float>()[i] = static_cast<float>(numbers[i]);
    } else {
      value->data<double>()[i] = numbers[i];
    }
  }
  return value;
}

Numbers to_numbers(const std::string& type, const Bytes& bytes) {
  Numbers numbers;
  const auto add = [&]<class T>(T) {
    const auto* data = reinterpret_cast<const T*>(bytes.data());
    numbers.insert(numbers.end(), data, data + bytes.size() / sizeof(T));
  };
  if (type == "f32") {
    add(float{});
  } else if (type == "f64") {
    add(double{});
  } else {
    add(int32_t{});
  }
  return numbers;
}

}  // namespace

std::vector<Numbers> call(const std::string& routine, const std::string& config, const std::vector<Array>& operands,
                          const std::vector<Array>& results, const std::vector<Numbers>& given) {
  std::string parameters, names, layouts, shapes;
  std::vector<Value> arguments;
  for (size_t k = 0; k < operands.size(); ++k) {
    const char* comma = k > 0 ? ", " : "";
    parameters += fmt::format("  p{} = {} parameter({})\n", k, operands[k].text(), k);
    names += fmt::format("{}p{}", comma, k);
    layouts += comma + operands[k].text();
    arguments.push_back(to_value(operands[k].type, operands[k].dims, given[k]));
  }
  for (size_t r = 0; r < results.size(); ++r) shapes += (r > 0 ? ", " : "") + results[r].text();
  if (results.size() > 1) shapes = "(" + shapes + ")";
  const char letter = operands[0].type == "f32" ? 's' : 'd';
  const auto module = read(
      fmt::format("HloModule m\nENTRY e {{\n{}  ROOT r = {} custom-call({}), custom_call_target=\"lapack_{}{}_ffi\", "
                  "operand_layout_constraints={{{}}}, backend_config={{{}}}\n}}\n",
                  parameters, shapes, names, letter, routine, layouts, config));
  const std::vector<Bytes> one = run(*module, arguments, 1, false);
  EXPECT_EQ(one, run(*module, arguments, 3, false)) << "threads change bits";
  EXPECT_EQ(one, run(*module, arguments, 2, true)) << "in place";
  std::vector<Numbers> got;
  for (size_t r = 0; r < results.size(); ++r) got.push_back(to_numbers(results[r].type, one[r]));
  return got;
}

Matrices product(const Matrices& a, const Matrices& b, bool transposes_b) {
  const int64_t columns = transposes_b ? b.rows : b.columns;
  const auto batch = static_cast<int64_t>(a.numbers.size()) / (a.rows * a.columns);
  Matrices c{a.rows, columns, Numbers(static_cast<size_t>(batch * a.rows * columns))};
  for (int64_t l = 0; l < batch; ++l) {
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        for (int64_t k = 0; k < a.columns; ++k) c(l, i, j) += a(l, i, k) * (transposes_b ? b(l, j, k) : b(l, k, j));
      }
    }
  }
  return c;
}

Matrices transposed(const Matrices& a) {
  Matrices t{a.columns, a.rows, a.numbers};
  for (int64_t l = 0, batch = static_cast<int64_t>(a.numbers.size()) / (a.rows * a.columns); l < batch; ++l) {
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < a.columns; ++j) t(l, j, i) = a(l, i, j);
    }
  }
  return t;
}

void expect_near(const Matrices& got, const Matrices& want, double tolerance) {
  ASSERT_EQ(got.numbers.size(), want.numbers.size());
  double largest = 0, off = 0;
  for (size_t i = 0; i < got.numbers.size(); ++i) {
    ASSERT_TRUE(std::isfinite(got.numbers[i])) << "element " << i;
    largest = std::max(largest, std::fabs(want.numbers[i]));
    off = std::max(off, std::fabs(got.numbers[i] - want.numbers[i]));
  }
  EXPECT_LE(off, tolerance * largest);
}

void expect_orthonormal_columns(const Matrices& q, double tolerance) {
  const Matrices t = transposed(q), squares = product(t, q);
  Matrices one{q.columns, q.columns, Numbers(squares.numbers.size())};
  const int64_t square = q.columns * q.columns;
  for (size_t i = 0; i < one.numbers.size(); ++i)
    one.numbers[i] = static_cast<int64_t>(i) % square % (q.columns + 1) == 0;
  expect_near(squares, one, tolerance);
}

}  // namespace lowtide::engine::library_test
