#include "session/targets.h"

#include "target/machines.h"
#include "target/xla.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kGpu = "h100",
                           kTpu = "v5p";  ///< the machine that costs are for if only the platform is known

}  // namespace

Targets::Pair Targets::priced(const Target& ours, std::string_view machine) {
  std::unique_ptr<const Target> program = ours.priced_as(*read_machine(machine));
  LT_ASSERT(program != nullptr, "what a session runs on knows the prices of other machines");
  std::unique_ptr<const Target> xla = xla_target_like(*program);
  return {std::move(program), std::move(xla)};
}

void Targets::set(const Target& ours, const Settings& settings) {
  const std::string& machine = settings.choices.machine;
  ours_ = priced(ours, machine);
  if (!machine.empty()) return;
  gpu_ = priced(ours, kGpu);
  tpu_ = priced(ours, kTpu);
}

const Target& Targets::xla(Platform platform) const {
  const Pair& pair = platform == Platform::kGpu ? gpu_ : platform == Platform::kTpu ? tpu_ : ours_;
  return pair.xla ? *pair.xla : *ours_.xla;
}

}  // namespace lowtide::engine
