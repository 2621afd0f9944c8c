#include "passes/shrink.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ops/verify.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/shrink_edits.h"

namespace lowtide::engine {
namespace {

/// The effort of reading a program, which shrinking reduces: few operations, small numbers, few annotations.
int64_t weight(const Module& module) {
  int64_t sum = static_cast<int64_t>(module.input_output_alias.size() + module.buffer_donors.size());
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      const bool is_leaf = i->operands.empty();
      sum += is_leaf ? 64 : 256;
      if (is_leaf && i->opcode == Opcode::kParameter) sum -= 1;
      sum += static_cast<int64_t>(i->control_predecessors.size() + i->extra.size()) + !i->metadata.empty() +
             !i->backend_config.empty() + !i->frontend_attributes.empty() + (i->sharding != nullptr);
      const Literal* const literal = i->opcode == Opcode::kConstant ? known_constant(*i) : nullptr;
      if (literal && i->shape.dims.empty() && is_integral(i->shape.type)) {
        sum += std::bit_width(static_cast<uint64_t>(std::max<int64_t>(0, integer_at(*literal, 0))));
      }
    }
  }
  return sum;
}

class Shrinker {
 public:
  Shrinker(const Module& module, const Target& target, const std::function<bool(const Module&)>& fails,
           const ShrinkOptions& options)
      : target_(target), best_(module.clone()), weight_(weight(module)), fails_(fails), options_(options) {}

  std::unique_ptr<Module> run() {
    attempt(drop_descriptions);
    for (int64_t before = weight_ + 1; weight_ < before && !spent();) {
      before = weight_;
      drop_all_results();
      try_roots();
      for (const Pass& pass : pipeline()) {
        attempt([&](Module& module) { return pass.run(module, target_).ok(); });
      }
      cut_everything();
      simplify_each();
      attempt(drop_arguments);
    }
    return std::move(best_);
  }

 private:
  bool spent() const { return tries_ >= options_.most_tries || best_->context().should_stop(); }

  template <class Edit>
  bool attempt(Edit&& edit) {
    if (spent()) return false;
    std::unique_ptr<Module> candidate = best_->clone();
    if (!edit(*candidate)) return false;
    if (!verify(*candidate).ok() || !remove_dead_code(*candidate).ok() || !verify(*candidate).ok()) return false;
    const int64_t now = weight(*candidate);
    if (now >= weight_) return false;
    ++tries_;
    if (!fails_(*candidate)) return false;
    best_ = std::move(candidate);
    weight_ = now;
    return true;
  }

  size_t result_count() const {
    const Instruction* root = best_->entry->root;
    return root->opcode == Opcode::kTuple ? root->operands.size() : 1;
  }

  void drop_all_results() {
    for (size_t chunk = std::max<size_t>(1, result_count() / 2);; chunk /= 2) {
      for (size_t begin = 0; begin < result_count();) {
        if (!attempt([&](Module& m) { return drop_results(m, begin, begin + chunk); })) begin += chunk;
      }
      if (chunk <= 1) break;
    }
  }

  /// Moves the root to the earliest instruction that still fails, found by halved steps, then one by one.
  void try_roots() {
    const auto entry_index = [&] {
      const auto& all = best_->computations();
      return static_cast<size_t>(std::ranges::find_if(all, [&](const auto& c) { return c.get() == best_->entry; }) -
                                 all.begin());
    };
    const auto size = [&] { return best_->entry->instructions().size(); };
    for (size_t step = size() / 2; step > 0; step /= 2) {
      for (size_t i = step; i < size(); i += step) {
        if (attempt([&](Module& m) { return make_root(m, {entry_index(), i}); })) break;
      }
    }
  }

  void cut_everything() {
    for (size_t c = 0; c < best_->computations().size(); ++c) {
      const auto size = [&] {
        return c < best_->computations().size() ? best_->computations()[c]->instructions().size() : 0;
      };
      for (size_t chunk = std::max<size_t>(1, size() / 2);; chunk /= 2) {
        for (size_t i = size(); i > 0 && !spent();) {
          const size_t begin = i > chunk ? i - chunk : 0;
          attempt([&](Module& m) { return cut_off(m, {c, begin}, i); });
          i = std::min(begin, size());
        }
        if (chunk <= 1) break;
      }
    }
  }

  void simplify_each() {
    for (size_t c = 0; c < best_->computations().size(); ++c) {
      for (size_t i = best_->computations()[c]->instructions().size(); i-- > 0 && !spent();) {
        const auto here = [&] {
          return c < best_->computations().size() && i < best_->computations()[c]->instructions().size();
        };
        while (here() && attempt([&](Module& m) { return halve(m, {c, i}); })) {
        }
        if (!here()) continue;
        const size_t operands = best_->computations()[c]->instructions()[i]->operands.size();
        for (size_t k = 0; k < operands; ++k) {
          if (here() && attempt([&](Module& m) { return bypass(m, {c, i}, k); })) break;
        }
      }
      if (c >= best_->computations().size()) break;
    }
  }

  const Target& target_;
  std::unique_ptr<Module> best_;
  int64_t weight_ = 0, tries_ = 0;
  const std::function<bool(const Module&)>& fails_;
  const ShrinkOptions& options_;
};

}  // namespace

std::unique_ptr<Module> shrink(const Module& module, const Target& target,
                               const std::function<bool(const Module&)>& fails, const ShrinkOptions& options) {
  return Shrinker(module, target, fails, options).run();
}

}  // namespace lowtide::engine
