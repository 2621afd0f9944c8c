// Rules for reductions over dimensions and windows, scans and sorts.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "arrays/program.h"
#include "arrays/support.h"
#include "lowtide/control.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

std::optional<Reducer> reducer_of(Op op) {
  switch (op) {
    case Op::kAdd: return Reducer::kSum;
    case Op::kMultiply: return Reducer::kProduct;
    case Op::kMaximum: return Reducer::kMaximum;
    case Op::kMinimum: return Reducer::kMinimum;
    case Op::kAnd: return Reducer::kAnd;
    case Op::kOr: return Reducer::kOr;
    default: return std::nullopt;
  }
}

Leaves operands_of(const At& at) {
  Leaves all;
  for (const Leaves& leaves : at.in) all.push_back(leaves.front());
  return all;
}

Leaves half(const Leaves& all, bool second) {
  const auto middle = all.begin() + static_cast<int64_t>(all.size() / 2);
  return second ? Leaves(middle, all.end()) : Leaves(all.begin(), middle);
}

Leaves as_declared(Leaves made, const At& at) {
  const std::vector<Spec> specs = leaf_specs(at.operation);
  for (size_t k = 0; k < made.size(); ++k) made[k] = as_type(made[k], specs[k].dtype, {});
  return made;
}

/// A reduction by an arbitrary function: a scan along the elements, in row-major order of the reduced dimensions.
Equal scanned(const At& at) {
  const Dims dimensions = dims_of(at.operation, "dimensions");
  return [program = at.program, function = at.operation.functions.at(0), dimensions, specs = leaf_specs(at.operation)](
             const Leaves& all, const Leaves&) {
    Leaves lines, init;
    for (const array& a : half(all, false)) {
      Dims order = dimensions;
      std::ranges::sort(order);
      Shape shape = {1};
      for (const int64_t d : order) shape[0] *= a.shape()[lazy::at(d)];
      for (int64_t d = 0; d < static_cast<int64_t>(a.ndim()); ++d) {
        if (std::ranges::find(dimensions, d) != dimensions.end()) continue;
        order.push_back(d);
        shape.push_back(a.shape()[lazy::at(d)]);
      }
      lines.push_back(reshape_to(permute(a, order), shape));
    }
    for (const array& start : half(all, true))
      init.push_back(broadcast_in(start, Shape(lines[0].shape().begin() + 1, lines[0].shape().end()), {}));
    const auto fold = [&](const Leaves& carry, const Leaves& x) {
      Leaves both = carry;
      both.insert(both.end(), x.begin(), x.end());
      Leaves next = called_on_elements(program, function, both);
      for (size_t k = 0; k < next.size(); ++k) next[k] = as_type(next[k], carry[k].dtype(), {});
      return std::pair(next, Leaves{});
    };
    Leaves made = scan(fold, init, lines).first;
    for (size_t k = 0; k < made.size(); ++k) made[k] = as_type(made[k], specs[k].dtype, {});
    return made;
  };
}

Leaves fold(const At& at) {
  const Dims dimensions = dims_of(at.operation, "dimensions");
  const auto op = binary_of(at.program->functions[at.operation.functions.at(0)]);
  if (!op || at.in.size() != 2) return verbatim(at, as_of(scanned(at)));
  array made = lazy::reduce(at[0], *reducer_of(*op), dimensions);
  if (!is_start_of(at, 1, *op)) made = elementwise(*op, {made, broadcast_in(at[1], made.shape(), {})}, made.dtype());
  return as_declared({made}, at);
}

// ---- windows

/// The taps of a window (its elements), in row-major order. A tap reads one element of the padded input for each place
/// of the window.
class Taps {
 public:
  static constexpr int64_t kMost = 4096;
  Taps(const ProgramOperation& operation, const Shape& of)
      : window_(window_of(operation, of.size())), of_(of), count_(element_count(window_.size)) {
    if (count_ > kMost)
      refuse(operation, fmt::format("has no derivative: its window has {} elements, more than {}", count_, kMost));
    for (size_t d = 0; d < of.size(); ++d) {
      const int64_t dilated = of[d] == 0 ? 0 : (of[d] - 1) * window_.input_dilation[d] + 1;
      padded_.push_back(window_.low[d] + dilated + window_.high[d]);
      const int64_t reach = (window_.size[d] - 1) * window_.dilation[d] + 1;
      places_.push_back(padded_[d] < reach ? 0 : (padded_[d] - reach) / window_.stride[d] + 1);
    }
  }
  int64_t count() const { return count_; }
  const Shape& places() const { return places_; }

  array read(const array& a, const array& padding, int64_t tap) const {
    const Dims from = offset(tap);
    Dims stops;
    for (size_t d = 0; d < from.size(); ++d) stops.push_back(from[d] + (places_[d] - 1) * window_.stride[d] + 1);
    return slice_of(pad_with(a, padding, window_.low, window_.high, holes()), from, stops, window_.stride);
  }
  /// The transpose of read(): puts the elements of `a`, one per place, where the tap reads; zeros elsewhere.
  array write(const array& a, int64_t tap) const {
    const Dims from = offset(tap);
    Dims high, interior;
    for (size_t d = 0; d < from.size(); ++d) {
      interior.push_back(window_.stride[d] - 1);
      high.push_back(padded_[d] - from[d] - ((places_[d] - 1) * window_.stride[d] + 1));
    }
    const array zero = constant(0, a.dtype());
    const array whole = pad_with(a, zero, from, high, interior);
    Dims starts = window_.low, stops;
    for (size_t d = 0; d < of_.size(); ++d) stops.push_back(starts[d] + (of_[d] - 1) * window_.input_dilation[d] + 1);
    return slice_of(whole, starts, stops, window_.input_dilation);
  }

 private:
  Dims offset(int64_t tap) const {
    Dims from(window_.size.size());
    for (size_t d = from.size(); d-- > 0; tap /= window_.size[d]) from[d] = tap % window_.size[d] * window_.dilation[d];
    return from;
  }
  Dims holes() const {
    Dims interior;
    for (const int64_t by : window_.input_dilation) interior.push_back(by - 1);
    return interior;
  }

  ProgramWindow window_;
  Shape of_, padded_, places_;
  int64_t count_;
};

/// Reduces all windows at once, tap by tap.
Equal tapped(const At& at) {
  const auto op = binary_of(at.program->functions[at.operation.functions.at(0)]);
  return [program = at.program, operation = at.operation, op](const Leaves& all, const Leaves&) {
    const Leaves inputs = half(all, false), start = half(all, true);
    const Taps taps(operation, inputs[0].shape());
    Leaves folded;
    for (const array& s : start) folded.push_back(broadcast_in(s, taps.places(), {}));
    for (int64_t tap = 0; tap < taps.count(); ++tap) {
      Leaves read;
      for (size_t k = 0; k < inputs.size(); ++k) read.push_back(taps.read(inputs[k], start[k], tap));
      if (op == Op::kMaximum || op == Op::kMinimum) {  // the first extreme element gets the whole cotangent
        const array better = op == Op::kMaximum ? greater(read[0], folded[0]) : less(read[0], folded[0]);
        folded = {where(better, read[0], folded[0])};
      } else {
        folded.insert(folded.end(), read.begin(), read.end());
        folded = called_on_elements(program, operation.functions.at(0), folded);
      }
    }
    const std::vector<Spec> specs = leaf_specs(operation);
    for (size_t k = 0; k < folded.size(); ++k) folded[k] = as_type(folded[k], specs[k].dtype, {});
    return folded;
  };
}

/// A running fold, if the window along one dimension covers all elements up to its place, or all from there on.
std::optional<array> running_fold(const At& at, Op op) {
  const Shape& shape = at[0].shape();
  const ProgramWindow window = window_of(at.operation, shape.size());
  std::optional<size_t> along;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (window.stride[d] != 1 || window.input_dilation[d] != 1 || window.dilation[d] != 1) return std::nullopt;
    if (window.size[d] == 1 && window.low[d] == 0 && window.high[d] == 0) continue;
    if (along || window.size[d] != shape[d]) return std::nullopt;
    along = d;
  }
  if (!along || shape[*along] < 2) return std::nullopt;
  const int64_t low = window.low[*along], high = window.high[*along], reach = shape[*along] - 1;
  if (!(low == reach && high == 0) && !(low == 0 && high == reach)) return std::nullopt;
  const std::optional<Reducer> reducer = reducer_of(op);
  if (!reducer || *reducer > Reducer::kMinimum) return std::nullopt;
  return running(at[0], static_cast<Running>(*reducer), static_cast<int64_t>(*along), low == 0);
}

Leaves reduce_window(const At& at) {
  const auto op = binary_of(at.program->functions[at.operation.functions.at(0)]);
  if (op && at.in.size() == 2 && is_start_of(at, 1, *op)) {
    if (const auto fold = running_fold(at, *op)) return as_declared({*fold}, at);
  }
  const Shape& shape = at[0].shape();
  const bool many = element_count(window_of(at.operation, shape.size()).size) > Taps::kMost;
  return verbatim(at, as_of(tapped(at)), many ? Batching() : batched_as(tapped(at)));
}

/// Each element of the source goes to the tap that `select` chooses in its window.
Leaves select_and_scatter(const At& at) {
  const bool sums = binary_of(at.program->functions[at.operation.functions.at(1)]) == Op::kAdd;
  const Equal dispersed = [program = at.program, operation = at.operation](const Leaves& in, const Leaves&) -> Leaves {
    const array &a = in[0], &source = in[1];
    const Taps taps(operation, a.shape());
    const array zero = constant(0, a.dtype()), inside = constant(1, bool_, a.shape()), outside = constant(0, bool_);
    array best = taps.read(a, zero, 0), has = taps.read(inside, outside, 0), which = constant(0, int32, taps.places());
    for (int64_t tap = 1; tap < taps.count(); ++tap) {
      const array next = taps.read(a, zero, tap), valid = taps.read(inside, outside, tap);
      const array stays = called_on_elements(program, operation.functions.at(0), {best, next})[0];
      const array moves = logical_and(valid, logical_or(logical_not(has), logical_not(stays)));
      best = where(moves, next, best);
      which = where(moves, constant(static_cast<double>(tap), int32, taps.places()), which);
      has = logical_or(has, valid);
    }
    array made = broadcast_in(in[2], a.shape(), {});
    for (int64_t tap = 0; tap < taps.count(); ++tap) {
      const array mine = equal(which, constant(static_cast<double>(tap), int32, taps.places()));
      made = made + taps.write(where(mine, source, zeros_like(source)), tap);
    }
    return {made};
  };
  const Shape& shape = at[0].shape();
  const bool many = element_count(window_of(at.operation, shape.size()).size) > Taps::kMost;
  return verbatim(at, sums ? as_of(dispersed) : Derivative(), sums && !many ? batched_as(dispersed) : Batching());
}

// ---- sorts and scans

/// The comparator with two additional scalars, which it ignores.
ProgramPtr with_indices(const ProgramPtr& program, size_t comparator) {
  auto made = std::make_shared<Program>(*program);
  ProgramFunction function = made->functions[comparator];
  int64_t parameters = 0;
  for (const ProgramOperation& operation : function.operations) parameters += operation.parameter >= 0 ? 1 : 0;
  for (const int64_t more : {0, 1}) {
    ProgramOperation index{.operation = "parameter", .name = fmt::format("index.{}", more)};
    index.shape = {"s32", {}, {}};
    index.parameter = parameters + more;
    function.operations.push_back(std::move(index));
  }
  made->functions.push_back(std::move(function));
  return made;
}

Leaves sort_all(const At& at) {
  const int64_t dimension = dims_of(at.operation, "dimensions").at(0);
  const auto derivative =
      as_of([program = at.program, operation = at.operation, dimension](const Leaves& in, const Leaves&) {
        const ProgramPtr extended = with_indices(program, operation.functions.at(0));
        ProgramOperation order = operation;
        order.functions = {extended->functions.size() - 1};
        for (auto& [key, text] : order.attributes) {
          if (key == "to_apply") text = fmt::format("%{}", order.functions[0]);
        }
        ModuleBuilder::Shape indices{"s32", in[0].shape(), {}};
        if (order.shape.type == "tuple") {
          order.shape.elements.push_back(indices);
        } else {
          order.shape = {"tuple", {}, {order.shape, indices}};
        }
        At with{extended, extended->functions.back(), order, {}};
        for (const array& a : in) with.in.push_back({stop_gradient(a)});
        with.in.push_back({counter(in[0].shape(), int32, dimension)});
        const array places = verbatim(with, zero).back();
        Leaves made;
        for (const array& a : in) made.push_back(take_along_axis(a, places, static_cast<int>(dimension)));
        return made;
      });
  const auto batching = [program = at.program, &function = at.function, operation = at.operation,
                         dimension](const Batch& batch) {
    ProgramOperation larger = operation;
    for (auto& [key, text] : larger.attributes) {
      if (key == "dimensions") text = list_text({dimension + 1});
    }
    const auto grow = [&](ModuleBuilder::Shape& shape) { shape.dims.insert(shape.dims.begin(), batch.count); };
    if (larger.shape.type != "tuple") grow(larger.shape);
    for (auto& element : larger.shape.elements) grow(element);
    At made{program, function, larger, {}};
    for (size_t i = 0; i < batch.inputs.size(); ++i)
      made.in.push_back({with_batch(batch.inputs[i], batch.batched[i], batch.count)});
    return sort_all(made);
  };
  return verbatim(at, derivative, batching);
}

Leaves top_k(const At& at) {
  const auto derivative =
      as_of([](const Leaves& in, const Leaves& out) -> Leaves { return {take_along_axis(in[0], out[1], -1), out[1]}; });
  return verbatim(at, derivative, by_element(at));
}

/// HLO's scan operation: its operands are the inputs along a dimension, then the carries.
Leaves scan_all(const At& at) {
  const Leaves all = operands_of(at);
  const int64_t carries = integer_of(at.operation, "num_carries", -1);
  if (carries < 0) refuse(at.operation, "doesn't say how many operands it carries");
  const auto middle = all.end() - carries;
  const int axis = static_cast<int>(dims_of(at.operation, "dimensions").at(0));
  Leaves along;
  for (auto input = all.begin(); input != middle; ++input) along.push_back(moveaxis(*input, axis, 0));
  const auto body = [&](const Leaves& carry, const Leaves& x) {
    std::vector<Leaves> arguments;
    for (const array& a : x) arguments.push_back({a});
    for (const array& a : carry) arguments.push_back({a});
    const Leaves made = called(at.program, at.operation.functions.at(0), arguments);
    const auto outputs = made.end() - carries;
    return std::pair(Leaves(outputs, made.end()), Leaves(made.begin(), outputs));
  };
  const auto [last, stacked] = scan(body, Leaves(middle, all.end()), along, -1, flag_of(at.operation, "is_reverse"));
  Leaves made;
  for (const array& a : stacked) made.push_back(moveaxis(a, 0, axis));
  made.insert(made.end(), last.begin(), last.end());
  return made;
}

}  // namespace

void add_fold_rules(std::unordered_map<std::string_view, Rule>& rules) {
  rules["reduce"] = fold;
  rules["reduce-window"] = reduce_window;
  rules["scan"] = scan_all;
  rules["select-and-scatter"] = select_and_scatter;
  rules["sort"] = sort_all;
  rules["topk"] = top_k;
}

}  // namespace lowtide::lazy
