// stablehlo.einsum and unary_einsum: letters label corresponding dimensions, "bij,bjk->bik". A letter in one operand
// only is summed over there; one in both operands and the result is a batch dimension; one in both operands but not in
// the result is contracted.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "text/stablehlo/operations.h"

namespace lowtide::engine {
namespace {

using Scope = ModuleMaker::Scope;
using Labels = std::vector<int>;  ///< letters; the dimensions of "..." are -n..-1

bool has(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

int64_t place_of(const Labels& labels, int label) { return std::ranges::find(labels, label) - labels.begin(); }

class Einsum {
 public:
  Einsum(ModuleMaker& maker, Scope& scope, const MlirOperation& operation)
      : maker_(maker), scope_(scope), operation_(operation) {}

  Status make() {
    const auto config = maker_.values().find_any(operation_.attributes, "einsum_config|config");
    LT_ASSIGN_OR_RETURN(values_, maker_.operands(scope_, operation_));
    if (!config || operation_.types.size() != 1) return fault("expected 'einsum_config' and one result");
    LT_ASSIGN_OR_RETURN(const std::string text, maker_.values().string(*config));
    LT_RETURN_IF_ERROR(read(text));
    for (size_t k = 0; k < values_.size(); ++k) LT_RETURN_IF_ERROR(sum_alone(k));
    if (values_.size() == 2) LT_RETURN_IF_ERROR(multiply());
    LT_RETURN_IF_ERROR(arrange());
    maker_.bind(scope_, operation_, values_[0]);
    return {};
  }

 private:
  Status fault(std::string_view message) {
    return maker_.fault(operation_.place, fmt::format("{}: {}", operation_.name, message));
  }

  Status read(std::string_view text) {
    const size_t arrow = text.find("->"), comma = text.find(',');
    const size_t terms = comma == std::string_view::npos ? 1 : 2;
    if (arrow == std::string_view::npos || terms != values_.size()) {
      return fault(fmt::format("\"{}\" doesn't say the dimensions of {} operand{} and of the result", text,
                               values_.size(), values_.size() == 1 ? "" : "s"));
    }
    size_t begin = 0;
    for (size_t k = 0; k < values_.size(); ++k) {
      const size_t end = k + 1 < values_.size() ? comma : arrow;
      LT_ASSIGN_OR_RETURN(Labels labels, term(text.substr(begin, end - begin), values_[k]->shape.rank()));
      labels_.push_back(std::move(labels));
      begin = end + 1;
    }
    LT_ASSIGN_OR_RETURN(result_, term(text.substr(arrow + 2), operation_.types[0].rank()));
    for (const int label : result_) {
      if (std::ranges::none_of(labels_, [&](const Labels& l) { return has(l, label); })) {
        return fault(fmt::format("no operand of \"{}\" has '{}'", text, static_cast<char>(label)));
      }
    }
    return {};
  }

  /// The labels of an array of this rank.
  Result<Labels> term(std::string_view text, int64_t rank) {
    Labels labels;
    size_t dots = std::string_view::npos;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ' ') continue;
      if (text.substr(i).starts_with("...") && dots == std::string_view::npos) {
        dots = labels.size();
        i += 2;
        continue;
      }
      if (has(labels, text[i])) {
        return maker_.unsupported(operation_.place, fmt::format("{}: the diagonal \"{}\"", operation_.name, text));
      }
      labels.push_back(text[i]);
    }
    const int64_t rest = rank - static_cast<int64_t>(labels.size());
    if (rest < 0 || (rest > 0 && dots == std::string_view::npos)) {
      return fault(fmt::format("\"{}\" doesn't name the dimensions of an array of rank {}", text, rank));
    }
    for (int64_t n = 0; n < rest; ++n) {
      labels.insert(labels.begin() + static_cast<ptrdiff_t>(dots), static_cast<int>(-1 - n));
    }
    return labels;
  }

  /// Sums operand k over the dimensions that neither the other operand nor the result has.
  Status sum_alone(size_t k) {
    Dims dims;
    Labels left;
    Shape shape = Shape::array(values_[k]->shape.type, {});
    for (size_t d = 0; d < labels_[k].size(); ++d) {
      const int label = labels_[k][d];
      if (has(result_, label) || (labels_.size() == 2 && has(labels_[1 - k], label))) {
        left.push_back(label);
        shape.dims.push_back(values_[k]->shape.dims[d]);
      } else {
        dims.push_back(static_cast<int64_t>(d));
      }
    }
    if (dims.empty()) return {};
    const MlirRegion sum = adding_region(shape.type, operation_.place);
    LT_ASSIGN_OR_RETURN(const Computation* adds, maker_.reducer(scope_, sum, "einsum.sum"));
    LT_ASSIGN_OR_RETURN(
        Instruction * zero,
        maker_.add_constant(scope_, operation_, std::make_shared<const Literal>(Shape::scalar(shape.type))));
    LT_ASSIGN_OR_RETURN(values_[k],
                        maker_.add(scope_, operation_, Opcode::kReduce, std::move(shape), {values_[k], zero},
                                   {{"dimensions", braced_dims(dims)}, {"to_apply", '%' + adds->name}}));
    labels_[k] = std::move(left);
    return {};
  }

  Status multiply() {
    const Labels &a = labels_[0], &b = labels_[1];
    Dims batch[2], contracted[2];
    Labels labels;
    Shape shape = Shape::array(operation_.types[0].type, {});
    const auto keep = [&](size_t k, int label) {
      labels.push_back(label);
      shape.dims.push_back(values_[k]->shape.dims[place_of(labels_[k], label)]);
    };
    for (const int label : a) {
      if (!has(b, label)) continue;
      Dims* const to = has(result_, label) ? batch : contracted;
      to[0].push_back(place_of(a, label));
      to[1].push_back(place_of(b, label));
      if (to == batch) keep(0, label);
    }
    for (size_t k = 0; k < 2; ++k) {
      for (const int label : labels_[k]) {
        if (!has(labels_[1 - k], label)) keep(k, label);
      }
    }
    LT_ASSIGN_OR_RETURN(values_[0], maker_.add(scope_, operation_, Opcode::kDot, std::move(shape), values_,
                                               {{"lhs_batch_dims", braced_dims(batch[0])},
                                                {"rhs_batch_dims", braced_dims(batch[1])},
                                                {"lhs_contracting_dims", braced_dims(contracted[0])},
                                                {"rhs_contracting_dims", braced_dims(contracted[1])}}));
    labels_[0] = std::move(labels);
    return {};
  }

  /// Transposes the dimensions to the result's order.
  Status arrange() {
    if (labels_[0] == result_) return {};
    Dims order;
    Shape shape = Shape::array(values_[0]->shape.type, {});
    for (const int label : result_) {
      order.push_back(place_of(labels_[0], label));
      shape.dims.push_back(values_[0]->shape.dims[order.back()]);
    }
    LT_ASSIGN_OR_RETURN(values_[0], maker_.add(scope_, operation_, Opcode::kTranspose, std::move(shape), {values_[0]},
                                               {{"dimensions", braced_dims(order)}}));
    return {};
  }

  ModuleMaker& maker_;
  Scope& scope_;
  const MlirOperation& operation_;
  Instructions values_;
  std::vector<Labels> labels_;
  Labels result_;
};

}  // namespace

Status make_einsum(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  return Einsum(maker, scope, operation).make();
}

}  // namespace lowtide::engine
