#include "in_place.h"

#include <algorithm>

namespace lowtide::pjrt {

std::unique_ptr<InPlace> InPlace::make(const Session& session, const Module& module, const Executable& executable) {
  constexpr int64_t kLarge = int64_t{1} << 20, kMostInstructions = 32;
  if (module.instructions() > kMostInstructions) return nullptr;
  const std::vector<ProgramArray>& arguments = executable.arguments();
  if (std::ranges::any_of(arguments, [](const ProgramArray& array) { return array.can_be_donated; })) return nullptr;
  std::unique_ptr<InPlace> in_place(new InPlace(session, module));
  for (size_t a = 0; a < arguments.size(); ++a) {
    const auto as_large = [&](const ProgramArray& result) { return result.bytes == arguments[a].bytes; };
    if (arguments[a].bytes >= kLarge && std::ranges::any_of(executable.results(), as_large)) {
      in_place->candidates_.push_back(a);
    }
  }
  return in_place->candidates_.empty() ? nullptr : std::move(in_place);
}

const Executable* InPlace::over(size_t argument) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = made_.try_emplace(argument);
  if (is_new) {
    const Result<Module> giving = module_.giving(static_cast<int64_t>(argument));
    const Result<Plan> plan = giving.ok() ? session_.plan(*giving) : giving.error();
    const Result<Executable> executable = plan.ok() ? session_.compile(*plan) : plan.error();
    if (executable.ok()) {
      const std::vector<int64_t>& homes = executable->result_homes();
      if (std::ranges::find(homes, static_cast<int64_t>(argument)) != homes.end()) at->second = *executable;
    }
  }
  return at->second ? &*at->second : nullptr;
}

}  // namespace lowtide::pjrt
