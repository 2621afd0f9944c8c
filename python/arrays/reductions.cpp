// Reductions, cumulative sums and the like, and sorting. Names and defaults are NumPy's.
#include "bind.h"

namespace lowtide::python {
namespace {

/// A function over all elements, flattened, and its overload along one axis (int) or several.
template <class Along, class... More>
struct Row {
  const char* name;
  array (*all)(const array&, More..., StreamOrDevice);
  array (*along)(const array&, Along, More..., StreamOrDevice);
  const char* doc;

  /// The Python function, with axis None for all elements.
  auto function() const {
    constexpr bool kOne = std::is_same_v<Along, int>;
    return of_array<std::conditional_t<kOne, Axis, Axes>, More...>(
        [f = *this](const array& a, const auto& axis, More... more) {
          if (!axis) return f.all(a, more..., kHere);
          if constexpr (kOne) {
            return f.along(a, *axis, more..., kHere);
          } else {
            return f.along(a, axes_of(*axis), more..., kHere);
          }
        });
  }
};
using Several = const std::vector<int>&;

constexpr Row<Several, bool> kReductions[] = {
    {"sum", sum, sum, "The sum; of booleans and small integers int32."},
    {"prod", prod, prod, "The product."},
    {"max", max, max, "The largest; NaN where there is one. ValueError of nothing."},
    {"min", min, min, "The smallest; NaN where there is one. ValueError of nothing."},
    {"all", all, all, "bool: is none 0?"},
    {"any", any, any, "bool: is one not 0?"},
    {"mean", mean, mean, "The mean; float32 of integers."},
    {"logsumexp", logsumexp, logsumexp, "log(sum(exp(a))), without overflow."},
    {"median", median, median, "The middle one in order, or the mean of both."},
    {"count_nonzero", count_nonzero, count_nonzero, "How many aren't 0."},
};

constexpr Row<Several, bool, int> kSpreads[] = {
    {"var", var, var, "The mean square distance from the mean, divided by n - ddof."},
    {"std", std, std, "The root of var()."}};

constexpr Row<int, bool> kPlaces[] = {
    {"argmax", argmax, argmax, "Where the largest is, uint32; the first of equals."},
    {"argmin", argmin, argmin, "Where the smallest is, uint32; the first of equals."}};

constexpr Row<int, bool, bool> kRuns[] = {
    {"cummax", cummax, cummax, "The largest so far; without axis of all elements in order."},
    {"cummin", cummin, cummin, "The smallest so far; without axis of all elements in order."},
    {"logcumsumexp", logcumsumexp, logcumsumexp, "log(cumsum(exp(a))), without overflow."},
};

constexpr Row<int, bool, bool, std::optional<Dtype>> kSums[] = {
    {"cumsum", cumsum, cumsum, "Running sums, of booleans int32; without axis of all elements in order."},
    {"cumprod", cumprod, cumprod, "Running products; without axis of all elements in order."},
};

constexpr Row<int> kOrders[] = {
    {"sort", sort, sort, "Ascending, NaN last; axis=None: of all elements."},
    {"argsort", argsort, argsort, "Where sort() has it from, uint32; equals keep their order."}};

using Chosen = array (*)(const array&, int, StreamOrDevice);
using ChosenAlong = array (*)(const array&, int, int, StreamOrDevice);
struct Choice {
  const char *name, *count;
  Chosen all;
  ChosenAlong along;
  const char* doc;
};
constexpr Choice kChoices[] = {
    {"partition", "kth", partition, partition, "The kth smallest at kth, smaller ones before it."},
    {"argpartition", "kth", argpartition, argpartition, "Where partition() has it from, uint32."},
    {"topk", "k", topk, topk, "The k largest, ascending."},
};

}  // namespace

void bind_reductions(nb::module_& m, Class& of) {
  for (const auto& row : kReductions) {
    both(m, of, row.name, row.function(), "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, row.doc);
  }
  for (const auto& row : kSpreads) {
    both(m, of, row.name, row.function(), "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, "ddof"_a = 0,
         row.doc);
  }
  for (const auto& row : kPlaces) {
    both(m, of, row.name, row.function(), "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, row.doc);
  }
  for (const auto& row : kRuns) {
    both(m, of, row.name, row.function(), "axis"_a = nb::none(), nb::kw_only(), "reverse"_a = false,
         "inclusive"_a = true, row.doc);
  }
  for (const auto& row : kSums) {
    const auto f = [row](const ArrayLike& a, Axis axis, const std::optional<DtypeLike>& dtype, bool reverse,
                         bool inclusive) {
      const array x = array_of(a);
      const auto type = dtype ? std::optional(dtype_of(*dtype)) : std::nullopt;
      return unlocked([&] {
        return axis ? row.along(x, *axis, reverse, inclusive, type, kHere)
                    : row.all(x, reverse, inclusive, type, kHere);
      });
    };
    both(m, of, row.name, f, "axis"_a = nb::none(), "dtype"_a = nb::none(), nb::kw_only(), "reverse"_a = false,
         "inclusive"_a = true, row.doc);
  }
  m.def("minmax", of_array<Axes, bool>([](const array& a, const Axes& axis, bool keepdims) {
          return axis ? minmax(a, axes_of(*axis), keepdims) : minmax(a, keepdims);
        }),
        "a"_a, "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, "(min(a), max(a))");
  for (const auto& row : kOrders) {
    both(m, of, row.name, row.function(), nb::arg("axis").none() = -1, row.doc);
  }
  for (const auto& [name, count, all_axes, along, doc] : kChoices) {
    const auto f = [all = all_axes, along = along](const array& a, int k, Axis axis) {
      return axis ? along(a, k, *axis, kHere) : all(a, k, kHere);
    };
    m.def(name, of_array<int, Axis>(f), "a"_a, nb::arg(count), nb::arg("axis").none() = -1, doc);
  }
  both(m, of, "softmax", of_array<Axes, bool>([](const array& a, const Axes& axis, bool precise) {
         return axis ? softmax(a, axes_of(*axis), precise) : softmax(a, precise);
       }),
       "axis"_a = nb::none(), nb::kw_only(), "precise"_a = false, "exp(a) / sum(exp(a)); precise: in float32.");
  m.def("diff", of_array<int, int>([](const array& a, int n, int axis) { return diff(a, n, axis); }), "a"_a, "n"_a = 1,
        "axis"_a = -1, "Differences of neighbours, n times.");
  m.def(
      "searchsorted",
      [](const ArrayLike& a, const ArrayLike& values, const std::string& side) {
        const auto [x, v] = operands(a, values);
        return unlocked([&, &x = x, &v = v] { return searchsorted(x, v, side); });
      },
      "a"_a, "v"_a, "side"_a = "left",
      "Where values would stand in the sorted vector a, uint32: before equals, or behind them with side=\"right\".");
  m.def(
      "unique",
      [](const ArrayLike& a, int size, bool index, bool inverse, bool counts,
         const std::optional<ArrayLike>& fill_value) -> nb::object {
        const array x = array_of(a);
        const auto fill = fill_value ? std::optional(array_of(*fill_value, x.dtype())) : std::nullopt;
        const std::vector<array> made = unlocked([&] { return unique(x, size, index, inverse, counts, fill); });
        return made.size() == 1 ? nb::cast(made[0]) : nb::object(nb::tuple(nb::cast(made)));
      },
      "a"_a, "size"_a, "return_index"_a = false, "return_inverse"_a = false, "return_counts"_a = false,
      "fill_value"_a = nb::none(),
      "The first `size` of the different elements, ascending; of fewer the rest is fill_value, or the smallest. Where "
      "asked for, a tuple: these; where each stands first; which one each element of a is; how many there are of "
      "each.");
}

}  // namespace lowtide::python
