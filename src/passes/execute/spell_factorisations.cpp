#include "passes/execute/spell_factorisations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/lapack_call.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

class FactorisationSpeller {
 public:
  FactorisationSpeller(Instruction& call, Maker& maker) : call_(call), maker_(maker) {}

  /// Null: LAPACK has no such problem.
  Instruction* spell() {
    const std::string& target = call_.as<CustomCallAttributes>().target;
    const bool has_two = call_.shape.is_tuple() && call_.shape.elements.size() == 2;
    if (target == "Qr" && has_two) return lapack(LapackRoutine::kGeqrf, call_.shape, "{}");
    if (target == "ProductOfElementaryHouseholderReflectors") return product();
    if (target == "Eigh" && has_two) return eigen();
    return nullptr;
  }

 private:
  Instruction* lapack(LapackRoutine routine, Shape shape, std::string config) {
    const auto call = make_lapack_call(routine, std::move(shape), call_.operands, std::move(config));
    return call ? maker_.copy(*call, call->operands) : nullptr;
  }

  Instruction* product() {
    Instruction* call = lapack(LapackRoutine::kOrgqr, call_.shape, "{}");
    return call ? maker_.make(Opcode::kCopy, call_.shape, {call})
                : nullptr;  // the replacement has the layout of what it replaces
  }

  Instruction* eigen() {
    const Shape &vectors = call_.shape.elements[0], &values = call_.shape.elements[1];
    Dims batch = vectors.dims;
    batch.resize(std::max<size_t>(batch.size(), 2) - 2);
    const bool lower = !call_.backend_config.starts_with("\"0");
    Instruction* call =
        lapack(LapackRoutine::kSyevd, Shape::tuple({vectors, values, Shape::array(ElementType::kS32, batch)}),
               fmt::format("{{mode = 86 : ui8, uplo = {} : ui8}}", static_cast<int>(lower ? 'L' : 'U')));
    if (!call) return nullptr;
    Instruction* info = maker_.element(*call, 2);
    Instruction* converged = maker_.compare(info, maker_.filled(ElementType::kS32, batch, 0), CompareDirection::kEq);
    std::vector<Instruction*> results;
    for (size_t k = 0; k < 2; ++k) {
      Instruction* result = maker_.element(*call, k);
      const Dims& dims = result->shape.dims;
      Dims leading(batch.size());
      std::iota(leading.begin(), leading.end(), 0);
      Instruction* none = maker_.convert(maker_.number(ElementType::kF32, NAN), result->shape.type);
      // In this order: the arguments of a call are made in one that compilers choose.
      Instruction* unknown = maker_.broadcast(none, dims, {});
      Instruction* valid = maker_.broadcast(converged, dims, leading);
      results.push_back(maker_.select(valid, result, unknown));
    }
    return maker_.make(Opcode::kTuple, call_.shape, std::move(results));
  }

  Instruction& call_;
  Maker& maker_;
};

}  // namespace

Result<PassResult> spell_factorisations(Module& module) {
  return rewrite_each(
      module, {Opcode::kCustomCall},
      [](Instruction& i, Maker& maker) { return FactorisationSpeller(i, maker).spell(); }, "factorisations spelt");
}

}  // namespace lowtide::engine
