#include "passes/pass.h"

namespace lowtide {

const std::vector<Pass>& pipeline() {
  static const std::vector<Pass> kPipeline = {};
  return kPipeline;
}

}  // namespace lowtide
