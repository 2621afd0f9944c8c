#include "passes/resize/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ops/verify.h"
#include "passes/resize/set_extents.h"

namespace lowtide::engine {
namespace {

constexpr int kMostAttempts = 24;

/// The first instruction that is no longer well-typed, as it is in `before`.
const Instruction* first_broken(const Module& before, const Module& after, std::string& words) {
  for (size_t c = 0; c < before.computations().size(); ++c) {
    std::map<std::string_view, const Instruction*> named;
    for (const auto& i : before.computations()[c]->instructions()) named.emplace(i->name, i.get());
    for (const auto& i : after.computations()[c]->instructions()) {
      const Status status = verify(*i);
      if (status.ok()) continue;
      words = status.message();
      const auto found = named.find(i->name);
      if (found != named.end()) return found->second;
    }
  }
  return nullptr;
}

std::vector<ExtentClass> classes_of(const ModuleExtents& extents, const SolvedExtents& solved) {
  std::vector<ExtentClass> classes;
  for (int32_t a = 0; a < extents.atoms().count(); ++a) {
    if (extents.atoms().whole({a}) != Product{a}) continue;
    const auto at = static_cast<size_t>(a);
    classes.push_back({a, extents.atoms().extent(a), solved.values[at], to_string(solved.reasons[at])});
  }
  std::ranges::sort(classes, {}, [](const ExtentClass& c) { return std::pair(-c.extent, c.atom); });
  return classes;
}

}  // namespace

std::string Resized::summary() const {
  std::vector<std::string> parts;
  std::set<std::pair<int64_t, int64_t>> told;
  for (const ExtentClass& c : classes) {
    if (c.now != c.extent && told.insert({c.extent, c.now}).second)
      parts.push_back(fmt::format("{} -> {}", c.extent, c.now));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool Resized::changed() const {
  return std::ranges::any_of(classes, [](const ExtentClass& c) { return c.now != c.extent; });
}

Result<Resized> resize(const Module& module, const ModuleExtents& extents,
                       const std::function<int64_t(int32_t, int64_t)>& wish) {
  ModuleExtents own = extents;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const SolvedExtents solved = solve_extents(own, wish);
    Resized resized{.module = module.clone(), .classes = classes_of(own, solved)};
    set_extents(module, own, solved, *resized.module);
    const Status status = verify(*resized.module);
    if (status.ok()) return resized;
    std::string words;
    const Instruction* broken = first_broken(module, *resized.module, words);
    if (broken == nullptr) return status;
    const ExtentReason reason = {"no other extents are known to be well-typed", broken};
    own.freeze(*broken, reason);
    for (const Instruction* operand : broken->operands) own.freeze(*operand, reason);
  }
  return Status::unsupported("no other extents were found for this module");
}

std::function<int64_t(int32_t, int64_t)> small_extents(const ModuleExtents& extents, int64_t few, int64_t step) {
  std::set<int64_t> large;
  for (int32_t a = 0; a < extents.atoms().count(); ++a) {
    const int64_t extent = extents.atoms().extent(a);
    if (extents.atoms().whole({a}) == Product{a} && extent > few) large.insert(extent);
  }
  std::map<int64_t, int64_t> small;
  int64_t next = few;
  for (const int64_t extent : large) {
    if (extent % step == 0) next = (next + step - 1) / step * step;
    small[extent] = std::min(extent, next);
    ++next;
  }
  return [small](int32_t, int64_t extent) {
    const auto found = small.find(extent);
    return found == small.end() ? extent : found->second;
  };
}

}  // namespace lowtide::engine
