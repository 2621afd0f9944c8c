#pragma once
/// Evaluation, and transformations of functions. Transformations can be nested in any order.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// Evaluates arrays, all in one program, and waits.
LOWTIDE_PUBLIC void eval(std::vector<array> outputs);
template <class... Arrays>
  requires(sizeof...(Arrays) > 0 && (std::is_convertible_v<Arrays, array> && ...))
void eval(Arrays&&... outputs) {
  eval(std::vector<array>{std::forward<Arrays>(outputs)...});
}
/// Starts the evaluation and returns; reading elements waits for it, and rethrows its exceptions.
LOWTIDE_PUBLIC void async_eval(std::vector<array> outputs);
template <class... Arrays>
  requires(sizeof...(Arrays) > 0 && (std::is_convertible_v<Arrays, array> && ...))
void async_eval(Arrays&&... outputs) {
  async_eval(std::vector<array>{std::forward<Arrays>(outputs)...});
}

using ManyToMany = std::function<std::vector<array>(const std::vector<array>&)>;
using ManyToOne = std::function<array(const std::vector<array>&)>;
using OneToOne = std::function<array(const array&)>;

/// (fun(primals), cotangents times its derivative): one cotangent per output, of its shape.
LOWTIDE_PUBLIC std::pair<std::vector<array>, std::vector<array>> vjp(const ManyToMany& fun,
                                                                     const std::vector<array>& primals,
                                                                     const std::vector<array>& cotangents);
LOWTIDE_PUBLIC std::pair<array, array> vjp(const OneToOne& fun, const array& primal, const array& cotangent);
/// (fun(primals), its derivative times the tangents): one tangent per primal, of its shape.
LOWTIDE_PUBLIC std::pair<std::vector<array>, std::vector<array>> jvp(const ManyToMany& fun,
                                                                     const std::vector<array>& primals,
                                                                     const std::vector<array>& tangents);
LOWTIDE_PUBLIC std::pair<array, array> jvp(const OneToOne& fun, const array& primal, const array& tangent);

/// (values, gradients of values[0], which is a scalar, with respect to the arguments argnums).
using ValueAndGradFn = std::function<std::pair<std::vector<array>, std::vector<array>>(const std::vector<array>&)>;
LOWTIDE_PUBLIC ValueAndGradFn value_and_grad(const ManyToMany& fun, std::vector<int> argnums);
inline ValueAndGradFn value_and_grad(const ManyToMany& fun, int argnum = 0) {
  return value_and_grad(fun, std::vector<int>{argnum});
}
LOWTIDE_PUBLIC std::function<std::pair<array, array>(const array&)> value_and_grad(const OneToOne& fun);
using SimpleValueAndGradFn = std::function<std::pair<array, std::vector<array>>(const std::vector<array>&)>;
LOWTIDE_PUBLIC SimpleValueAndGradFn value_and_grad(const ManyToOne& fun, std::vector<int> argnums);
inline SimpleValueAndGradFn value_and_grad(const ManyToOne& fun, int argnum = 0) {
  return value_and_grad(fun, std::vector<int>{argnum});
}
LOWTIDE_PUBLIC ManyToMany grad(const ManyToOne& fun, std::vector<int> argnums);
inline ManyToMany grad(const ManyToOne& fun, int argnum = 0) { return grad(fun, std::vector<int>{argnum}); }
LOWTIDE_PUBLIC OneToOne grad(const OneToOne& fun);

/// fun for each index along an axis of its arguments (-1: the argument is the same for all), with the results stacked
/// along an axis. Without axes: the first axis of each.
LOWTIDE_PUBLIC ManyToMany vmap(const ManyToMany& fun, const std::vector<int>& in_axes = {},
                               const std::vector<int>& out_axes = {});
LOWTIDE_PUBLIC OneToOne vmap(const OneToOne& fun, int in_axis = 0, int out_axis = 0);
LOWTIDE_PUBLIC std::function<array(const array&, const array&)> vmap(
    const std::function<array(const array&, const array&)>& fun, int in_axis_a = 0, int in_axis_b = 0,
    int out_axis = 0);

/// fun, traced once for each combination of argument shapes and types. Captured arrays keep their values from then.
LOWTIDE_PUBLIC ManyToMany compile(ManyToMany fun, bool shapeless = false);
LOWTIDE_PUBLIC ManyToMany compile(std::vector<array> (*fun)(const std::vector<array>&), bool shapeless = false);
template <class F>
  requires(std::is_convertible_v<F, std::vector<array> (*)(const std::vector<array>&)> &&
           !std::is_pointer_v<std::decay_t<F>>)
ManyToMany compile(F&& fun, bool shapeless = false) {
  return compile(static_cast<std::vector<array> (*)(const std::vector<array>&)>(std::forward<F>(fun)), shapeless);
}
/// All evaluation is planned and compiled in every mode; in `disabled`, functions from compile() are traced at each
/// call.
enum class CompileMode { disabled, no_simplify, no_fuse, enabled };
LOWTIDE_PUBLIC void disable_compile();
LOWTIDE_PUBLIC void enable_compile();
LOWTIDE_PUBLIC void set_compile_mode(CompileMode mode);
/// fun with derivatives that store only the arguments and recompute the rest.
LOWTIDE_PUBLIC ManyToMany checkpoint(ManyToMany fun);
using CustomVjp =
    std::function<std::vector<array>(const std::vector<array>&, const std::vector<array>&, const std::vector<array>&)>;
using CustomJvp =
    std::function<std::vector<array>(const std::vector<array>&, const std::vector<array>&, const std::vector<int>&)>;
using CustomVmap =
    std::function<std::pair<std::vector<array>, std::vector<int>>(const std::vector<array>&, const std::vector<int>&)>;
/// fun with the caller's transformations; absent ones are derived from fun. fun_vjp(primals, cotangents, outputs) gives
/// a gradient per primal, for vjp and gradients; fun_jvp(primals, tangents, argnums) a tangent per output, given
/// tangents of the primals argnums, for jvp; fun_vmap(inputs, axes) the outputs and their axes (-1: none).
LOWTIDE_PUBLIC ManyToMany custom_function(ManyToMany fun, std::optional<CustomVjp> fun_vjp = {},
                                          std::optional<CustomJvp> fun_jvp = {},
                                          std::optional<CustomVmap> fun_vmap = {});
/// fun with the caller's derivative: fun_vjp(primals, cotangents, outputs), one gradient per primal.
LOWTIDE_PUBLIC ManyToMany custom_vjp(ManyToMany fun, CustomVjp fun_vjp);

}  // namespace lowtide
