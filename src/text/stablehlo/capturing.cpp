// Reducers, comparators and maps that capture scalars. HLO's computations can only use their parameters, so each
// captured scalar becomes an additional operand, an array with that value everywhere: for a map; for a sort, whose
// order doesn't depend on it; for reductions and scatters, which fold it to itself, with a result that is unused.
#include <fmt/format.h>

#include "text/stablehlo/operations.h"

namespace lowtide::engine {
namespace {

using Scope = ModuleMaker::Scope;

}  // namespace

Status make_capturing(ModuleMaker& maker, Scope& scope, const MlirOperation& operation, const OperationSpelling& row,
                      const Instructions& operands, const Instructions& captured) {
  const MlirRegion& region = operation.regions[0];
  const bool sorts = row.opcode == Opcode::kSort, maps = row.opcode == Opcode::kMap;
  const bool scatters = row.opcode == Opcode::kScatter;
  const bool folds = row.opcode == Opcode::kReduce || row.opcode == Opcode::kReduceWindow || scatters;
  const size_t arguments = region.arguments.size(), results = operation.types.size();
  const size_t given = maps || sorts ? operands.size() : scatters ? (operands.size() - 1) / 2 : operands.size() / 2;
  bool scalars = folds || sorts || maps;
  for (const Instruction* value : captured) scalars = scalars && value->shape.is_array() && value->shape.rank() == 0;
  if (!scalars) {
    return maker.unsupported(region.place,
                             fmt::format("{} with a region that takes more than scalars from outside", operation.name));
  }
  if (given == 0 || arguments != (maps ? given : 2 * given) || results != (maps ? 1 : given)) {
    return maker.fault(operation.place, fmt::format("{}: found {} operands, {} results and {} arguments of its region",
                                                    operation.name, operands.size(), results, arguments));
  }
  // Each captured scalar is broadcast to the shape of the first operand of each kind.
  const auto like = [&](size_t operand, Instructions& all) -> Status {
    for (Instruction* value : captured) {
      LT_ASSIGN_OR_RETURN(all.emplace_back(),
                          maker.broadcast(scope, operation, value, operands[operand]->shape.dims, {}));
    }
    return {};
  };
  const auto some = [&](size_t first, size_t count) {
    return Instructions(operands.begin() + static_cast<ptrdiff_t>(first),
                        operands.begin() + static_cast<ptrdiff_t>(first + count));
  };
  Instructions all = some(0, given);
  LT_RETURN_IF_ERROR(like(0, all));
  if (scatters) all.push_back(operands[given]);
  if (folds) {
    const size_t second = scatters ? given + 1 : given;
    const Instructions rest = some(second, given);
    all.insert(all.end(), rest.begin(), rest.end());
    LT_RETURN_IF_ERROR(like(second, all));  // a reduction's initial values: the scalars
  }
  LT_ASSIGN_OR_RETURN(const Computation* callee,
                      maker.reducer(scope, region, fmt::format("{}.{}", row.name, row.regions[0]),
                                    {captured, folds ? arguments / 2 : arguments, folds || sorts, folds}));
  std::vector<Shape> shapes;
  for (const Instruction* array : all) shapes.push_back(array->shape);
  LT_ASSIGN_OR_RETURN(std::vector<HloAttribute> attributes, hlo_attributes(row, operation, shapes, maker.values()));
  attributes.push_back({std::string(row.regions[0]), '%' + callee->name, region.place});
  Shape shape = operation.types[0];
  if (!maps) {
    std::vector<Shape> parts = operation.types;
    for (const Instruction* value : captured) parts.push_back(Shape::array(value->shape.type, operation.types[0].dims));
    shape = Shape::tuple(std::move(parts));
  }
  LT_ASSIGN_OR_RETURN(Instruction * result,
                      maker.add(scope, operation, row.opcode, std::move(shape), std::move(all), std::move(attributes)));
  maker.bind(scope, operation, result, !maps);
  return {};
}

}  // namespace lowtide::engine
