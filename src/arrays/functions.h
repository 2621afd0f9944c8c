#pragma once
/// Functions as graphs over placeholders: traced once, and used in several places or in loops.

#include "arrays/graph.h"
#include "lowtide/transforms.h"

namespace lowtide::lazy {

/// Arrays that a traced function captures become additional arguments after its own.
struct Traced {
  Function function;            ///< inputs: the arguments, then the captured arrays
  std::vector<array> captured;  ///< the arrays themselves
};
Traced trace(const ManyToMany& fun, const std::vector<Spec>& arguments);
std::vector<Spec> specs_of(const std::vector<array>& arrays);

/// The gradients of a graph's `inputs`, given cotangents of its `outputs`.
Gradients backwards(const std::vector<array>& inputs, const std::vector<array>& outputs,
                    const std::vector<array>& cotangents);
std::vector<array> or_zeros(Gradients gradients, const std::vector<array>& like);
/// The outputs of a graph for each index of the batch, the first dimension of the inputs for which `has` is true; and
/// which of the outputs have a batch dimension.
std::pair<std::vector<array>, std::vector<bool>> batched_graph(const std::vector<array>& from,
                                                               const std::vector<array>& outputs,
                                                               const std::vector<array>& inputs,
                                                               const std::vector<bool>& has, int64_t count);
/// The function for a batch: the inputs for which `has` is true, and all outputs, have a leading batch dimension.
Function batched_function(const Function& function, const std::vector<bool>& has, int64_t count);

}  // namespace lowtide::lazy
