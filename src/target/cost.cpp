#include "target/cost.h"

#include <algorithm>
#include <cmath>

#include "analysis/evaluations.h"
#include "ops/attention_terms.h"
#include "ops/host_call.h"
#include "ops/op_rule.h"
#include "ops/sharding_calls.h"
#include "ops/solver_terms.h"
#include "ops/updates_taken.h"

namespace lowtide::engine {
namespace {

constexpr double kHostCall = 1e5;          ///< ns for a host function, which may run in an interpreter, to return
constexpr double kLineBytes = 64;          ///< of a cache line
constexpr double kUnknownOperations = 50;  ///< plain operations per element of a call of unknown code

/// The time of an operation on this type, relative to f32.
double width_factor(ElementType type) {
  if (!is_array_type(type)) return 1;
  const double words = std::max(1.0, type_bits(type) / 32.0);
  return is_floating(type) && type_bits(type) < 32 ? 1.5 : words;
}

double batches(const Instruction& dot) {
  double batches = 1;
  for (const int64_t d : dot.as<DotAttributes>().lhs_batch_dims) {
    batches *= static_cast<double>(dot.operand(0).shape.dims[d]);
  }
  return std::max(1.0, batches);
}

/// Rows of the left matrix and columns of the right one, per batch.
double rows(const Instruction& dot) {
  return std::max(1.0, elements_of(dot.operand(0).shape) / (batches(dot) * terms_of(dot)));
}
double columns(const Instruction& dot) {
  return std::max(1.0, elements_of(dot.operand(1).shape) / (batches(dot) * terms_of(dot)));
}

/// Is the last dimension of a matrix among those that are contracted?
bool contracts_last(const Instruction& matrix, const Dims& contracted) {
  return std::ranges::find(contracted, matrix.shape.rank() - 1) != contracted.end();
}

/// Is the left matrix column-major, its contracted dimension not the last?
bool lies_by_columns(const Instruction& dot) {
  const Dims& contracted = dot.as<DotAttributes>().lhs_contracting_dims;
  return !contracted.empty() && !contracts_last(dot.operand(0), contracted);
}

/// Is the larger matrix read a short row at a time, while a kernel's lanes go from row to row?
bool reads_short_rows(const Instruction& dot) {
  constexpr double kShort = 32;  // the price of longer ones isn't measured
  const bool left = elements_of(dot.operand(0).shape) >= elements_of(dot.operand(1).shape);
  const auto& attributes = dot.as<DotAttributes>();
  const Dims& contracted = left ? attributes.lhs_contracting_dims : attributes.rhs_contracting_dims;
  return terms_of(dot) > 1 && terms_of(dot) <= kShort && contracts_last(dot.operand(left ? 0 : 1), contracted);
}

/// The width of a term in 32-bit words: that of its factors, since summing in a wider type isn't slower; of integers
/// only if they have 8 bits, for which processors have instructions. Complex numbers are multiplied as four real ones.
double product_width(const Instruction& dot) {
  const ElementType left = dot.operand(0).shape.type, right = dot.operand(1).shape.type;
  const bool bytes = left == ElementType::kS8 && right == ElementType::kS8 && dot.shape.type == ElementType::kS32;
  const bool narrow = (is_floating(left) && is_floating(right)) || bytes;
  const int bits = narrow ? std::max(type_bits(left), type_bits(right)) : type_bits(dot.shape.type);
  return bits * (is_complex(dot.shape.type) ? 2 : 1) / 32.0;
}

/// Do the lanes of a vector read elements that aren't side by side?
bool steps_along_lanes(const Instruction& i) {
  if (i.shape.rank() == 0) return false;
  if (const auto* pad = i.if_as<PadAttributes>()) return pad->interior.back() != 0;
  return i.as<SliceAttributes>().strides.back() != 1;
}

/// Do most elements of a windowed reduction have terms in the padding? Then its kernel isn't cut where padding begins,
/// and looks up each term.
bool is_mostly_padding(const Instruction& i) {
  const auto* a = i.if_as<WindowAttributes>();
  if (a == nullptr) return false;
  for (size_t d = 0; d < a->window.size.size(); ++d) {
    const int64_t padding = a->window.pad_low[d] + a->window.pad_high[d];
    if (2 * padding >= i.operand(0).shape.dims[d]) return true;
  }
  return false;
}

/// Terms per element, without those that fall into the holes of a dilated base.
double convolution_terms(const Instruction& convolution) {
  double terms = terms_of(convolution);
  for (const int64_t dilation : convolution.as<ConvolutionAttributes>().window.lhs_dilate)
    terms /= static_cast<double>(std::max<int64_t>(1, dilation));
  return terms;
}

}  // namespace

double Cost::operation_ns(const Instruction& i) const {
  const bool complex = is_complex(i.shape.type) || (!i.operands.empty() && is_complex(i.operand(0).shape.type));
  const ElementArithmetic& arithmetic = rule_of(i.opcode).arithmetic;
  const double operations = complex ? arithmetic.complex : arithmetic.plain;
  return operations * machine_.plain_ns * width_factor(i.shape.type);
}

double Cost::computation_ns(const Computation& computation, int depth) const {
  double all = 0;
  for (const auto& i : computation.instructions()) {
    if (i->opcode == Opcode::kParameter || i->opcode == Opcode::kTuple || i->opcode == Opcode::kGetTupleElement) {
      continue;
    }
    all += operation_ns(*i);
    if (depth < 4) {
      for (const Computation* called : i->called) all += computation_ns(*called, depth + 1);
    }
  }
  return all;
}

double Cost::element_ns(const Instruction& i) const {
  switch (i.opcode) {
    case Opcode::kWhile: return guessed_trips(i) * (computation_ns(*i.called[0], 0) + computation_ns(*i.called[1], 0));
    case Opcode::kDot: {
      const double row_term = reads_short_rows(i) ? machine_.row_term_ns : 0;
      return terms_of(i) * (2 * machine_.plain_ns + row_term) * width_factor(i.shape.type);
    }
    case Opcode::kConvolution: return terms_of(i) * 2 * machine_.plain_ns * width_factor(i.shape.type);
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter: {
      double each = 0;
      for (const Computation* called : i.called) each += computation_ns(*called, 0);
      if (is_mostly_padding(i)) each += machine_.lookup_ns;
      return terms_of(i) * each;
    }
    case Opcode::kPad:
    case Opcode::kSlice: return operation_ns(i) + (steps_along_lanes(i) ? machine_.lookup_ns : 0);
    default: break;
  }
  double called = 0;
  for (const Computation* c : i.called) called += computation_ns(*c, 0);
  return operation_ns(i) + called;
}

double Cost::running_fold_ns(const Instruction& fold) const {
  const double step_ns = std::max(machine_.dependent_step_ns, element_ns(fold) / std::max(1.0, terms_of(fold)));
  return elements_of(fold.shape) * step_ns;
}

double Cost::kernel_ns(const KernelWork& work) const {
  return std::max(work.arithmetic_ns / machine_.cores, work.bytes * machine_.byte_ns / machine_.cores) +
         machine_.kernel_start_ns;
}

double Cost::skipping_ns(const Instruction& scatter) const {
  const double entries = elements_of(scatter.operand(scatter.operands.size() / 2).shape);
  const Dims& of_vector = scatter.as<ScatterAttributes>().scatter_dims_to_operand_dims;
  return machine_.scattered_ns * entries / std::max<double>(1, static_cast<double>(of_vector.size()));
}

double Cost::scatter_ns(const Instruction& scatter) const {
  const double elements = elements_of(scatter.operands.back()->shape), taken = updates_taken(scatter);
  return machine_.scattered_ns * taken * elements + (taken < 1 ? skipping_ns(scatter) : 0);
}

double Cost::streamed_ns(const Instruction& i, bool in_library) const {
  const double elements = elements_of(i.shape);
  return in_library ? library_ns(i) : machine_.kernel_factor * elements * element_ns(i) / machine_.cores;
}

/// The time of a call of unknown code: much work per element that it reads or writes. Pure aliases cost nothing.
double Cost::unknown_call_ns(const Instruction& call) const {
  if (names_its_operands(call)) return 0;
  double elements = elements_of(call.shape);
  for (const Instruction* operand : call.operands) elements += elements_of(operand->shape);
  return kUnknownOperations * machine_.plain_ns * elements;
}

double Cost::repeated_ns(const Instruction& i) const {
  const double by_element = element_ns(i) * elements_of(i.shape);
  switch (i.opcode) {
    case Opcode::kDot:
    case Opcode::kConvolution: return std::min(by_element, machine_.cores * library_ns(i));
    case Opcode::kSort:
    case Opcode::kTopK:
    case Opcode::kFft:
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve: return machine_.cores * library_ns(i);
    case Opcode::kCustomCall: return std::max(machine_.cores * library_ns(i), unknown_call_ns(i));
    default: return by_element;
  }
}

double Cost::host_ns(double bytes) const {
  if (bytes <= 0 || machine_.links.empty()) return 0;
  return machine_.links[0].start_ns + bytes * machine_.links[0].byte_ns;
}

double Cost::distance(double whole) const {
  if (whole <= machine_.near_bytes) return machine_.near_factor;
  return machine_.far_bytes > 0 && whole > machine_.far_bytes ? machine_.far_factor : 1;
}

double Cost::traffic_ns(double bytes, double whole) const {
  return bytes * machine_.memory_factor * machine_.byte_ns / machine_.cores * distance(whole);
}

double Cost::shared_ns(double one_core) const {
  return one_core < machine_.sharing_ns ? one_core : one_core / machine_.cores + machine_.meeting_ns;
}

double Cost::rows_ns(const Shape& whole, const Shape& box) const {
  const double element = type_bits(whole.type) / 8.0;
  double row = 1, whole_row = 1;
  for (size_t d = whole.rank(); d-- > 0;) {
    row *= static_cast<double>(box.dims[d]);
    whole_row *= static_cast<double>(whole.dims[d]);
    if (row != whole_row) break;
  }
  if (row == whole_row) return 0;
  const double bytes = element * elements_of(whole);
  if (bytes <= machine_.near_bytes) {
    const bool each_a_line = element * row < kLineBytes && bytes > machine_.nearest_bytes;
    return each_a_line ? elements_of(box) / std::max(1.0, row) * machine_.near_row_ns : 0;
  }
  const double left_out = element * (whole_row - row) * machine_.memory_factor * machine_.byte_ns;
  return elements_of(box) / std::max(1.0, row) * std::min(machine_.row_ns, left_out);
}

double Cost::columns_ns(const Shape& whole, const Shape& box) const {
  const double row = static_cast<double>(box.dims.back()) * stored_bytes(whole.type);
  return row < kLineBytes ? rows_ns(whole, box) : 0;
}

double Cost::kernel_step_ns(const KernelWork& work, double distance, double part) const {
  const double whole = machine_.kernel_factor * work.arithmetic_ns + work.rows_ns +
                       work.bytes * distance * machine_.memory_factor * machine_.byte_ns;
  return machine_.step_start_ns + shared_ns(part * whole);
}

double Cost::rearrangement_step_ns(double sweeps, double traffic_ns) const {
  return sweeps * 2 * traffic_ns + machine_.kernel_start_ns;
}

double Cost::product_ns(const Instruction& dot) const {
  const double elements = elements_of(dot.shape), terms = terms_of(dot), wide = columns(dot);
  const double depth = elements / wide < machine_.few_rows ? machine_.depth_to_cut : machine_.depth_to_fill;
  const double turned = lies_by_columns(dot) ? machine_.columns_to_turn / wide : 0;
  return elements * terms * machine_.product_ns * std::max(machine_.least_product_width, product_width(dot)) *
         (1 + machine_.rows_to_fill / rows(dot) + depth / terms + turned);
}

/// Short lines are sorted in groups, whose time is that of their keys and of moving what they sort; of longer ones most
/// is the comparisons.
double Cost::sort_ns(const Instruction& sort) const {
  constexpr double kLongestInGroup = 2048, kGroup = 16, kMoved = 2.5, kStartOfLine = 5;  // library/sort_lines.h
  const double keys = elements_of(sort.operand(0).shape);
  const auto d = static_cast<size_t>(sort.as<SortAttributes>().dimension);
  const auto line = static_cast<double>(std::max<int64_t>(1, sort.operand(0).shape.dims[d]));
  const double lines = keys / line;
  if (line <= kLongestInGroup && lines >= kGroup / 4) {
    const double groups = std::ceil(lines / kGroup);
    const double cores = std::min<double>(machine_.cores, groups);
    return groups * kGroup * line * kMoved * machine_.compare_ns * machine_.cores / cores;
  }
  const double comparisons = std::min(std::log2(std::max(2.0, keys)), std::log2(std::max(2.0, line)) + kStartOfLine);
  return keys * comparisons * machine_.compare_ns;
}

double Cost::library_ns(const Instruction& i) const {
  const double elements = elements_of(i.shape);
  switch (i.opcode) {
    case Opcode::kDot: return product_ns(i);
    case Opcode::kConvolution: {
      const double width = std::max(machine_.least_product_width, type_bits(i.shape.type) / 32.0);
      return elements * (convolution_terms(i) + machine_.depth_to_fill) * machine_.product_ns * width;
    }
    case Opcode::kTopK: return elements_of(i.operand(0).shape) * machine_.compare_ns;  // most keys are compared once
    case Opcode::kSort: return sort_ns(i);
    case Opcode::kFft: {
      double points = 1;
      for (const int64_t length : i.as<FftAttributes>().length) points *= static_cast<double>(length);
      const double width = type_bits(i.shape.type) / (is_complex(i.shape.type) ? 64.0 : 32.0);
      return std::max(elements, elements_of(i.operand(0).shape)) * std::log2(std::max(2.0, points)) * width *
             machine_.wave_ns;
    }
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
    case Opcode::kCustomCall: {
      if (is_host_call(i)) return kHostCall;
      const double width = i.operands.empty() ? 1 : type_bits(i.operand(0).shape.type) / 32.0;
      const SolverWork solver = solver_work(i);
      return machine_.product_ns * (solver.terms * (1 + machine_.order_to_fill / solver.order) * width +
                                    attention_terms(i) * std::max(machine_.least_product_width, width));
    }
    default: return machine_.kernel_factor * elements * element_ns(i);
  }
}

double Cost::library_step_ns(const Instruction& i, double traffic_ns) const {
  return machine_.library_start_ns + shared_ns(machine_.cores * std::max(library_ns(i), traffic_ns));
}

double Cost::other_step_ns(const Instruction& i, double traffic_ns) const {
  switch (memory_class(i.opcode)) {
    case MemoryClass::kCollective: return machine_.trip_ns + traffic_ns;
    case MemoryClass::kOpaque:
      if (names_its_operands(i)) return machine_.trip_ns;
      return machine_.trip_ns + std::max(repeated_ns(i) / machine_.cores, traffic_ns);
    default: return machine_.trip_ns;  // aliases, and operations that run concurrently with other steps
  }
}

int32_t code_size(const Instruction& i) {
  const int32_t size = rule_of(i.opcode).arithmetic.code;
  return is_complex(i.shape.type) ? 4 * size : size;
}

}  // namespace lowtide::engine
