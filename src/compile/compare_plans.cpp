#include "compile/compare_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "compile/load.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "interp/noise.h"
#include "runtime/value_memory.h"

namespace lowtide::engine {
namespace {

constexpr uint64_t kSeed = 1;
constexpr double kScales[] = {1, 1.0 / 8, 1.0 / 64};  ///< of arguments, tried until all results are clear
constexpr double kClear = 0.02;       ///< of the largest element: a result that rounding moves less is clear
constexpr double kMostLost = 0.1;     ///< of the elements, that other rounding makes infinite or NaN
constexpr double kVague = 0.25;       ///< of the largest element: a result that rounding moves more can't be compared
constexpr double kMostOfSums = 1e-3;  ///< of the largest element: the most that long sums may differ
constexpr double kOfSums = 3;         ///< a stream's tiles are another order, of more sums
constexpr double kNothing = 16;       ///< roundings of the largest argument: less counts as zero
constexpr double kOfSpread = 3;       ///< roundings of another run move other and more elements

/// Multiplies the floats of the arguments by a power of two.
void scale(std::vector<Value>& arguments, double by) {
  for (Value& argument : arguments) {
    if (argument->shape().is_tuple()) {
      std::vector<Value> parts = argument->parts();
      scale(parts, by);
      argument = std::make_shared<Literal>(std::move(parts));
    } else if (is_floating(argument->shape().type)) {
      auto scaled = std::make_shared<Literal>(*argument);
      dispatch(scaled->shape().type, [&]<class T>() {
        if constexpr (std::is_same_v<T, double>) {
          for (T& x : scaled->data<T>()) x *= by;
        } else if constexpr (!std::is_integral_v<T> && std::is_constructible_v<T, float>) {
          if constexpr (!requires(T t) { t.held; } && !requires(T t) { t.real(); }) {
            for (T& x : scaled->data<T>()) x = T(static_cast<float>(x) * static_cast<float>(by));
          }
        }
      });
      argument = scaled;
    }
  }
}

/// `got`, with the elements that can't be compared replaced by the expected ones.
Value without(const Value& got, const Literal& want, const std::vector<int64_t>& elements) {
  if (elements.empty() || got->shape().dims != want.shape().dims) return got;
  auto changed = std::make_shared<Literal>(*got);
  const size_t bytes = want.bytes().size() / static_cast<size_t>(want.size());
  for (const int64_t e : elements) {
    const auto at = static_cast<std::ptrdiff_t>(static_cast<size_t>(e) * bytes);
    std::copy_n(want.bytes().begin() + at, bytes, changed->bytes().begin() + at);
  }
  return changed;
}

/// The largest magnitude of floats or complex numbers; infinite if an element is NaN.
double largest_of(const Literal& array) {
  double largest = 0;
  const auto look_at = [&](double x) { largest = std::isnan(x) ? HUGE_VAL : std::max(largest, x); };
  if (array.shape().type == ElementType::kC64) {
    for (const std::complex<float>& z : array.data<std::complex<float>>()) look_at(std::abs(z));
  } else if (array.shape().type == ElementType::kC128) {
    for (const std::complex<double>& z : array.data<std::complex<double>>()) look_at(std::abs(z));
  } else {
    for (int64_t e = 0; e < array.size(); ++e) look_at(std::fabs(number_at(array, e)));
  }
  return largest;
}

/// The largest element of all floats, at least 1, since the program itself may contain constants.
double largest_float(const std::vector<Value>& arguments) {
  double largest = 1;
  for (const Value& argument : arguments) {
    if (!is_floating(argument->shape().type) && !is_complex(argument->shape().type)) continue;
    if (const double x = largest_of(*argument); std::isfinite(x)) largest = std::max(largest, x);
  }
  return largest;
}

/// The roundoff of the narrowest float in which the module computes.
double coarsest_roundoff(const Module& module) {
  double coarsest = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (!rounds(*i)) continue;
      for_each_leaf(i->shape, [&](const ShapeIndex&, const Shape& leaf) {
        if (leaf.is_array()) coarsest = std::max(coarsest, roundoff_of(leaf.type));
      });
    }
  }
  return coarsest;
}

void add_noise(std::vector<Value>& arguments, double roundoff, Noise& noise) {
  for (Value& argument : arguments) {
    if (!is_floating(argument->shape().type)) continue;
    auto moved = std::make_shared<Literal>(*argument);
    noise.add(*moved, 2 * roundoff);
    argument = moved;
  }
}

}  // namespace

Result<std::vector<Value>> PlanComparison::run(const Compiled& compiled, std::span<const Value> arguments) const {
  LT_ASSIGN_OR_RETURN(const auto loaded, load_program(compiled, *backend_));
  const ValueMemory memory(*compiled.program, arguments);
  LT_RETURN_IF_ERROR(loaded->run(memory.memory(), compiled.program->module->context().pool()));
  return memory.results(*loaded);
}

Result<bool> PlanComparison::run_as_given(const Module& module, const Planner& planner, bool quick, double by) {
  arguments_ = seeded_arguments(module, kSeed);
  coarsest_ = coarsest_roundoff(module);
  if (by != 1) scale(arguments_, by);
  if (quick) {
    auto interpreted = interpret(module, arguments_);
    if (interpreted.ok()) {
      expected_ = interpreted.take();
      LT_ASSIGN_OR_RETURN(const std::vector<Value> noisy, interpret(module, arguments_, kSeed));
      how_ = "by the definitions of its operations";
      measure(noisy);
      LT_ASSIGN_OR_RETURN(const Compiled plain, planner.plan(without_streams()));
      LT_ASSIGN_OR_RETURN(const std::vector<Value> summed, run(plain, arguments_));
      allow_for_sums(summed);
      return unclear() == 0;
    }
    if (interpreted.status().fault() != Fault::kUnsupported) return interpreted.status();
  }
  LT_ASSIGN_OR_RETURN(const Compiled plain, planner.plan(without_streams()));
  LT_ASSIGN_OR_RETURN(expected_, run(plain, arguments_));
  std::vector<Value> moved = arguments_;
  Noise noise(kSeed);
  add_noise(moved, coarsest_, noise);
  LT_ASSIGN_OR_RETURN(const std::vector<Value> noisy, run(plain, moved));
  how_ = "compiled without streams";
  measure(noisy);
  if (!module.sums_in_order) {
    const std::unique_ptr<Module> in_order = module.clone();
    in_order->sums_in_order = true;
    LT_ASSIGN_OR_RETURN(const Planner exact, Planner::make(*in_order, planner.target()));
    LT_ASSIGN_OR_RETURN(const Compiled other, exact.plan(without_streams()));
    LT_ASSIGN_OR_RETURN(const std::vector<Value> summed, run(other, arguments_));
    allow_for_sums(summed);
  }
  return unclear() == 0;
}

Result<PlanComparison> PlanComparison::make(const Module& module, const Planner& planner, const Backend& backend,
                                            bool quick) {
  std::optional<PlanComparison> best;
  for (const double by : kScales) {
    PlanComparison comparison(backend);
    LT_ASSIGN_OR_RETURN(const bool clear, comparison.run_as_given(module, planner, quick, by));
    const auto better = [](const PlanComparison& a, const PlanComparison& b) {
      return std::pair(a.vague(), a.unclear()) < std::pair(b.vague(), b.unclear());
    };
    if (!best || better(comparison, *best)) best = std::move(comparison);
    if (clear) break;
  }
  return *best;
}

size_t PlanComparison::vague() const {
  return static_cast<size_t>(std::ranges::count_if(spreads_, [](const Spread& s) { return s.vague; }));
}

size_t PlanComparison::unclear() const {
  return static_cast<size_t>(
      std::ranges::count_if(spreads_, [](const Spread& s) { return s.vague || s.of_max > kClear || !s.lost.empty(); }));
}

std::string PlanComparison::agreement() const {
  const size_t told = results() - vague();
  if (told == 0) return fmt::format("rounding alone decides what the program's {} results are", results());
  std::string found = fmt::format("{} result{} agree{} with the program as given, {}", told, told == 1 ? "" : "s",
                                  told == 1 ? "s" : "", how_);
  if (vague() > 0) found += fmt::format("; {} can't be told from rounding", vague());
  return found;
}

void PlanComparison::measure(const std::vector<Value>& noisy) {
  spreads_.clear();
  for (size_t k = 0; k < expected_.size(); ++k) {
    const Literal& want = *expected_[k];
    const bool real = is_floating(want.shape().type);
    if (!real && !is_complex(want.shape().type)) {
      // If noise flips an element, another run may flip a different one.
      spreads_.push_back({0, !std::ranges::equal(want.bytes(), noisy[k]->bytes()), {}});
      continue;
    }
    if (!real) {
      const Comparison c = compare(*noisy[k], want, usual_tolerance(want.shape().type), "");
      spreads_.push_back({0, !c.agrees(), {}});
      continue;
    }
    double most = 0, largest = 0;
    std::vector<int64_t> lost;
    for (int64_t e = 0; e < want.size(); ++e) {
      const double x = number_at(want, e), y = number_at(*noisy[k], e);
      if (!std::isfinite(x) || !std::isfinite(y)) {
        lost.push_back(e);
        continue;
      }
      most = std::max(most, std::fabs(x - y));
      largest = std::max(largest, std::fabs(x));
    }
    const double of_max = largest > 0 ? most / largest : 0;
    const bool few_left = static_cast<double>(lost.size()) > kMostLost * static_cast<double>(want.size());
    spreads_.push_back({of_max, few_left || of_max > kVague, std::move(lost)});
  }
}

void PlanComparison::allow_for_sums(const std::vector<Value>& summed) {
  for (size_t k = 0; k < expected_.size() && k < summed.size(); ++k) {
    const Literal& want = *expected_[k];
    if (!is_floating(want.shape().type) || summed[k]->shape().dims != want.shape().dims) continue;
    double most = 0, largest = 0;
    for (int64_t e = 0; e < want.size(); ++e) {
      const double x = number_at(want, e), y = number_at(*summed[k], e);
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      most = std::max(most, std::fabs(x - y));
      largest = std::max(largest, std::fabs(x));
    }
    if (largest > 0) spreads_[k].of_max = std::max(spreads_[k].of_max, std::min(kMostOfSums, kOfSums * most / largest));
  }
}

Result<std::string> PlanComparison::difference(const Compiled& plan) const {
  LT_ASSIGN_OR_RETURN(const std::vector<Value> got, run(plan, arguments_));
  if (got.size() != expected_.size()) return fmt::format("{} results, expected {}", got.size(), expected_.size());
  const double rounding = kNothing * largest_float(arguments_);
  for (size_t i = 0; i < expected_.size(); ++i) {
    if (spreads_[i].vague) continue;
    Tolerance tolerance = usual_tolerance(expected_[i]->shape().type);
    tolerance.atol_of_max += kOfSpread * spreads_[i].of_max;
    const Value compared = without(got[i], *expected_[i], spreads_[i].lost);
    if (is_floating(expected_[i]->shape().type) || is_complex(expected_[i]->shape().type)) {
      // A result that is zero except for rounding, such as the variance of one element, has no scale of its own. The
      // expected results are computed in f64.
      if (largest_of(*expected_[i]) <= rounding * roundoff_of(ElementType::kF64) &&
          largest_of(*compared) <= rounding * coarsest_)
        continue;
    }
    const Comparison c = compare(*compared, *expected_[i], tolerance, fmt::format("out{}", i));
    if (!c.agrees()) return fmt::format("{} ({} elements differ)", c.first, c.mismatches);
  }
  return std::string();
}

Result<std::optional<size_t>> PlanComparison::first_wrong(size_t count,
                                                          const std::function<Result<Compiled>(size_t)>& plan) const {
  for (size_t k = 0; k <= count; ++k) {
    LT_ASSIGN_OR_RETURN(const Compiled compiled, plan(k));
    LT_ASSIGN_OR_RETURN(const std::string wrong, difference(compiled));
    if (!wrong.empty()) return std::optional<size_t>(k);
  }
  return std::optional<size_t>();
}

}  // namespace lowtide::engine
