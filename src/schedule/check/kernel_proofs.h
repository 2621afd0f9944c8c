#pragma once
/// The proofs that a program's kernel steps need, each made once, however often a step runs: that results may have
/// their places when the kernel runs in the planned way; and that a kernel reads nothing that an update changed.

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "schedule/check/check_program.h"
#include "schedule/check/in_place_proof.h"

namespace lowtide::engine {

class KernelProofs {
 public:
  /// Both must outlive it.
  KernelProofs(const Program& program, const NestOf& nest_of) : program_(program), nest_of_(nest_of) {}

  /// Empty, or what is wrong with the step. places: of its reads, then of its writes.
  const std::string& fault_of(const ProgramStep& step, const std::vector<BytePlace>& places);

  /// May the kernel read from its input elements that this update in place has changed?
  bool may_read(int32_t region, size_t input, const Change& change);

 private:
  struct Derived {
    std::shared_ptr<const Nest> nest;
    std::unique_ptr<const Touches> touches;
  };
  const Touches& touches(int32_t region);
  std::string prove(const ProgramStep& step, const std::vector<BytePlace>& places);

  using Overlap = std::tuple<int32_t, int32_t,
                             int64_t>;  ///< a result, an operand, and the offset of its beginning from the operand's
  const Program& program_;
  const NestOf& nest_of_;
  std::map<int32_t, Derived> derived_;  ///< by region
  std::map<std::pair<const ProgramStep*, std::vector<Overlap>>, std::string> known_;
  std::map<std::tuple<int32_t, size_t, int32_t, int32_t>, bool> read_;
};

}  // namespace lowtide::engine
