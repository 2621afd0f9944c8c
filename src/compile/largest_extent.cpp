#include "compile/largest_extent.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>

#include "analysis/account.h"
#include "analysis/leaves.h"
#include "base/near_words.h"
#include "base/progress.h"
#include "passes/resize/resize.h"
#include "report/arguments.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostTimes = 1 << 16;  ///< the given extent
constexpr int64_t kAtOnce = 8;           ///< the next extent tried is at most this multiple of the last

/// One array of the entry's arguments.
struct Argument {
  const Instruction* parameter = nullptr;
  int64_t leaf = 0;
  std::string path;
};

std::vector<Argument> arguments_of(const Module& module) {
  std::vector<Argument> all;
  for (const Instruction* parameter : module.entry->parameters()) {
    if (parameter == nullptr) continue;
    for (int64_t leaf = 0; leaf < leaf_count(parameter->shape); ++leaf) {
      all.push_back({parameter, leaf, argument_path(*parameter, leaf_index(parameter->shape, leaf))});
    }
  }
  return all;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

Status usage(std::string_view dimension, const std::string& expected) {
  return {Fault::kUsage, fmt::format("found {}, expected {}", dimension, expected)};
}

/// The argument with this path, instruction name or number.
Result<Argument> argument_named(const Module& module, std::string_view dimension, std::string_view name) {
  const std::vector<Argument> all = arguments_of(module);
  std::vector<std::string> paths;
  for (const Argument& a : all) {
    if (a.path == name || (a.leaf == 0 && a.parameter->name == name)) return a;
    paths.push_back(a.path);
  }
  if (const auto number = number_of<size_t>(name); number && *number < all.size()) return all[*number];
  return usage(dimension, fmt::format("an argument's path, or its number below {}, before the colon{}", all.size(),
                                      did_you_mean(near_words(name, paths))));
}

/// Resizes one dimension, by changing one of its atoms.
class Resizer {
 public:
  static Result<Resizer> make(const Module& module, std::string_view dimension) {
    const size_t colon = dimension.rfind(':');
    if (colon == std::string_view::npos) return usage(dimension, "ARGUMENT:DIMENSION, as in batch['x']:0");
    LT_ASSIGN_OR_RETURN(const Argument argument, argument_named(module, dimension, dimension.substr(0, colon)));
    const Shape& shape = *leaf_shape(argument.parameter->shape, argument.leaf);
    const auto d = number_of<size_t>(dimension.substr(colon + 1));
    const size_t rank = shape.is_array() ? shape.dims.size() : 0;
    if (!d || *d >= rank) {
      return usage(dimension, fmt::format("a dimension of {} ({}), which has {}, behind the colon", argument.path,
                                          to_string(shape), rank));
    }
    Resizer resizer(module, shape.dims[*d]);
    resizer.words_ = fmt::format("dimension {} of {}", *d, argument.path);
    return resizer.choose(resizer.extents_.dimension(*argument.parameter, argument.leaf, *d));
  }

  /// The module with extent units * step(); nothing if there is none, with the reason in `why`.
  Result<std::optional<Resized>> resized(int64_t units, std::string& why) const {
    const auto wish = [&](int32_t atom, int64_t extent) { return atom == atom_ ? units : extent; };
    auto made = resize(module_, extents_, wish);
    if (!made.ok()) return made.status();
    const auto mine = std::ranges::find(made->classes, atom_, &ExtentClass::atom);
    if (mine != made->classes.end() && mine->now == units) return std::optional<Resized>(made.take());
    why = mine == made->classes.end() || mine->reason.empty() ? "no program with it was found" : mine->reason;
    return std::optional<Resized>();
  }

  int64_t given() const { return given_; }
  int64_t units() const { return extents_.atoms().extent(atom_); }
  int64_t step() const { return given_ / units(); }
  const std::string& words() const { return words_; }

 private:
  Resizer(const Module& module, int64_t given) : module_(module), extents_(module), given_(given) {}

  /// Chooses the largest atom that can be doubled; if none can, the largest that can be halved.
  Result<Resizer> choose(const Product& product) {
    Product atoms = extents_.atoms().whole(product);
    std::ranges::stable_sort(
        atoms, [&](int32_t a, int32_t b) { return extents_.atoms().extent(a) > extents_.atoms().extent(b); });
    std::string why = "it has one element, which nothing tells from a dimension that was added";
    for (const bool doubles : {true, false}) {
      for (const int32_t atom : atoms) {
        atom_ = atom;
        if (!doubles && units() < 2) continue;
        LT_ASSIGN_OR_RETURN(const auto changed, resized(doubles ? 2 * units() : units() / 2, why));
        if (changed) return std::move(*this);
      }
    }
    return Status::unsupported(fmt::format("{} stays as it is: {}", words_, why));
  }

  const Module& module_;
  ModuleExtents extents_;
  int64_t given_ = 0;
  int32_t atom_ = 0;
  std::string words_;
};

/// Searches the largest extent that fits: doubles it, then interpolates and bisects.
class ExtentTrials {
 public:
  ExtentTrials(const Resizer& resizer, LargestExtent& found, int64_t multiple_of, const Context& context,
               const PeakOf& peak_of)
      : resizer_(resizer),
        found_(found),
        context_(context),
        peak_of_(peak_of),
        unit_(multiple_of / std::gcd(multiple_of, found.step)) {}

  Status run() {
    // Extents are multiples of unit_ from here on; the first is the given one, rounded down.
    int64_t next = std::max<int64_t>(1, resizer_.units() / unit_);
    const int64_t most = next * kMostTimes;
    while (!high_ && low_ < most) {
      LT_ASSIGN_OR_RETURN(const std::optional<bool> fits, try_one(next));
      if (context_.should_stop()) return {};
      if (fits == std::optional(true)) {
        low_ = next;
        next = std::clamp(border(), 2 * low_, kAtOnce * low_);
      } else {
        high_ = next;
      }
    }
    for (bool bisect = false; high_ && *high_ - low_ > 1; bisect = !bisect) {
      const int64_t middle = bisect ? (low_ + *high_) / 2 : std::clamp(border(), low_ + 1, *high_ - 1);
      LT_ASSIGN_OR_RETURN(const std::optional<bool> fits, try_one(middle));
      if (context_.should_stop()) return {};
      if (fits == std::optional(true)) {
        low_ = middle;
      } else {
        high_ = middle;
      }
    }
    return {};
  }

 private:
  /// Does it fit? Nothing if there is no such program.
  Result<std::optional<bool>> try_one(int64_t multiple) {
    std::string why;
    LT_ASSIGN_OR_RETURN(auto resized, resizer_.resized(multiple * unit_, why));
    if (!resized) {
      found_.beyond = why;
      return std::optional<bool>();
    }
    LargestExtent::Trial trial{.extent = multiple * unit_ * found_.step, .follows = resized->summary()};
    trial.peak = floor_any(*resized->module).bytes;
    if (trial.peak <= found_.limit) {
      LT_ASSIGN_OR_RETURN(const PeakAndTime plan, peak_of_(std::move(resized->module)));
      trial.peak = plan.peak;
      trial.seconds = plan.seconds;
    }
    trial.fits = trial.peak <= found_.limit;
    peaks_[multiple] = trial.peak;
    if (!context_.should_stop() || trial.fits) found_.tried.push_back(trial);
    return std::optional<bool>(trial.fits);
  }

  /// The extent at which the peak should reach the limit, by linear interpolation between the two nearest known peaks.
  int64_t border() const {
    const auto limit = static_cast<double>(found_.limit);
    if (peaks_.size() < 2) {
      const auto [at, peak] = *peaks_.begin();
      return static_cast<int64_t>(static_cast<double>(at) * limit / static_cast<double>(std::max<int64_t>(peak, 1)));
    }
    auto above = peaks_.upper_bound(std::max<int64_t>(low_, peaks_.begin()->first));
    if (above == peaks_.end()) --above;
    const auto below = std::prev(above);
    const double grows =
        static_cast<double>(above->second - below->second) / static_cast<double>(above->first - below->first);
    if (grows <= 0) return 2 * low_;
    const double at = static_cast<double>(below->first) + (limit - static_cast<double>(below->second)) / grows;
    return static_cast<int64_t>(std::clamp(at, 0.0, 1e15));
  }

  const Resizer& resizer_;
  LargestExtent& found_;
  const Context& context_;
  const PeakOf& peak_of_;
  int64_t unit_ = 1;
  int64_t low_ = 0;              ///< fits
  std::optional<int64_t> high_;  ///< doesn't fit
  std::map<int64_t, int64_t> peaks_;
};

}  // namespace

Result<LargestExtent> largest_extent(const Module& module, std::string_view dimension, int64_t limit,
                                     int64_t multiple_of, const PeakOf& peak_of) {
  LT_ASSIGN_OR_RETURN(const Resizer resizer, Resizer::make(module, dimension));
  LargestExtent found{.module = module.name,
                      .dimension = resizer.words(),
                      .given = resizer.given(),
                      .step = resizer.step(),
                      .limit = limit};
  ExtentTrials search(resizer, found, multiple_of, module.context(), peak_of);
  LT_RETURN_IF_ERROR(search.run());
  std::ranges::sort(found.tried, {}, &LargestExtent::Trial::extent);
  found.interrupted = module.context().stop().was_asked();
  return found;
}

}  // namespace lowtide::engine
