#include "passes/execute/spell_factorisations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/lapack_call.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

/// An array of LAPACK's: a matrix in the last two dimensions of `shape` is column-major.
Shape in_columns(Shape shape, bool is_matrix) {
  Layout layout;
  for (int64_t d = shape.rank(); d-- > 0;) layout.minor_to_major.push_back(d);
  if (is_matrix) std::swap(layout.minor_to_major[0], layout.minor_to_major[1]);
  shape.layout = std::move(layout);
  return shape;
}

class FactorisationSpeller {
 public:
  FactorisationSpeller(Instruction& call, Maker& maker) : call_(call), maker_(maker) {}

  /// Null: LAPACK has no such problem.
  Instruction* spell() {
    const std::string& target = call_.as<CustomCallAttributes>().target;
    if (call_.operands.empty() || !call_.operand(0).shape.is_array() || call_.operand(0).shape.rank() < 2)
      return nullptr;
    const bool has_two = call_.shape.is_tuple() && call_.shape.elements.size() == 2;
    if (target == "Qr" && has_two) return lapack(LapackRoutine::kGeqrf, call_.shape, "{}");
    if (target == "ProductOfElementaryHouseholderReflectors") return product();
    if (target == "Eigh" && has_two) return eigen();
    return nullptr;
  }

 private:
  Instruction* lapack(LapackRoutine routine, Shape shape, std::string config) {
    constexpr std::string_view kLetters = "sdcz";
    constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF64, ElementType::kC64, ElementType::kC128};
    const Shape& matrix = call_.operand(0).shape;
    const auto letter = static_cast<size_t>(std::ranges::find(kTypes, matrix.type) - std::begin(kTypes));
    if (letter == kLetters.size()) return nullptr;
    std::string layouts;
    for (const Instruction* operand : call_.operands) {
      const bool is_matrix = operand->shape.rank() == matrix.rank();
      layouts += (layouts.empty() ? "" : ", ") + to_string(in_columns(operand->shape, is_matrix));
    }
    shape.layout.reset();
    for (Shape& element : shape.elements) element.layout.reset();
    CustomCallAttributes attributes;
    attributes.target = fmt::format("lapack_{}{}_ffi", kLetters[letter], lapack_name(routine, matrix.type));
    attributes.api_version = "API_VERSION_TYPED_FFI";
    Instruction* call = maker_.make(Opcode::kCustomCall, std::move(shape), call_.operands, std::move(attributes));
    call->extra.push_back({"operand_layout_constraints", '{' + layouts + '}'});
    call->backend_config = std::move(config);
    return call;
  }

  Instruction* product() {
    Instruction* call = lapack(LapackRoutine::kOrgqr, call_.shape, "{}");
    return call ? maker_.make(Opcode::kCopy, call_.shape, {call})
                : nullptr;  // the replacement has the layout of what it replaces
  }

  Instruction* eigen() {
    const Shape &vectors = call_.shape.elements[0], &values = call_.shape.elements[1];
    Dims batch = vectors.dims;
    batch.resize(batch.size() - 2);
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
      results.push_back(
          maker_.select(maker_.broadcast(converged, dims, leading), result, maker_.broadcast(none, dims, {})));
    }
    return maker_.make(Opcode::kTuple, call_.shape, std::move(results));
  }

  Instruction& call_;
  Maker& maker_;
};

}  // namespace

Result<PassResult> spell_factorisations(Module& module) {
  LT_ASSIGN_OR_RETURN(PassResult result, rewrite_each(module, [](Instruction& i, Maker& maker) -> Instruction* {
                        return i.opcode == Opcode::kCustomCall ? FactorisationSpeller(i, maker).spell() : nullptr;
                      }));
  result.note = fmt::format("{} factorisations spelt", result.count);
  return result;
}

}  // namespace lowtide::engine
