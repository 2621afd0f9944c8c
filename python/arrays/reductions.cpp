// Reductions, running sums and their like, and what puts elements in order. Names and defaults are NumPy's.
#include "bind.h"

namespace lowtide::python {
namespace {

using All = array (*)(const array&, bool, StreamOrDevice);
using Some = array (*)(const array&, const std::vector<int>&, bool, StreamOrDevice);
struct Reduction {
  const char* name;
  All all;
  Some some;
  const char* doc;
};
constexpr Reduction kReductions[] = {
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

using SpreadAll = array (*)(const array&, bool, int, StreamOrDevice);
using SpreadSome = array (*)(const array&, const std::vector<int>&, bool, int, StreamOrDevice);
struct Spread {
  const char* name;
  SpreadAll all;
  SpreadSome some;
  const char* doc;
};
constexpr Spread kSpreads[] = {{"var", var, var, "The mean square distance from the mean, divided by n - ddof."},
                               {"std", std, std, "The root of var()."}};

using Place = array (*)(const array&, bool, StreamOrDevice);
using PlaceAlong = array (*)(const array&, int, bool, StreamOrDevice);
struct Placed {
  const char* name;
  Place all;
  PlaceAlong along;
  const char* doc;
};
constexpr Placed kPlaces[] = {{"argmax", argmax, argmax, "Where the largest is, uint32; the first of equals."},
                              {"argmin", argmin, argmin, "Where the smallest is, uint32; the first of equals."}};

using Running = array (*)(const array&, bool, bool, StreamOrDevice);
using RunningAlong = array (*)(const array&, int, bool, bool, StreamOrDevice);
struct Run {
  const char* name;
  Running all;
  RunningAlong along;
  const char* doc;
};
constexpr Run kRuns[] = {
    {"cumsum", cumsum, cumsum, "Running sums; without axis of all elements in order."},
    {"cumprod", cumprod, cumprod, "Running products; without axis of all elements in order."},
    {"cummax", cummax, cummax, "The largest so far; without axis of all elements in order."},
    {"cummin", cummin, cummin, "The smallest so far; without axis of all elements in order."},
    {"logcumsumexp", logcumsumexp, logcumsumexp, "log(cumsum(exp(a))), without overflow."},
};

using Sorted = array (*)(const array&, StreamOrDevice);
using SortedAlong = array (*)(const array&, int, StreamOrDevice);
struct Order {
  const char* name;
  Sorted all;
  SortedAlong along;
  const char* doc;
};
constexpr Order kOrders[] = {
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
  for (const auto& [name, all_axes, some, doc] : kReductions) {
    const auto f = [all = all_axes, some = some](const array& a, const Axes& axis, bool keepdims) {
      return axis ? some(a, axes_of(*axis), keepdims, kHere) : all(a, keepdims, kHere);
    };
    both(m, of, name, of_array<Axes, bool>(f), "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, doc);
  }
  for (const auto& [name, all_axes, some, doc] : kSpreads) {
    const auto f = [all = all_axes, some = some](const array& a, const Axes& axis, bool keepdims, int ddof) {
      return axis ? some(a, axes_of(*axis), keepdims, ddof, kHere) : all(a, keepdims, ddof, kHere);
    };
    both(m, of, name, of_array<Axes, bool, int>(f), "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false,
         "ddof"_a = 0, doc);
  }
  for (const auto& [name, all_axes, along, doc] : kPlaces) {
    const auto f = [all = all_axes, along = along](const array& a, Axis axis, bool keepdims) {
      return axis ? along(a, *axis, keepdims, kHere) : all(a, keepdims, kHere);
    };
    both(m, of, name, of_array<Axis, bool>(f), "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, doc);
  }
  for (const auto& [name, all_axes, along, doc] : kRuns) {
    const auto f = [all = all_axes, along = along](const array& a, Axis axis, bool reverse, bool inclusive) {
      return axis ? along(a, *axis, reverse, inclusive, kHere) : all(a, reverse, inclusive, kHere);
    };
    both(m, of, name, of_array<Axis, bool, bool>(f), "axis"_a = nb::none(), nb::kw_only(), "reverse"_a = false,
         "inclusive"_a = true, doc);
  }
  for (const auto& [name, all_axes, along, doc] : kOrders) {
    const auto f = [all = all_axes, along = along](const array& a, Axis axis) {
      return axis ? along(a, *axis, kHere) : all(a, kHere);
    };
    both(m, of, name, of_array<Axis>(f), nb::arg("axis").none() = -1, doc);
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
        if (side != "left" && side != "right")
          throw std::invalid_argument("searchsorted: found the side " + side + ", expected left or right");
        const auto [x, v] = operands(a, values);
        return unlocked([&, &x = x, &v = v] { return searchsorted(x, v, side == "right"); });
      },
      "a"_a, "v"_a, "side"_a = "left",
      "Where values would stand in the sorted vector a, uint32: before equals, or behind them with side=\"right\".");
}

}  // namespace lowtide::python
