#include "lowtide/passes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/near_words.h"
#include "passes/pass.h"
#include "report/columns.h"
#include "session/guard.h"

namespace lowtide {
namespace {

constexpr size_t kPageWidth = 100;

Pipeline pipeline_of(std::string purpose, const std::vector<engine::Pass>& passes) {
  Pipeline pipeline{.purpose = std::move(purpose), .passes = {}};
  for (const engine::Pass& pass : passes)
    pipeline.passes.push_back({std::string(pass.name), pass.numerics, std::string(pass.reason)});
  return pipeline;
}

}  // namespace

const char* name_of(Numerics numerics) { return engine::numerics_name(numerics); }

std::string Pipeline::text() const {
  size_t width = 0;
  for (const PassInfo& pass : passes) width = std::max(width, pass.name.size());
  std::string page = purpose + "\n";
  int number = 0;
  const size_t indent = 5 + width + 2 + 12 + 2;
  for (const PassInfo& pass : passes) {
    page += fmt::format("{:3}  {:<{}}  {:<12}  ", ++number, pass.name, width, name_of(pass.numerics));
    bool first = true;
    for (const std::string& line : engine::wrap(pass.reason, kPageWidth - indent)) {
      page += (first ? "" : std::string(indent, ' ')) + line + "\n";
      first = false;
    }
  }
  return page;
}

std::vector<Pipeline> pipelines() {
  return {pipeline_of("For handing on (opt)", engine::pipeline()),
          pipeline_of("For planning and running here (explain, run)", engine::execution_pipeline()),
          pipeline_of("For running in XLA (fit --for xla)", engine::pipeline_for_xla())};
}

Result<void> check_passes(const std::vector<std::string>& names) {
  return engine::guarded([&]() -> Result<void> {
    for (const std::string& name : names) {
      if (engine::find_pass(name)) continue;
      std::vector<std::string> known;
      for (const engine::Pass& pass : engine::pipeline()) known.emplace_back(pass.name);
      const std::vector<std::string> near = engine::near_words(name, known);
      const std::string all = fmt::format("; expected some of {}", fmt::join(known, ", "));
      return Error{ErrorKind::kUsage,
                   "there is no pass `" + name + "`" + (near.empty() ? all : engine::did_you_mean(near))};
    }
    return {};
  });
}

}  // namespace lowtide
