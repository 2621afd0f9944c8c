#pragma once
/// Operations that the table of spellings can't describe: control flow, calls, constants, and operations that become
/// several of HLO's.

#include <string_view>

#include "text/stablehlo/module_maker.h"

namespace lowtide::engine {

using MakeOperation = Status (*)(ModuleMaker&, ModuleMaker::Scope&, const MlirOperation&);

/// The function that builds an operation of this name, which includes the dialect; null if the table describes it.
MakeOperation special_operation(std::string_view name);

// control_flow.cpp
Status make_call(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);
/// Calls the composite's decomposition; a composite of a chlo operation becomes that operation, as in XLA.
Status make_composite(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);
Status make_while(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);
Status make_conditional(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);
Status make_async(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);
Status make_manual_computation(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);

// custom_calls.cpp
Status make_custom_call(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);
Status make_check(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);
Status make_sharding_constraint(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);

// sparse_calls.cpp
Status make_csr_product(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);

// dynamic_forms.cpp: operations that take as operands, which must be constants, what others take as attributes
Status make_dynamic(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);

// bit_casts.cpp
Status make_bitcast_convert(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);

// capturing.cpp: an operation whose region captures these values
Status make_capturing(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation,
                      const OperationSpelling& row, const std::vector<Instruction*>& operands,
                      const std::vector<Instruction*>& captured);

// einsum.cpp
Status make_einsum(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);

// older_forms.cpp
Status make_torch_index_select(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);
Status make_cross_replica_sum(ModuleMaker& maker, ModuleMaker::Scope& scope, const MlirOperation& operation);
/// A region that adds its two arguments.
MlirRegion adding_region(ElementType type, Offset place);

// halo_forms.cpp: EnzymeXLA's names for rolls and halos
MakeOperation halo_operation(std::string_view name);

// functions.cpp: chlo's functions, as arithmetic. name: without its dialect; null if there is no such function.
using MakeFunction = Result<Instruction*> (*)(class Arithmetic&, const std::vector<Instruction*>&);
MakeFunction function_named(std::string_view name);

}  // namespace lowtide::engine
