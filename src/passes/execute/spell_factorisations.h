#pragma once
/// Writes the factorisations that XLA's builder leaves to each backend as calls of LAPACK (ops/lapack_call.h):
/// PyTorch/XLA's programs have them, and JAX's for TPUs.
///
///     Qr(a) = (factors, taus)                                   ==>  geqrf(a)
///     ProductOfElementaryHouseholderReflectors(factors, taus)   ==>  orgqr(factors, taus)
///     Eigh(a) = (vectors, values), backend_config="lower,..."   ==>  syevd(a), NaN where it doesn't converge
///
/// Leaves calls of other element types and of other shapes, which nothing here runs.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Source: xla/hlo/builder/lib/qr.cc and self_adjoint_eig.cc.
/// Tests: tests/text/passes/spell-factorisations/, tests/external/linear_algebra.py (builder_*) and torch_programs.py

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_factorisations(Module& module);

}  // namespace lowtide::engine
