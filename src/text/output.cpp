#include "text/output.h"

#include "text/hlo.h"
#include "text/stablehlo.h"

namespace lowtide::engine {

Result<std::string> print_for(const Module& module, std::string_view file_name) {
  return file_name.ends_with(".mlir") ? print_stablehlo(module) : Result<std::string>(print_hlo(module));
}

}  // namespace lowtide::engine
