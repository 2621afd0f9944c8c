// Transfers to and from the host and other programs, ordered by tokens. The interpreter can't run them.
//   send(T, token[]) -> (T, u32[], token[])     send-done -> token[]
//   recv(token[]) -> (T, u32[], token[])        recv-done -> (T, token[])
//   infeed(token[]) -> (T, token[])             outfeed(T, token[]) -> token[]
//   after-all(token[], ..) -> token[]: ordered after all of them
//   (C1) the operand for ordering is a token
//   (C2) the declared shape has the form above
// Older texts write infeed and outfeed without the token.
#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Status check_token(const Instruction& instruction, size_t operand) {
  if (operand < instruction.operands.size() && instruction.operand(operand).shape.type == ElementType::kToken)
    return {};
  return broken(instruction, 1, "operand " + std::to_string(operand) + " must be a token");
}

Status form_fault(const Instruction& instruction, const char* form) {
  return broken(instruction, 2, "gives " + to_string_without_layout(instruction.shape) + ", not " + form);
}

bool ends_in_token(const Shape& shape, size_t parts) {
  return shape.is_tuple() && shape.elements.size() == parts && shape.elements.back().type == ElementType::kToken;
}

Result<Shape> infer_send(const Instruction& send) {
  LT_RETURN_IF_ERROR(check_token(send, 1));
  if (!ends_in_token(send.shape, 3) || !same_shape(send.shape.elements[0], send.operand(0).shape)) {
    return form_fault(send, "(data, u32[], token[])");
  }
  return send.shape;
}

Result<Shape> infer_recv(const Instruction& recv) {
  LT_RETURN_IF_ERROR(check_token(recv, 0));
  if (!ends_in_token(recv.shape, 3)) return form_fault(recv, "(data, u32[], token[])");
  return recv.shape;
}

Result<Shape> infer_send_done(const Instruction& done) {
  if (!ends_in_token(done.operand(0).shape, 3)) return form_fault(done, "the token of a send");
  return Shape::token();
}

Result<Shape> infer_recv_done(const Instruction& done) {
  const Shape& started = done.operand(0).shape;
  if (!ends_in_token(started, 3)) return form_fault(done, "(data, token[]) of a recv");
  return Shape::tuple({started.elements[0], started.elements[2]});
}

Result<Shape> infer_infeed(const Instruction& infeed) {
  LT_RETURN_IF_ERROR(check_token(infeed, 0));
  if (!ends_in_token(infeed.shape, 2)) return form_fault(infeed, "(data, token[])");
  return infeed.shape;
}

Result<Shape> infer_outfeed(const Instruction& outfeed) {
  LT_RETURN_IF_ERROR(check_token(outfeed, 1));
  return Shape::token();
}

Result<Shape> infer_after_all(const Instruction& all) {
  for (size_t k = 0; k < all.operands.size(); ++k) LT_RETURN_IF_ERROR(check_token(all, k));
  return Shape::token();
}

Result<Value> eval_after_all(const Instruction&, Operands, EvalContext&) {
  return Value(std::make_shared<Literal>(Literal::token()));
}

}  // namespace

const OpRule kSendRule{.infer = infer_send,
                       .slicing = kNotSliced,
                       .extents = unknown_extents,
                       .reads = reads_anywhere,
                       .arithmetic = kOneOperation};
const OpRule kSendDoneRule{.infer = infer_send_done,
                           .slicing = kNotSliced,
                           .extents = unknown_extents,
                           .reads = reads_anywhere,
                           .arithmetic = kOneOperation};
const OpRule kRecvRule{.infer = infer_recv,
                       .slicing = kNotSliced,
                       .extents = unknown_extents,
                       .reads = reads_anywhere,
                       .arithmetic = kOneOperation};
const OpRule kRecvDoneRule{.infer = infer_recv_done,
                           .slicing = kNotSliced,
                           .extents = unknown_extents,
                           .reads = reads_anywhere,
                           .arithmetic = kOneOperation};
const OpRule kInfeedRule{.infer = infer_infeed,
                         .slicing = kNotSliced,
                         .extents = unknown_extents,
                         .reads = reads_anywhere,
                         .arithmetic = kOneOperation};
const OpRule kOutfeedRule{.infer = infer_outfeed,
                          .slicing = kNotSliced,
                          .extents = unknown_extents,
                          .reads = reads_anywhere,
                          .arithmetic = kOneOperation};
const OpRule kAfterAllRule{.infer = infer_after_all,
                           .eval = eval_after_all,
                           .slicing = kNotSliced,
                           .extents = free_extents,
                           .reads = reads_anywhere,
                           .arithmetic = kOneOperation};
/// No public text defines this operation: it is only read and printed.
const OpRule kShuffleRule{
    .slicing = kNotSliced, .extents = unknown_extents, .reads = reads_anywhere, .arithmetic = kOneOperation};

}  // namespace lowtide::engine
