#include "passes/recompute/in_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "passes/recompute/lives.h"
#include "passes/recompute/making.h"
#include "passes/recompute/moment.h"
#include "passes/rewrite.h"
#include "passes/rules/recipe.h"

namespace lowtide::engine {
namespace {

constexpr int kMostCopies = 256;  ///< instructions copied or moved for one value
constexpr double kHeld = 1;       ///< weight of the part of live bytes that is kept longer: others could use that room
constexpr int64_t kMostTries = 400;         ///< values that are tried
constexpr int64_t kMostLooks = 10'000'000;  ///< instructions that are examined, in all tries
constexpr int64_t kLeastPart = 300;         ///< of the live bytes: smaller values aren't tried

/// How one value is recomputed at a place.
struct Plan {
  std::vector<Instruction*> names;   ///< the value, then its aliases that are read later
  std::vector<Instruction*> copied;  ///< instructions without copies so far, operands first; includes the names
  std::vector<Instruction*> before;  ///< existing copies that move before the reader
  int32_t reader = 0;                ///< the place of the first late reader
  double ns = 0;
  int left = kMostCopies;  ///< how many more instructions may be copied or moved
};

/// What was done for a value, so that it can be undone.
struct Change {
  std::vector<Instruction*> order;  ///< before the change
  std::unordered_set<const Instruction*> added;
  std::vector<std::pair<Instruction**, Instruction*>> operands;  ///< each changed operand, and its old value
};

class Room {
 public:
  Room(Computation& computation, const Target& target)
      : computation_(computation),
        cost_(target.cost()),
        is_virtual_(find_virtual_values(computation.module())),
        fixed_(find_fixed(computation)) {
    std::unordered_map<std::string, std::vector<const Instruction*>> by_name;
    for (const auto& i : computation.instructions()) {
      if (is_copy(*i)) names_.insert(i->name);
      std::vector<const Instruction*>& alike = by_name[base_name(*i)];
      const auto same = std::ranges::find_if(alike, [&](const Instruction* other) { return is_same(*i, *other); });
      put_in_group(*i, same != alike.end() ? group_of(**same) : groups_++);
      alike.push_back(i.get());
    }
    look();
  }

  int64_t most() const { return lives_->load()[fullest_]; }
  int32_t fullest() const { return fullest_; }
  const Lives& lives() const { return *lives_; }

  /// Values that are live at the fullest place, are read later, and could be recomputed.
  std::vector<int32_t> kept() const {
    std::vector<int32_t> kept;
    const int32_t full = fullest();
    for (int32_t p = 0; p < full; ++p) {
      const int64_t bytes = lives_->bytes(p);
      if (lives_->last_read(p) > full && bytes * kLeastPart > most() && !fixed_.contains(&lives_->at(p)))
        kept.push_back(p);
    }
    return kept;
  }

  /// How to recompute a value for its readers after the place `last`; none if that is impossible.
  std::optional<Plan> plan(int32_t value, int32_t last) {
    Plan plan;
    last_ = last;
    plan.reader = lives_->size();
    if (!add_names(lives_->at(value), plan) || plan.reader == lives_->size()) return {};
    for (Instruction* name : plan.names) dropped_.insert(name);
    bool is_possible = true;
    for (Instruction* name : plan.names) is_possible = is_possible && copy(*name, plan);
    dropped_.clear();
    ready_.clear();
    if (!is_possible) return {};
    return plan;
  }

  /// Bytes of copies that it keeps live longer.
  int64_t held(const Plan& plan) const {
    int64_t bytes = 0;
    for (const Instruction* i : plan.before) bytes += lives_->bytes(lives_->place_of(*i));
    return bytes;
  }

  Change apply(const Plan& plan) {
    Change change;
    for (const auto& i : computation_.instructions()) change.order.push_back(i.get());
    std::unordered_map<const Instruction*, Instruction*> again;
    std::vector<Instruction*> added;
    for (Instruction* i : plan.copied) {
      auto made = copy_of(*i);
      made->name = unused_name(*i);
      for (Instruction*& operand : made->operands) operand = stand_in(*operand, plan.reader, again);
      again[i] = computation_.append(std::move(made));
      added.push_back(again[i]);
      change.added.insert(again[i]);
      is_virtual_.resize(static_cast<size_t>(again[i]->id) + 1, false);
      is_virtual_[again[i]->id] = is_virtual(*i);
      put_in_group(*again[i], group_of(*i));
    }
    for (const Instruction* name : plan.names) {
      for (const int32_t p : readers_[lives_->place_of(*name)]) {
        if (p <= last_) continue;
        for (Instruction*& operand : lives_->at(p).operands) {
          if (operand != name) continue;
          change.operands.emplace_back(&operand, operand);
          operand = again.at(name);
        }
      }
    }
    put_before(plan, added, change.order);
    look();
    return change;
  }

  void undo(const Change& change) {
    for (const auto& [place, operand] : change.operands) *place = operand;
    for (const Instruction* i : change.added) names_.erase(i->name);
    computation_.remove_if([&](const Instruction& i) { return change.added.contains(&i); });
    computation_.reorder(change.order);
    look();
  }

 private:
  static std::string base_name(const Instruction& i) { return i.name.substr(0, i.name.find(kAgain)); }
  static bool is_copy(const Instruction& i) { return i.name.find(kAgain) != std::string::npos; }

  size_t group_of(const Instruction& i) const { return static_cast<size_t>(group_[i.id]); }
  void put_in_group(const Instruction& i, size_t group) {
    group_.resize(std::max(group_.size(), static_cast<size_t>(i.id) + 1), 0);
    group_[i.id] = static_cast<int32_t>(group);
  }

  /// Do both compute the same value? Their operands must be in groups. Names don't suffice: other rewrites derive names
  /// from those of copies.
  bool is_same(const Instruction& a, const Instruction& b) const {
    const auto is_same_operand = [&](const Instruction* x, const Instruction* y) {
      return group_of(*x) == group_of(*y);
    };
    return a.opcode == b.opcode && interchangeable(a.shape, b.shape) && a.called == b.called &&
           std::ranges::equal(a.operands, b.operands, is_same_operand) && text_of_operation(a) == text_of_operation(b);
  }

  /// The name of a copy, independent of tries that were undone.
  std::string unused_name(const Instruction& i) {
    const std::string base = base_name(i) + std::string(kAgain);
    std::string name = base;
    for (int k = 1; !names_.insert(name).second; ++k) name = fmt::format("{}.{}", base, k);
    return name;
  }

  void look() {
    lives_.emplace(computation_, is_virtual_);
    fullest_ = lives_->fullest();
    for (std::vector<int32_t>& places : alike_) places.clear();
    for (std::vector<int32_t>& readers : readers_) readers.clear();
    alike_.resize(groups_);
    readers_.resize(static_cast<size_t>(lives_->size()));
    for (int32_t p = 0; p < lives_->size(); ++p) {
      const Instruction& i = lives_->at(p);
      alike_[group_of(i)].push_back(p);
      for (const Instruction* operand : i.operands) readers_[lives_->place_of(*operand)].push_back(p);
    }
  }

  /// Finds the value's aliases before `last_`; false if a tuple that is read later holds it.
  bool add_names(Instruction& value, Plan& plan) {
    plan.names = {&value};
    for (size_t k = 0; k < plan.names.size(); ++k) {
      for (const int32_t p : readers_[lives_->place_of(*plan.names[k])]) {
        Instruction& i = lives_->at(p);
        if (p > last_) {
          plan.reader = std::min(plan.reader, p);
        } else if (lives_->last_read(p) > last_) {
          if (!i.shape.is_array()) return false;
          const bool is_alias = Lives::is_name(i) || is_virtual(i);
          if (is_alias && std::ranges::find(plan.names, &i) == plan.names.end()) plan.names.push_back(&i);
        }
      }
    }
    return true;
  }

  bool is_virtual(const Instruction& i) const { return is_virtual_[i.id]; }

  /// The copy after `last_` of an earlier value that is nearest to the reader; null: there is none.
  Instruction* copy_near(const Instruction& i, int32_t reader) const {
    Instruction* nearest = nullptr;
    int32_t least = std::numeric_limits<int32_t>::max();
    for (const int32_t p : alike_[group_of(i)]) {
      const int32_t distance = std::abs(p - reader);
      if (p <= last_ || distance >= least || !is_copy(lives_->at(p))) continue;
      least = distance;
      nearest = &lives_->at(p);
    }
    return nearest;
  }

  /// Is the value live at the reader in any case?
  bool is_kept(const Instruction& i, int32_t reader) const {
    if (dropped_.contains(&i)) return false;
    if (i.opcode == Opcode::kConstant) return true;
    const int32_t last = lives_->last_read(lives_->place_of(i));
    return (i.opcode == Opcode::kParameter && !is_donated(i)) || last >= reader;
  }

  Instruction* stand_in(Instruction& operand, int32_t reader,
                        const std::unordered_map<const Instruction*, Instruction*>& again) const {
    if (const auto made = again.find(&operand); made != again.end()) return made->second;
    if (is_kept(operand, reader)) return &operand;
    Instruction* copy = copy_near(operand, reader);
    return copy != nullptr ? copy : &operand;
  }

  /// Makes an earlier value available to the reader.
  bool get(Instruction& i, Plan& plan) {
    if (ready_.contains(&i) || is_kept(i, plan.reader)) return true;
    if (Instruction* known = copy_near(i, plan.reader)) return move(*known, plan);
    return copy(i, plan);
  }

  bool copy(Instruction& i, Plan& plan) {
    if (ready_.contains(&i)) return true;
    if (fixed_.contains(&i) || --plan.left < 0) return false;
    for (Instruction* operand : i.operands) {
      if (!get(*operand, plan)) return false;
    }
    ready_.insert(&i);
    plan.copied.push_back(&i);
    plan.ns += make_ns(i, cost_);
    return true;
  }

  /// Moves a copy that comes after the reader before it, with the copies that it reads.
  bool move(Instruction& i, Plan& plan) {
    const int32_t place = lives_->place_of(i);
    if (place < plan.reader) return true;
    if (ready_.contains(&i)) return true;
    if (!is_copy(i) || --plan.left < 0) return false;
    for (Instruction* operand : i.operands) {
      const int32_t at = lives_->place_of(*operand);
      // Earlier values that it reads must be kept until then.
      if (at > last_ ? !move(*operand, plan) : dropped_.contains(operand)) return false;
    }
    ready_.insert(&i);
    plan.before.push_back(&i);
    return true;
  }

  /// Puts the moved copies, then the added ones, before the reader.
  void put_before(const Plan& plan, const std::vector<Instruction*>& added, const std::vector<Instruction*>& given) {
    std::vector<bool> moves(given.size(), false);
    for (const Instruction* i : plan.before) moves[lives_->place_of(*i)] = true;
    std::vector<Instruction*> order;
    order.reserve(given.size() + added.size());
    for (int32_t p = 0; p < static_cast<int32_t>(given.size()); ++p) {
      if (p == plan.reader) {
        order.insert(order.end(), plan.before.begin(), plan.before.end());
        order.insert(order.end(), added.begin(), added.end());
      }
      if (!moves[p]) order.push_back(given[p]);
    }
    computation_.reorder(order);
  }

  Computation& computation_;
  const Cost& cost_;
  std::vector<bool> is_virtual_;
  const std::unordered_set<const Instruction*> fixed_;
  std::optional<Lives> lives_;
  int32_t fullest_ = 0;
  std::unordered_set<std::string> names_;      ///< of copies
  size_t groups_ = 0;                          ///< each has an instruction and its copies
  std::vector<int32_t> group_;                 ///< by id
  std::vector<std::vector<int32_t>> alike_;    ///< by group: places of its instructions
  std::vector<std::vector<int32_t>> readers_;  ///< by place
  // Of the current plan:
  int32_t last_ = 0;
  std::unordered_set<const Instruction*> dropped_, ready_;
};

struct Candidate {
  double ns_per_byte = 0;
  int32_t value = 0;
  Plan plan;
};

/// Values that can be recomputed, the cheapest first.
std::vector<Candidate> candidates(Room& room, double most_ns_per_byte) {
  std::vector<Candidate> found;
  const int32_t full = room.fullest();
  for (const int32_t p : room.kept()) {
    std::optional<Plan> plan = room.plan(p, full);
    if (!plan) continue;
    const double bytes = static_cast<double>(room.lives().bytes(p)) * price_of_age(p, full);
    const double held = static_cast<double>(room.held(*plan)) / static_cast<double>(room.most());
    const double price = plan->ns / bytes * (1 + kHeld * held);
    if (price <= most_ns_per_byte) found.push_back({price, p, std::move(*plan)});
  }
  std::ranges::stable_sort(found, {}, &Candidate::ns_per_byte);
  return found;
}

}  // namespace

InRoom recompute_in_room(Computation& computation, const Target& target, double ns_per_byte) {
  Room room(computation, target);
  InRoom done;
  std::vector<Change> changes;
  std::unordered_set<std::string> refused;
  size_t best = 0;
  int64_t least = room.most();
  double ns = 0, price = 0;
  int64_t tries = 0;
  const int64_t most_tries = std::min(kMostTries, kMostLooks / std::max(1, room.lives().size()));
  for (bool goes_on = true; goes_on && tries < most_tries;) {
    goes_on = false;
    const int32_t full = room.fullest();
    const int64_t before = room.most();
    const std::string last = room.lives().at(full).name;
    for (const Candidate& candidate : candidates(room, ns_per_byte)) {
      Instruction& value = room.lives().at(candidate.value);
      if (refused.contains(value.name)) continue;
      if (++tries > most_tries) break;
      Change change = room.apply(candidate.plan);
      if (room.most() > before) {
        room.undo(change);
        refused.insert(value.name);
        continue;
      }
      changes.push_back(std::move(change));
      ns += candidate.plan.ns;
      price = std::max(price, candidate.ns_per_byte);
      done.steps.push_back({last, value.name});
      done.points.push_back({price, room.most(), ns});
      if (room.most() < least) {
        least = room.most();
        best = changes.size();
      }
      goes_on = true;
      break;
    }
  }
  for (; changes.size() > best; changes.pop_back()) room.undo(changes.back());
  done.steps.resize(best);
  done.points.resize(best);
  return done;
}

bool recompute_in_room_alike(Computation& computation, const Target& target, const std::vector<MadeInRoom>& steps) {
  Room room(computation, target);
  for (const MadeInRoom& step : steps) {
    int32_t last = Lives::kNobody, value = Lives::kNobody;
    for (int32_t p = 0; p < room.lives().size(); ++p) {
      if (room.lives().at(p).name == step.last) last = p;
      if (room.lives().at(p).name == step.value) value = p;
    }
    if (last == Lives::kNobody || value == Lives::kNobody || value >= last) return false;
    const auto plan = room.plan(value, last);
    if (!plan) return false;
    room.apply(*plan);
  }
  return true;
}

}  // namespace lowtide::engine
