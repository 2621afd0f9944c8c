#include "target/xla.h"

#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// Its time and its library routines are modelled by another target: a named machine, or this CPU.
class XlaTarget : public Target {
 public:
  explicit XlaTarget(const Target& modelled_as) : Target(modelled_as.machine()), modelled_as_(modelled_as) {}
  std::string_view name() const override { return "xla"; }
  Takes takes() const override { return Takes::kModule; }
  const Target& modelled_as() const override { return modelled_as_; }
  std::optional<XlaBackend> xla_backend() const override { return machine().xla_backend; }
  double uncertain_part() const override { return 0.05; }
  bool has_routine(const Instruction& i) const override { return modelled_as_.has_routine(i); }
  int64_t scratch_bytes(const Instruction& i) const override { return modelled_as_.scratch_bytes(i); }
  int overwritten_operand(const Instruction& i, int64_t leaf) const override {
    return modelled_as_.overwritten_operand(i, leaf);
  }
  const InPlaceLimits& in_place() const override { return modelled_as_.in_place(); }

 private:
  const Target& modelled_as_;
};

}  // namespace

const Target& xla_target() {
  static const XlaTarget kTarget(cpu_target());
  return kTarget;
}

std::unique_ptr<const Target> xla_target_like(const Target& modelled_as) {
  return std::make_unique<XlaTarget>(modelled_as);
}

}  // namespace lowtide::engine
