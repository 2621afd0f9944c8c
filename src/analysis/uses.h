#pragma once
/// The readers of each instruction.

#include <cstdint>
#include <span>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// The users of every instruction, in program order; a user that reads an instruction twice is listed once.
class Uses {
 public:
  explicit Uses(const Module& module);
  explicit Uses(const Computation& computation);
  std::span<const Instruction* const> of(const Instruction& instruction) const {
    const auto id = static_cast<size_t>(instruction.id);
    return {users_.data() + first_[id], users_.data() + first_[id + 1]};
  }

 private:
  void build(std::span<const Computation* const> computations, int32_t id_limit);
  std::vector<const Instruction*> users_;
  std::vector<size_t> first_;
};

}  // namespace lowtide::engine
