#pragma once
/// MLIR bytecode of StableHLO's portable artifacts (https://openxla.org/stablehlo/bytecode), as written by jaxlib's
/// `stablehlo.serialize_portable_artifact` and `jax.export`.

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// Reads versions 0.9.0 to 1.18 of VHLO, through an intermediate text in StableHLO's generic form, so that no operation
/// is described twice. That text is the module's source: places in later errors refer to it. Errors in the bytes
/// themselves name their place as "byte N". The result is not verified (ops/verify.h).
Result<std::unique_ptr<Module>> parse_bytecode(std::string_view bytes, const std::string& name,
                                               const std::string& entry = "", std::shared_ptr<Context> context = {});

/// A portable artifact of VHLO 1.13.0 that parse_bytecode and jaxlib read, with the same module as print_stablehlo.
/// Operations of chlo stay chlo's. Fault::kUnsupported names an operation or attribute that neither dialect has.
Result<std::string> print_bytecode(const Module& module);

bool is_bytecode(std::string_view bytes);

/// Are these bytes a file of jax.export's `Exported.serialize()`, a flatbuffer with bytecode? Its beginning suffices.
bool is_exported(std::string_view bytes);
/// The bytecode in such a file, which may be truncated.
Result<std::string_view> bytecode_of_exported(std::string_view bytes, const std::string& name);

}  // namespace lowtide::engine
