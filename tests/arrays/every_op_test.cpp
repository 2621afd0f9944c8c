// Every operation that the headers declare: its derivatives beside differences of values, its batches beside loops,
// with each input batched along each of its axes. An operation that stands in a header and not here fails the first
// test.
#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "every_op_rows.h"
#include "support.h"

namespace lowtide {
namespace {

using namespace rows;

std::vector<const Row*> every_row() {
  std::vector<const Row*> rows;
  for (const auto* list : {&elementwise_rows(), &shape_rows(), &folding_rows(), &matrix_rows(), &random_rows()}) {
    for (const Row& row : *list) rows.push_back(&row);
  }
  return rows;
}

/// Names that headers declare as functions whose result is an array, or several.
std::set<std::string> declared(const std::string& text) {
  static const std::regex kDeclaration(
      R"(\b(?:array|std::vector<array>|std::(?:pair|tuple)<array, array>)\s+([a-z_0-9]+)\()");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), kDeclaration), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

std::set<std::string> without_row(const std::set<std::string>& names) {
  std::set<std::string> left = names;
  for (const Row* row : every_row()) {
    std::istringstream words(row->names.substr(0, row->names.find(':')));
    for (std::string word; words >> word;) left.erase(word);
  }
  return left;
}

TEST(ArraysEveryOp, HasARow) {
  std::set<std::string> names;
  for (const char* header : {"ops.h", "fft.h", "linalg.h", "fast.h", "random.h"}) {
    std::ifstream file(std::string(LOWTIDE_HEADERS "/") + header);
    ASSERT_TRUE(file.good()) << header;
    std::ostringstream text;
    text << file.rdbuf();
    names.merge(declared(text.str()));
  }
  EXPECT_GT(names.size(), 200U);
  EXPECT_EQ(without_row(names), std::set<std::string>());
  EXPECT_EQ(without_row(declared("LOWTIDE_PUBLIC array\nspin(const array& a);")), std::set<std::string>{"spin"});
}

array value_of(const Input& input, const Shape& shape, uint64_t seed) {
  const array key = random::key(seed);
  const auto low = static_cast<float>(input.low), high = static_cast<float>(input.high);
  if (input.dtype == bool_ || issubdtype(input.dtype, integer))
    return astype(random::randint(static_cast<int>(input.low), static_cast<int>(input.high), shape, int32, key),
                  input.dtype);
  if (input.dtype != complex64) return astype(random::uniform(low, high, shape, float32, key), input.dtype);
  const array parts = random::uniform(low, high, shape, float32, key);
  return parts + array(complex64_t(0, 1)) * flip(parts);
}

In values_of(const Row& row, uint64_t seed, int64_t batch = 0) {
  In values;
  for (const Input& input : row.inputs) {
    Shape shape = input.shape;
    if (batch > 0) shape.insert(shape.begin(), batch);
    values.push_back(value_of(input, shape, seed++));
  }
  return values;
}

array distance(const array& a, const array& b) {
  const auto size = [](const array& x) {
    return x.size() == 0 ? array(0.0F)
                         : astype(max(abs(astype(x, x.dtype() == complex64 ? complex64 : float64))), float32);
  };
  const auto wide = [](const array& x) { return x.dtype() == complex64 ? x : astype(x, float64); };
  return size(wide(a) - wide(b)) / (size(b) + array(1.0F));
}

/// Pairs of numbers that must agree, evaluated together.
class Pairs {
 public:
  void add(const std::string& name, const array& found, const array& expected, double tolerance) {
    pairs_.push_back({name, found, expected, tolerance});
  }
  /// One line for each pair that doesn't.
  std::string wrong() const {
    std::vector<array> numbers;
    for (const Pair& pair : pairs_) numbers.insert(numbers.end(), {pair.found, pair.expected});
    eval(numbers);
    std::ostringstream lines;
    for (const Pair& pair : pairs_) {
      const double want = astype(pair.expected, float64).item<double>();
      const double got = astype(pair.found, float64).item<double>();
      if (!(std::fabs(got - want) <= pair.tolerance * (1 + std::fabs(want))))
        lines << pair.name << ": " << got << " instead of " << want << "\n";
    }
    return lines.str();
  }

 private:
  struct Pair {
    std::string name;
    array found, expected;
    double tolerance;
  };
  std::vector<Pair> pairs_;
};

/// The pairs that `add` makes: what is wrong with them, or with making them.
template <class F>
std::string wrong_of(const Row& row, F&& add) {
  Pairs pairs;
  std::string lines;
  const std::string fault = fault_of([&] {
    add(pairs);
    lines = pairs.wrong();
  });
  return fault.empty() ? lines : row.names + ": " + fault + "\n";
}

/// What f's derivatives and differences of f come to along one direction.
void add_slopes(Pairs& pairs, const Row& row, const ManyToOne& f) {
  const bool rough = row.slopes == Slopes::kRough;
  const In x = values_of(row, 5);
  In moving, v;
  std::vector<size_t> places;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!issubdtype(x[i].dtype(), inexact)) continue;
    places.push_back(i);
    moving.push_back(x[i]);
    v.push_back(value_of({x[i].shape(), -1, 1, x[i].dtype()}, x[i].shape(), 60 + i));
  }
  const ManyToOne of_moving = [&](const In& at) {
    In all = x;
    for (size_t k = 0; k < places.size(); ++k) all[places[k]] = at[k];
    return f(all);
  };
  const array y = of_moving(moving);
  if (moving.empty() || !issubdtype(y.dtype(), inexact)) return;
  const Dtype real_type = rough ? float32 : float64;
  const array w = value_of({y.shape(), -1, 1, real_type}, y.shape(), 7), w2 = w * w;
  const auto scalar = [&](const array& a) {
    return a.dtype() == complex64 ? sum(real(a) * w) + sum(imag(a) * w2) : sum(astype(a, real_type) * w);
  };
  const ManyToMany loss = [&](const In& at) { return In{scalar(of_moving(at))}; };
  const array h = array(rough ? 0.05 : 1e-5, real_type), twice = h + h;
  const auto moved = [&](const array& by) {
    In at;
    for (size_t k = 0; k < moving.size(); ++k) at.push_back(moving[k] + astype(by, moving[k].dtype()) * v[k]);
    return at;
  };
  const auto along = [&](const In& gradients) {
    array total = array(0.0, real_type);
    for (size_t k = 0; k < v.size(); ++k) total = total + sum(real(gradients[k] * v[k]));
    return total;
  };
  const double tolerance = rough ? 3e-3 : 2e-6;
  const array by_values = (loss(moved(h))[0] - loss(moved(negative(h)))[0]) / twice;
  const array one = ones_like(by_values);
  pairs.add(row.names + ", vjp", along(vjp(loss, moving, {one}).second), by_values, tolerance);
  pairs.add(row.names + ", jvp", jvp(loss, moving, v).second[0], by_values, tolerance);
  if (row.slopes != Slopes::kAll) return;
  const ManyToMany slope = [&](const In& at) { return In{along(vjp(loss, at, {one}).second)}; };
  pairs.add(row.names + ", twice", along(vjp(slope, moving, {one}).second),
            (slope(moved(h))[0] - slope(moved(negative(h)))[0]) / twice, 2e-5);
}

TEST(ArraysEveryOp, DerivativesAreWhatDifferencesComeTo) {
  for (const Row* row : every_row()) {
    if (row->slopes == Slopes::kNone) continue;
    EXPECT_EQ(wrong_of(*row, [&](Pairs& pairs) { add_slopes(pairs, *row, row->f); }), "");
  }
}

/// f of batches beside f of each of them: every input along every axis, or none; of three inputs the others first.
void add_batches(Pairs& pairs, const Row& row, const ManyToOne& f, const ManyToOne& alone, bool first_axes = false) {
  constexpr int kBatch = 2;
  const In x = values_of(row, 80, kBatch);
  const ManyToMany fun = [&](const In& in) { return In{f(in)}; };
  const auto add = [&](const std::vector<int>& axes) {  // -1: none
    In given;
    std::vector<array> each;
    for (size_t i = 0; i < x.size(); ++i)
      given.push_back(axes[i] == -1 ? take(x[i], 0, 0) : moveaxis(x[i], 0, axes[i]));
    for (int k = 0; k < kBatch; ++k) {
      In one;
      for (size_t i = 0; i < x.size(); ++i) one.push_back(take(x[i], axes[i] == -1 ? 0 : k, 0));
      each.push_back(alone(one));
    }
    const array batched = vmap(fun, axes, {0})(given)[0], loop = stack(each);
    if (batched.shape() != loop.shape()) throw std::runtime_error("a batch has another shape than a loop");
    std::string name = row.names + ", in_axes";
    for (const int axis : axes) name += " " + std::to_string(axis);
    pairs.add(name, distance(batched, loop), array(0.0F), 1e-5);
  };
  if (first_axes) return add(std::vector<int>(x.size(), 0));
  std::vector<int> axes(x.size(), -1);
  if (x.size() <= 2) {
    while (true) {
      size_t i = 0;
      while (i < x.size() && axes[i] == static_cast<int>(row.inputs[i].shape.size())) axes[i++] = -1;
      if (i == x.size()) break;
      ++axes[i];
      add(axes);
    }
    return;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    for (const int others : {-1, 0}) {
      for (int axis = 0; axis <= static_cast<int>(row.inputs[i].shape.size()); ++axis) {
        std::vector<int> chosen(x.size(), others);
        chosen[i] = axis;
        add(chosen);
      }
    }
  }
}

TEST(ArraysEveryOp, BatchesAreLoops) {
  for (const Row* row : every_row())
    EXPECT_EQ(wrong_of(*row, [&](Pairs& pairs) { add_batches(pairs, *row, row->f, row->f); }), "");
}

TEST(ArraysEveryOp, BatchesOfDerivativesAreLoops) {
  for (const Row* row : every_row()) {
    const In example = values_of(*row, 80);
    std::vector<int> places;
    for (size_t i = 0; i < example.size(); ++i) {
      if (issubdtype(example[i].dtype(), inexact)) places.push_back(static_cast<int>(i));
    }
    if (row->slopes == Slopes::kNone || places.empty() || !issubdtype(row->f(example).dtype(), inexact)) continue;
    const ManyToOne slope = [&](const In& x) {
      const ManyToOne loss = [&](const In& at) {
        const array y = row->f(at);
        return sum(sin(y.dtype() == complex64 ? real(y) + imag(y) : y));
      };
      return all_of(grad(loss, places)(x));
    };
    EXPECT_EQ(wrong_of(*row, [&](Pairs& pairs) { add_batches(pairs, *row, slope, slope, true); }), "");
  }
}

/// The controls: a factor that a derivative doesn't see, and a function that isn't the one of the loop.
TEST(ArraysEveryOp, WhatIsWrongIsSeen) {
  const Row row{"planted", [](const In& x) { return x[0] * stop_gradient(x[0]); }};
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  EXPECT_EQ(lines(wrong_of(row, [&](Pairs& pairs) { add_slopes(pairs, row, row.f); })), 3);
  const ManyToOne other = [](const In& x) { return x[0] * x[0] * x[0]; };
  EXPECT_EQ(lines(wrong_of(row, [&](Pairs& pairs) { add_batches(pairs, row, row.f, other); })), 3);
}

}  // namespace
}  // namespace lowtide
