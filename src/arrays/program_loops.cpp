// Rules for loops and branches. A loop with a known trip count becomes a scan: arrays that it reads slice by slice
// become the scan's xs, and arrays that it writes slice by slice its stacked results, so that a derivative saves
// neither.
#include <algorithm>
#include <cstring>
#include <map>

#include "arrays/program.h"
#include "arrays/support.h"
#include "lowtide/control.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

/// Evaluates integer scalars of a loop's body; those that depend on the program's arguments are unknown.
class Integers {
 public:
  using Arguments = std::vector<std::vector<std::optional<int64_t>>>;  ///< per parameter and leaf
  Integers(const Program& program, size_t function, const Arguments& arguments)
      : program_(program), function_(program.functions[function]), arguments_(arguments) {}

  std::optional<int64_t> at(size_t operation, size_t leaf) {
    const Source source = source_of(function_, operation, leaf);
    const auto key = std::pair(source.operation, source.leaf);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    known_[key] = std::nullopt;
    return known_[key] = compute(function_.operations[source.operation], source.leaf);
  }

 private:
  std::optional<int64_t> operand(const ProgramOperation& o, size_t k) { return at(o.operands[k], 0); }

  static std::optional<int64_t> constant_of(const ProgramOperation& o) {
    if (element_count(o.shape.dims) != 1) return std::nullopt;
    const void* const bytes = o.elements.get();
    const auto as = [&]<class T>() {
      T value;
      std::memcpy(&value, bytes, sizeof value);
      return static_cast<int64_t>(value);
    };
    const std::string& type = o.shape.type;
    if (type == "pred" || type == "u8") return as.operator()<uint8_t>();
    if (type == "s8") return as.operator()<int8_t>();
    if (type == "s16") return as.operator()<int16_t>();
    if (type == "u16") return as.operator()<uint16_t>();
    if (type == "s32") return as.operator()<int32_t>();
    if (type == "u32") return as.operator()<uint32_t>();
    if (type == "s64" || type == "u64") return as.operator()<int64_t>();
    return std::nullopt;
  }

  /// A result that would wrap around its type is unknown.
  static std::optional<int64_t> narrow(const ProgramOperation& o, std::optional<int64_t> value) {
    const std::string& type = o.shape.type;
    if (!value || type == "s64" || type == "pred") return value;
    const bool fits = type == "s32"   ? *value >= INT32_MIN && *value <= INT32_MAX
                      : type == "u32" ? *value >= 0 && *value <= UINT32_MAX
                                      : false;
    return fits ? value : std::nullopt;
  }

  std::optional<int64_t> compute(const ProgramOperation& o, size_t leaf) {
    if (o.parameter >= 0) return arguments_[o.parameter][leaf];
    if (o.elements) return constant_of(o);
    if (o.operation == "call") {
      Arguments given;
      for (const size_t k : o.operands) {
        given.emplace_back();
        const size_t leaves = leaf_count(function_.operations[k].shape);
        for (size_t l = 0; l < leaves; ++l) given.back().push_back(at(k, l));
      }
      const size_t callee = o.functions.at(0);
      return Integers(program_, callee, given).at(program_.functions[callee].result, leaf);
    }
    if (o.shape.type == "tuple" || element_count(o.shape.dims) != 1 || o.operands.empty()) return std::nullopt;
    if (o.shape.type != "pred" && !o.shape.type.starts_with('s') && !o.shape.type.starts_with('u')) return std::nullopt;
    return narrow(o, combined(o));
  }

  std::optional<int64_t> combined(const ProgramOperation& o) {
    const std::string& name = o.operation;
    const auto a = operand(o, 0);
    if (name == "select") {
      if (!a) return std::nullopt;
      return operand(o, *a ? 1 : 2);
    }
    if (!a) return std::nullopt;
    if (name == "reshape" || name == "convert" || name == "broadcast" || name == "bitcast") return a;
    if (name == "negate") return -*a;
    if (name == "not" && o.shape.type == "pred") return *a ? 0 : 1;
    if (o.operands.size() < 2) return std::nullopt;
    const auto b = operand(o, 1);
    if (!b) return std::nullopt;
    if (name == "add") return *a + *b;
    if (name == "subtract") return *a - *b;
    if (name == "multiply")
      return std::abs(*a) < INT32_MAX && std::abs(*b) < INT32_MAX ? std::optional(*a * *b) : std::nullopt;
    if (name == "maximum") return std::max(*a, *b);
    if (name == "minimum") return std::min(*a, *b);
    if (name == "divide" && *b > 0 && *a >= 0) return *a / *b;
    if (name == "remainder" && *b > 0 && *a >= 0) return *a % *b;
    if (o.shape.type == "pred" && name == "and") return *a & *b;
    if (o.shape.type == "pred" && name == "or") return *a | *b;
    if (name == "clamp" && o.operands.size() == 3) {
      const auto c = operand(o, 2);
      return c ? std::optional(std::min(std::max(*b, *a), *c)) : std::nullopt;
    }
    if (name == "compare") {
      const std::string direction = word_of(o, "direction");
      if (direction == "LT") return *a < *b;
      if (direction == "LE") return *a <= *b;
      if (direction == "GT") return *a > *b;
      if (direction == "GE") return *a >= *b;
      if (direction == "EQ") return *a == *b;
      if (direction == "NE") return *a != *b;
    }
    return std::nullopt;
  }

  const Program& program_;
  const ProgramFunction& function_;
  const Arguments& arguments_;
  std::map<std::pair<size_t, size_t>, std::optional<int64_t>> known_;
};

/// Consecutive indices along a dimension, ascending or descending, one per iteration.
struct Progress {
  int64_t first = 0;
  bool downwards = false;
};

/// A loop with a known trip count.
class Counted {
 public:
  Counted(const At& at, int64_t trips)
      : at_(at),
        body_number_(at.operation.functions.at(1)),
        body_(at.program->functions[body_number_]),
        trips_(trips),
        leaves_(at.in[0].size()) {}

  Leaves run() {
    find_roles();
    simulate();
    find_slices();
    return as_scan();
  }

 private:
  enum class Role : uint8_t { kCarried, kInvariant, kStack };
  struct Slices {
    size_t operation = 0;  ///< the operation that reads or writes them
    size_t leaf = 0;       ///< the loop-carried array, by its leaf of the loop's value
    Progress progress;
  };

  bool is_given(const Source& source) const { return body_.operations[source.operation].parameter == 0; }

  void find_roles() {
    roles_.assign(leaves_, Role::kCarried);
    for (size_t l = 0; l < leaves_; ++l) {
      next_.push_back(source_of(body_, body_.result, l));
      if (is_given(next_[l]) && next_[l].leaf == l) roles_[l] = Role::kInvariant;
    }
    reads_.assign(leaves_, 0);
    for (const ProgramOperation& o : body_.operations) {
      if (o.operation == "tuple" || o.operation == "get-tuple-element" || is_looked_through(o)) continue;
      for (const size_t operand : o.operands) {
        for (size_t l = 0; l < leaf_count(body_.operations[operand].shape); ++l) {
          const Source read = source_of(body_, operand, l);
          if (is_given(read)) ++reads_[read.leaf];
        }
      }
    }
    for (size_t l = 0; l < leaves_; ++l) {
      if (is_given(next_[l]) && next_[l].leaf != l) ++reads_[next_[l].leaf];
    }
  }

  /// Finds the start of each dynamic slice in each iteration, by evaluating the loop's integers, if these are known.
  void simulate() {
    constexpr int64_t kMostTrips = 1 << 20;
    if (trips_ > kMostTrips) return;
    for (size_t k = 0; k < body_.operations.size(); ++k) {
      const ProgramOperation& o = body_.operations[k];
      const bool reads = o.operation == "dynamic-slice", writes = o.operation == "dynamic-update-slice";
      if ((reads || writes) && o.operands.size() > (reads ? 1U : 2U)) places_[k] = {};
    }
    Integers::Arguments now(1);
    for (size_t l = 0; l < leaves_; ++l) {
      const Source start = source_of(at_.function, at_.operation.operands[0], l);
      const ProgramOperation& o = at_.function.operations[start.operation];
      std::optional<int64_t> value;
      if (o.elements && o.shape.dims.empty()) {
        const Integers::Arguments none;
        value = Integers(*at_.program, static_cast<size_t>(&at_.function - at_.program->functions.data()), none)
                    .at(start.operation, 0);
      }
      now[0].push_back(value);
    }
    for (int64_t trip = 0; trip < trips_; ++trip) {
      Integers integers(*at_.program, body_number_, now);
      for (auto place = places_.begin(); place != places_.end();) {
        const ProgramOperation& o = body_.operations[place->first];
        const auto where = integers.at(o.operands[o.operation == "dynamic-slice" ? 1 : 2], 0);
        if (where) place->second.push_back(*where);
        place = where ? std::next(place) : places_.erase(place);
      }
      if (places_.empty()) return;
      Integers::Arguments next(1);
      for (size_t l = 0; l < leaves_; ++l) next[0].push_back(integers.at(next_[l].operation, next_[l].leaf));
      now = std::move(next);
    }
  }

  /// The progress of a slice that has extent 1 in the first dimension, is whole in the others, and moves by one.
  std::optional<Progress> progress_of(size_t operation, const Shape& of, const Shape& slice) const {
    const auto found = places_.find(operation);
    if (found == places_.end() || of.empty() || slice.empty() || slice[0] != 1) return std::nullopt;
    if (!std::equal(of.begin() + 1, of.end(), slice.begin() + 1)) return std::nullopt;
    const std::vector<int64_t>& at = found->second;
    const Progress progress{at.front(), at.size() > 1 && at[1] < at[0]};
    for (size_t trip = 0; trip < at.size(); ++trip) {
      const auto by = static_cast<int64_t>(trip);
      if (at[trip] != progress.first + (progress.downwards ? -by : by)) return std::nullopt;
      if (at[trip] < 0 || at[trip] >= of[0]) return std::nullopt;
    }
    return progress;
  }

  void find_slices() {
    if (trips_ == 0) return;
    for (const auto& [k, places] : places_) {
      const ProgramOperation& o = body_.operations[k];
      const Source whole = source_of(body_, o.operands[0], 0);
      if (!is_given(whole)) continue;
      const Shape& of = body_.operations[o.operands[0]].shape.dims;
      if (o.operation == "dynamic-slice") {
        const auto progress = progress_of(k, of, o.shape.dims);
        if (progress && roles_[whole.leaf] == Role::kInvariant) reads_along_.push_back({k, whole.leaf, *progress});
      } else {
        const auto progress = progress_of(k, of, body_.operations[o.operands[1]].shape.dims);
        const bool is_next = next_[whole.leaf] == Source{k, 0};
        const bool stays = std::ranges::count(next_, Source{k, 0}) == 1 && !is_read(k);
        if (!progress || !is_next || !stays || reads_[whole.leaf] != 1) continue;
        roles_[whole.leaf] = Role::kStack;
        writes_along_.push_back({k, whole.leaf, *progress});
      }
    }
  }

  /// Does the body use the updated array?
  bool is_read(size_t operation) const {
    for (const ProgramOperation& o : body_.operations) {
      if (o.operation == "tuple" || o.operation == "get-tuple-element" || is_looked_through(o)) continue;
      for (const size_t operand : o.operands) {
        for (size_t l = 0; l < leaf_count(body_.operations[operand].shape); ++l) {
          if (source_of(body_, operand, l) == Source{operation, 0}) return true;
        }
      }
    }
    return false;
  }

  int64_t lowest(const Progress& progress) const {
    return progress.downwards ? progress.first - trips_ + 1 : progress.first;
  }

  Leaves as_scan() const {
    const Leaves& init = at_.in[0];
    size_t downwards = 0;
    for (const auto* slices : {&reads_along_, &writes_along_}) {
      for (const Slices& s : *slices) downwards += s.progress.downwards ? 1 : 0;
    }
    const bool backwards = 2 * downwards > reads_along_.size() + writes_along_.size();
    const auto in_order = [&](const array& a, const Progress& progress) {
      return progress.downwards == backwards ? a : reverse(a, {0});
    };
    Leaves carried, along;
    for (size_t l = 0; l < leaves_; ++l) {
      if (roles_[l] == Role::kCarried) carried.push_back(init[l]);
    }
    for (const Slices& s : reads_along_) {
      const array& whole = init[s.leaf];
      Dims starts(whole.ndim(), 0), stops = whole.shape();
      starts[0] = lowest(s.progress);
      stops[0] = starts[0] + trips_;
      along.push_back(in_order(slice_of(whole, starts, stops, Dims(whole.ndim(), 1)), s.progress));
    }
    std::vector<size_t> wanted;
    for (size_t l = 0; l < leaves_; ++l) {
      if (roles_[l] == Role::kCarried) wanted.push_back(next_[l].operation);
    }
    for (const Slices& s : writes_along_) wanted.push_back(body_.operations[s.operation].operands[1]);
    const auto body = [&](const Leaves& carry, const Leaves& x) {
      Leaves given = init;  // loop invariants are captured
      for (size_t l = 0, next = 0; l < leaves_; ++l) {
        if (roles_[l] == Role::kCarried) given[l] = carry[next++];
      }
      std::unordered_map<size_t, Leaves> known;
      for (size_t s = 0; s < reads_along_.size(); ++s) {
        const size_t operation = reads_along_[s].operation;
        known[operation] = {reshape_to(x[s], body_.operations[operation].shape.dims)};
      }
      const std::vector<Leaves> made = evaluated(at_.program, body_number_, {given}, std::move(known), wanted);
      Leaves last, results;
      size_t next = 0;
      for (size_t l = 0; l < leaves_; ++l) {
        if (roles_[l] == Role::kCarried) last.push_back(made[next++][next_[l].leaf]);
      }
      for (const Slices& s : writes_along_) {
        const Shape& shape = body_.operations[s.operation].shape.dims;
        results.push_back(reshape_to(made[next++].front(), Shape(shape.begin() + 1, shape.end())));
      }
      return std::pair(last, results);
    };
    const auto [last, results] = scan(body, carried, along, trips_, backwards);
    Leaves made = init;
    for (size_t l = 0, next = 0; l < leaves_; ++l) {
      if (roles_[l] == Role::kCarried) made[l] = last[next++];
    }
    for (size_t s = 0; s < writes_along_.size(); ++s) {
      const Slices& slices = writes_along_[s];
      const array stack = in_order(results[s], slices.progress);
      Dims starts(stack.ndim(), 0);
      starts[0] = lowest(slices.progress);
      made[slices.leaf] = update_slice(init[slices.leaf], stack, starts);
    }
    return made;
  }

  const At& at_;
  size_t body_number_;
  const ProgramFunction& body_;
  int64_t trips_;
  size_t leaves_;
  std::vector<Role> roles_;
  std::vector<Source> next_;   ///< per leaf, its next value
  std::vector<size_t> reads_;  ///< per leaf, the number of operands that read it
  std::map<size_t, std::vector<int64_t>> places_;
  std::vector<Slices> reads_along_, writes_along_;
};

Leaves loop(const At& at) {
  const ProgramOperation& o = at.operation;
  const size_t condition = o.functions.at(0), body = o.functions.at(1);
  if (o.trips == 0) return at.in[0];
  if (o.trips > 0) return Counted(at, o.trips).run();
  // Loop invariants are captured.
  const ProgramFunction& of = at.program->functions[body];
  const Leaves& init = at.in[0];
  std::vector<size_t> changing;
  Leaves carried;
  for (size_t l = 0; l < init.size(); ++l) {
    const Source next = source_of(of, of.result, l);
    if (of.operations[next.operation].parameter == 0 && next.leaf == l) continue;
    changing.push_back(l);
    carried.push_back(init[l]);
  }
  if (carried.empty()) refuse(o, "changes nothing and may never end");
  const auto all = [&](const Leaves& now) {
    Leaves given = init;
    for (size_t k = 0; k < changing.size(); ++k) given[changing[k]] = now[k];
    return std::vector<Leaves>{given};
  };
  const Leaves last = while_loop([&](const Leaves& now) { return called(at.program, condition, all(now)).front(); },
                                 [&](const Leaves& now) {
                                   const Leaves made = called(at.program, body, all(now));
                                   Leaves next;
                                   for (const size_t l : changing) next.push_back(made[l]);
                                   return next;
                                 },
                                 carried);
  return all(last).front();
}

Leaves branches(const At& at) {
  const ProgramOperation& o = at.operation;
  const auto branch = [&](size_t number) {
    return [&, number](const Leaves&) { return called(at.program, o.functions.at(number), {at.in[number + 1]}); };
  };
  const auto zeroth = branch(0);
  if (attribute(o, "true_computation")) return cond(at[0], zeroth, branch(1), {});
  // An index out of range selects the last branch.
  const size_t count = o.functions.size();
  std::function<Leaves(size_t)> from = [&](size_t number) -> Leaves {
    if (number + 1 == count) return branch(number)({});
    const array here = equal(at[0], constant(static_cast<double>(number), at[0].dtype()));
    return cond(here, branch(number), [&](const Leaves&) { return from(number + 1); }, {});
  };
  if (at[0].dtype().val == Dtype::Val::bool_) return cond(at[0], zeroth, branch(1), {});
  return from(0);
}

}  // namespace

void add_loop_rules(std::unordered_map<std::string_view, Rule>& rules) {
  rules["conditional"] = branches;
  rules["while"] = loop;
}

}  // namespace lowtide::lazy
