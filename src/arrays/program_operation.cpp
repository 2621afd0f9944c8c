// Operations of a program as one step each.
#include <fmt/format.h>

#include <algorithm>

#include "arrays/functions.h"
#include "arrays/program.h"
#include "lowtide/control.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

std::string shape_text(const ModuleBuilder::Shape& shape) {
  std::string text = shape.type + list_text(shape.dims);
  for (const auto& element : shape.elements) text += shape_text(element);
  return text;
}

std::string text_of(const Program& program, const ProgramOperation& operation) {
  std::string text = operation.operation;
  for (const auto& [key, value] : operation.attributes) {
    text += fmt::format(" {}", key);
    if (operation.functions.empty() || value.find('%') == std::string::npos) text += fmt::format("={}", value);
  }
  for (const size_t called : operation.functions) text += fmt::format("[{}]", text_of(program, called));
  return text;
}

class Verbatim final : public Primitive {
 public:
  Verbatim(ProgramPtr program, ProgramOperation operation, Derivative derivative, Batching batching)
      : program_(std::move(program)),
        operation_(std::move(operation)),
        text_(text_of(*program_, operation_)),
        derivative_(std::move(derivative)),
        batching_(std::move(batching)) {}
  std::string_view name() const override { return "operation"; }
  void describe(Key& key) const override { key.text(text_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    Attributes attributes = to.attributes_of(*program_, operation_);
    if (operation_.shape.type != "tuple")
      return {to.add(operation_.operation, in, std::move(attributes), out[0].shape, out[0].dtype)};
    return to.add_tuple(operation_.operation, in, std::move(attributes), out);
  }
  Gradients vjp(const Backward& b) const override {
    bool asked = false;
    for (size_t o = 0; o < b.outputs.size(); ++o)
      asked = asked || (b.reached[o] && issubdtype(b.outputs[o].dtype(), inexact));
    if (!asked) return Gradients(b.inputs.size());
    if (!derivative_) refuse(operation_, "has no derivative");
    return derivative_(b);
  }
  std::vector<array> vmap(const Batch& batch) const override {
    if (batching_) return batching_(batch);
    std::vector<array> along;
    for (size_t i = 0; i < batch.inputs.size(); ++i) {
      if (batch.batched[i]) along.push_back(batch.inputs[i]);
    }
    const auto one = [&](const std::vector<array>&, const std::vector<array>& x) {
      std::vector<array> inputs = batch.inputs;
      for (size_t i = 0, next = 0; i < inputs.size(); ++i) {
        if (batch.batched[i]) inputs[i] = x[next++];
      }
      const auto same = std::make_shared<Verbatim>(program_, operation_, derivative_, batching_);
      return std::pair(std::vector<array>{}, apply_all(same, inputs, batch.outputs));
    };
    return scan(one, {}, along, batch.count).second;
  }

 private:
  ProgramPtr program_;
  ProgramOperation operation_;
  std::string text_;
  Derivative derivative_;
  Batching batching_;
};

}  // namespace

std::string text_of(const Program& program, size_t function) {
  const ProgramFunction& of = program.functions[function];
  std::string text;
  for (const ProgramOperation& operation : of.operations) {
    text += fmt::format("{} {} {} {}", text_of(program, operation), fmt::join(operation.operands, ","),
                        shape_text(operation.shape), operation.parameter);
    if (operation.elements) {
      const Spec spec = leaf_specs(operation)[0];
      text.append(static_cast<const char*>(operation.elements.get()),
                  static_cast<size_t>(element_count(spec.shape)) * spec.dtype.size());
    }
    text += '\n';
  }
  return text + std::to_string(of.result);
}

Leaves verbatim(const At& at, Derivative derivative, Batching batching) {
  Leaves inputs;
  for (const Leaves& leaves : at.in) inputs.insert(inputs.end(), leaves.begin(), leaves.end());
  return apply_all(std::make_shared<Verbatim>(at.program, at.operation, std::move(derivative), std::move(batching)),
                   std::move(inputs), leaf_specs(at.operation));
}

Gradients zero(const Backward& at) { return Gradients(at.inputs.size()); }

Derivative as_of(Equal equal) {
  return [equal = std::move(equal)](const Backward& b) {
    std::vector<array> inputs, made, cotangents;
    for (const array& input : b.inputs) inputs.push_back(elementwise(Op::kSameValue, input));
    const Leaves outputs = equal(inputs, b.outputs);
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (!issubdtype(outputs[o].dtype(), inexact)) continue;
      made.push_back(outputs[o]);
      cotangents.push_back(b.cotangents[o]);
    }
    return backwards(inputs, made, cotangents);
  };
}

Batching batched_as(Equal equal) {
  return [equal = std::move(equal)](const Batch& batch) {
    std::vector<array> inside;
    for (size_t i = 0; i < batch.inputs.size(); ++i) {
      Shape shape = batch.inputs[i].shape();
      if (batch.batched[i]) shape.erase(shape.begin());
      inside.push_back(placeholder(shape, batch.inputs[i].dtype()));
    }
    auto [made, has] = batched_graph(inside, equal(inside, {}), batch.inputs, batch.batched, batch.count);
    for (size_t o = 0; o < made.size(); ++o) made[o] = with_batch(made[o], has[o], batch.count);
    return made;
  };
}

Batching by_element(const At& at) {
  return [program = at.program, operation = at.operation, &function = at.function](const Batch& batch) {
    ProgramOperation larger = operation;
    const auto grow = [&](ModuleBuilder::Shape& shape) { shape.dims.insert(shape.dims.begin(), batch.count); };
    if (larger.shape.type != "tuple") grow(larger.shape);
    for (auto& element : larger.shape.elements) grow(element);
    At made{program, function, larger, {}};  // the rule gives it a derivative of its own
    for (size_t i = 0; i < batch.inputs.size(); ++i)
      made.in.push_back({with_batch(batch.inputs[i], batch.batched[i], batch.count)});
    return rule_of(larger.operation)(made);
  };
}

}  // namespace lowtide::lazy
