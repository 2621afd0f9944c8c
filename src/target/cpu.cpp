#include "target/cpu.h"

#include "library/library.h"
#include "target/machines.h"

namespace lowtide::engine {
namespace {

class CpuTarget : public Target {
 public:
  explicit CpuTarget(const Machine& machine) : Target(machine) {}
  std::string_view name() const override { return "cpu"; }
  std::unique_ptr<const Target> priced_as(const Machine& machine) const override {
    return std::make_unique<CpuTarget>(machine);
  }
  Takes takes() const override { return Takes::kProgram; }
  bool has_routine(const Instruction& i) const override { return in_library(i); }
  int64_t scratch_bytes(const Instruction& i) const override {
    const auto routine = library_routine(i);
    return routine ? routine->scratch_bytes() : 0;
  }
  int overwritten_operand(const Instruction& i, int64_t leaf) const override { return library_in_place(i, leaf); }
  const InPlaceLimits& in_place() const override { return in_place_; }

 private:
  const InPlaceLimits in_place_;
};

}  // namespace

const Target& cpu_target() {
  static const CpuTarget kTarget(machines().front());
  return kTarget;
}

}  // namespace lowtide::engine
