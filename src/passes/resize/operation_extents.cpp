#include "passes/resize/operation_extents.h"

#include <algorithm>

#include "analysis/leaves.h"
#include "ops/dimension_roles.h"
#include "ops/infer.h"
#include "ops/lapack_call.h"
#include "ops/stand_in.h"
#include "passes/rules/index_forms.h"

namespace lowtide::engine {
namespace {

using Slot = ExtentTie::Slot;
using Interval = ModuleExtents::Interval;
using Mark = Interval::Mark;
using Counts = Mark::Counts;

class OperationRelater {
 public:
  OperationRelater(const Instruction& i, ModuleExtents& extents) : i_(i), extents_(extents) {}

  void operation() {
    switch (i_.opcode) {
      case Opcode::kParameter:
      case Opcode::kIota:
      case Opcode::kRng:
      case Opcode::kAfterAll: return;
      case Opcode::kConstant: return constant();
      case Opcode::kTuple: return tuple();
      case Opcode::kGetTupleElement: {
        const int64_t first = leaf_offset(i_.operand(0).shape, i_.as<TupleIndexAttributes>().index);
        return extents_.same_leaves(i_, 0, i_.operand(0), first, leaf_count(i_.shape), i_);
      }
      case Opcode::kOptBarrier:
      case Opcode::kDomain:
      case Opcode::kAddDependency: return same_as_operand(0);
      case Opcode::kCall:
      case Opcode::kFusion:
      case Opcode::kWhile:
      case Opcode::kConditional: return control();
      case Opcode::kReshape: return regroup(row_major(i_.operand(0)), row_major(i_));
      case Opcode::kBitcast: return bitcast();
      case Opcode::kBitcastConvert: return bitcast_convert();
      case Opcode::kSlice: return slice();
      case Opcode::kPad: return pad();
      case Opcode::kConcatenate: return concatenate();
      case Opcode::kDynamicSlice:
      case Opcode::kDynamicUpdateSlice: return dynamic_slice();
      case Opcode::kGather: return gather();
      case Opcode::kScatter: return scatter();
      case Opcode::kBroadcast:
      case Opcode::kTranspose:
      case Opcode::kReverse: return by_roles();
      case Opcode::kReduce: return by_roles(), same_results();
      case Opcode::kDot: return i_.operands.size() == 2 ? by_roles() : unknown();
      case Opcode::kConvolution:
      case Opcode::kReduceWindow:
      case Opcode::kSelectAndScatter: return by_roles(), relate_windows(i_, extents_), same_results();
      case Opcode::kSort:
        for (size_t k = 0; k < i_.operands.size(); ++k) extents_.same(i_, 0, i_.operand(k), 0, i_);
        return same_results();
      case Opcode::kScan: return scan();
      case Opcode::kTopK: return top_k();
      case Opcode::kFft: return transform();
      case Opcode::kCholesky: return same_as_operand(0), square(i_);
      case Opcode::kTriangularSolve: return solve();
      case Opcode::kRngBitGenerator:
        return extents_.freeze(i_.operand(0), why("the state of random numbers")),
               extents_.same(i_, 0, i_.operand(0), 0, i_);
      case Opcode::kCustomCall: return custom_call();
      default: break;
    }
    if (memory_class(i_.opcode) == MemoryClass::kElementwise) return by_roles();
    unknown();
  }

 private:
  ExtentReason why(const char* words) const { return {words, &i_}; }
  const Product& mine(size_t d, int64_t leaf = 0) const { return extents_.dimension(i_, leaf, d); }
  const Product& of_operand(size_t k, size_t d) const { return extents_.dimension(i_.operand(k), 0, d); }
  static Product row_major(const std::vector<Product>& dims) {
    Product all;
    for (const Product& d : dims) all.insert(all.end(), d.begin(), d.end());
    return all;
  }
  Product row_major(const Instruction& array) const { return row_major(extents_.leaf_of(array, 0)); }

  void unknown() {
    const ExtentReason reason = why("an operation that is not looked into");
    extents_.freeze(i_, reason);
    for (const Instruction* operand : i_.operands) extents_.freeze(*operand, reason);
  }

  void same_as_operand(size_t k) {
    extents_.same_leaves(i_, 0, i_.operand(k), 0, std::min(leaf_count(i_.shape), leaf_count(i_.operand(k).shape)), i_);
  }
  /// The arrays of several results have one shape.
  void same_results() {
    for (int64_t leaf = 1; leaf < leaf_count(i_.shape); ++leaf) extents_.same(i_, 0, i_, leaf, i_);
  }

  void by_roles() {
    std::vector<std::pair<int64_t, Product>> folds;
    for (size_t k = 0; k < i_.operands.size(); ++k) {
      const std::vector<OperandDimension> roles = operand_roles(i_, k);
      for (size_t j = 0; j < roles.size(); ++j) {
        const OperandDimension& role = roles[j];
        const Product& theirs = of_operand(k, j);
        if (role.role == DimensionRole::kReduced && role.fold >= 0) {
          const auto known = std::ranges::find(folds, role.fold, &std::pair<int64_t, Product>::first);
          if (known == folds.end())
            folds.emplace_back(role.fold, theirs);
          else
            unite(known->second, theirs);
        }
        if (role.role != DimensionRole::kPointwise || role.stride != 1 || role.offset != 0) continue;
        if (role.result_dimension >= 0) unite(mine(static_cast<size_t>(role.result_dimension)), theirs);
      }
    }
    if (i_.opcode == Opcode::kReverse) extents_.same(i_, 0, i_.operand(0), 0, i_);
  }
  void unite(const Product& a, const Product& b) {
    if (extents_.atoms().extent(a) == extents_.atoms().extent(b)) {
      extents_.atoms().unite(a, b, why("the same as another"));
    }
  }
  void regroup(const Product& a, const Product& b) {
    extents_.atoms().unite(a, b, i_.operands.empty() ? ExtentReason{} : why(""));
  }

  /// A literal can be cut smaller where that leaves what it says as it is, or says nothing of places.
  void constant() {
    const auto& value = i_.as<ConstantAttributes>().value;
    if (!i_.shape.is_array() || i_.shape.rank() == 0) return;
    const bool same = value && value->known() && same_everywhere(i_) != nullptr;
    for (size_t d = 0; d < i_.shape.dims.size(); ++d) {
      const bool says_places = is_integral(i_.shape.type) && !same && !counts_along(i_, static_cast<int64_t>(d));
      if (!value || !value->known() || (says_places && i_.shape.type != ElementType::kPred)) {
        extents_.atoms().freeze(mine(d), why("the shape of a literal constant"));
      } else if (!same) {
        extents_.relate(ExtentSum(mine(d), -i_.shape.dims[d]), why("a literal constant has no more elements"), true);
      }
    }
  }

  void tuple() {
    int64_t first = 0;
    for (const Instruction* operand : i_.operands) {
      const int64_t count = leaf_count(operand->shape);
      extents_.same_leaves(i_, first, *operand, 0, count, i_);
      first += count;
    }
  }

  void all_leaves(const Instruction& a, const Instruction& b) {
    extents_.same_leaves(a, 0, b, 0, std::min(leaf_count(a.shape), leaf_count(b.shape)), i_);
  }
  void control() {
    const bool branches = i_.opcode == Opcode::kConditional;
    for (size_t c = 0; c < i_.called.size(); ++c) {
      const std::vector<Instruction*> parameters = i_.called[c]->parameters();
      for (size_t k = 0; k < parameters.size(); ++k) {
        const size_t operand = branches ? c + 1 : k;
        if (parameters[k] != nullptr && operand < i_.operands.size()) all_leaves(*parameters[k], i_.operand(operand));
      }
      if (i_.opcode == Opcode::kWhile && c == 0) continue;
      if (i_.called[c]->root != nullptr) all_leaves(i_, *i_.called[c]->root);
    }
    if (i_.opcode == Opcode::kWhile) same_as_operand(0);
  }

  /// Dimensions as they lie in memory, outermost first; nothing where tiles pad them.
  std::optional<Product> as_it_lies(const Instruction& array) const {
    const auto& dims = extents_.leaf_of(array, 0);
    if (!array.shape.layout) return row_major(dims);
    if (!array.shape.layout->tiles.empty()) return std::nullopt;
    std::vector<Product> lying;
    for (const int64_t d : array.shape.layout->minor_to_major)
      lying.insert(lying.begin(), dims[static_cast<size_t>(d)]);
    return row_major(lying);
  }
  void bitcast() {
    const auto from = as_it_lies(i_.operand(0)), to = as_it_lies(i_);
    const bool regroups = from && to && i_.shape.type == i_.operand(0).shape.type;
    if (regroups)
      regroup(*from, *to);
    else
      unknown();
  }
  void bitcast_convert() {
    const size_t whole = std::min(i_.shape.dims.size(), i_.operand(0).shape.dims.size());
    for (size_t d = 0; d < whole; ++d) unite(mine(d), of_operand(0, d));
    const ExtentReason reason = why("bits of one element");
    for (size_t d = whole; d < i_.shape.dims.size(); ++d) extents_.atoms().freeze(mine(d), reason);
    for (size_t d = whole; d < i_.operand(0).shape.dims.size(); ++d) extents_.atoms().freeze(of_operand(0, d), reason);
  }

  void slice() {
    const auto& a = i_.as<SliceAttributes>();
    for (size_t d = 0; d < i_.shape.dims.size(); ++d) {
      const int64_t stride = a.strides[d], count = i_.shape.dims[d];
      const Product& whole = of_operand(0, d);
      if (count == i_.operand(0).shape.dims[d] && stride == 1) {
        unite(mine(d), whole);
        extents_.tie(i_, Slot::kLimit, d, ExtentSum(mine(d)));
        continue;
      }
      if (count == 0) {
        extents_.atoms().freeze(whole, why("an empty slice"));
        continue;
      }
      ExtentSum span;
      span.add(stride, mine(d)).constant = 1 - stride;
      const int64_t end = a.starts[d] + stride * (count - 1) + 1;
      extents_.cut({whole,
                    a.starts[d],
                    end,
                    span,
                    &i_,
                    {{Counts::kBefore, Slot::kStart, d}, {Counts::kUntil, Slot::kLimit, d, 1, a.limits[d] - end}}});
    }
  }

  void pad() {
    const auto& a = i_.as<PadAttributes>();
    for (size_t d = 0; d < i_.shape.dims.size(); ++d) {
      const int64_t low = a.low[d], high = a.high[d], holes = a.interior[d];
      const int64_t from = i_.operand(0).shape.dims[d], to = i_.shape.dims[d];
      const Product& operand = of_operand(0, d);
      if (holes == 0 && low >= 0 && high >= 0) {
        extents_.cut({mine(d),
                      low,
                      low + from,
                      ExtentSum(operand),
                      &i_,
                      {{Counts::kBefore, Slot::kLow, d}, {Counts::kBehind, Slot::kHigh, d}}});
      } else if (holes == 0 && low <= 0 && high <= 0) {
        extents_.cut({operand,
                      -low,
                      from + high,
                      ExtentSum(mine(d)),
                      &i_,
                      {{Counts::kBefore, Slot::kLow, d, -1}, {Counts::kBehind, Slot::kHigh, d, -1}}});
      } else {
        ExtentSum zero(mine(d), (holes + 1) * from - to);
        extents_.relate(zero.add(-(holes + 1), operand), why("padded with as many elements"));
      }
    }
  }

  void concatenate() {
    const auto along = static_cast<size_t>(i_.as<DimensionsAttributes>().dimensions[0]);
    int64_t begin = 0;
    for (size_t k = 0; k < i_.operands.size(); ++k) {
      for (size_t d = 0; d < i_.shape.dims.size(); ++d) {
        if (d != along) unite(mine(d), of_operand(k, d));
      }
      const int64_t extent = i_.operand(k).shape.dims[along];
      if (extent > 0) extents_.cut({mine(along), begin, begin + extent, ExtentSum(of_operand(k, along)), &i_, {}});
      begin += extent;
    }
  }

  void at_most(const Product& part, const Product& whole) {
    if (extents_.atoms().extent(part) == extents_.atoms().extent(whole)) return unite(part, whole);
    extents_.relate(ExtentSum(part).add(-1, whole), why("a part is no larger than the whole"), true);
  }

  void dynamic_slice() {
    const bool updates = i_.opcode == Opcode::kDynamicUpdateSlice;
    if (updates) extents_.same(i_, 0, i_.operand(0), 0, i_);
    for (size_t d = 0; d < i_.shape.dims.size(); ++d) {
      const Product& part = updates ? of_operand(1, d) : mine(d);
      if (!updates) extents_.tie(i_, Slot::kSize, d, ExtentSum(part));
      at_most(part, of_operand(0, d));
    }
  }

  void gather() {
    by_roles();
    const auto& a = i_.as<GatherAttributes>();
    size_t next = 0;
    for (size_t d = 0; d < i_.operand(0).shape.dims.size(); ++d) {
      const auto place = static_cast<int64_t>(d);
      if (contains(a.collapsed_slice_dims, place) || contains(a.operand_batching_dims, place)) continue;
      const Product& part = mine(static_cast<size_t>(a.offset_dims[next++]));
      at_most(part, of_operand(0, d));
      extents_.tie(i_, Slot::kSize, d, ExtentSum(part));
    }
    index_vector(1, a.index_vector_dim);
  }
  void index_vector(size_t k, int64_t d) {
    if (d < i_.operand(k).shape.rank()) {
      extents_.atoms().freeze(of_operand(k, static_cast<size_t>(d)), why("numbers of an index"));
    }
  }

  void scatter() {
    by_roles();
    const auto& a = i_.as<ScatterAttributes>();
    const size_t count = i_.operands.size() / 2;
    for (size_t k = 0; k < count; ++k) {
      extents_.same(i_, static_cast<int64_t>(k), i_.operand(k), 0, i_);
      extents_.same(i_.operand(0), 0, i_.operand(k), 0, i_);
      extents_.same(i_.operand(count + 1), 0, i_.operand(count + 1 + k), 0, i_);
    }
    size_t next = 0;
    for (size_t d = 0; d < i_.operand(0).shape.dims.size(); ++d) {
      const auto place = static_cast<int64_t>(d);
      if (contains(a.inserted_window_dims, place) || contains(a.input_batching_dims, place)) continue;
      at_most(of_operand(count + 1, static_cast<size_t>(a.update_window_dims[next++])), of_operand(0, d));
    }
    index_vector(count, a.index_vector_dim);
  }

  /// A slice lacks the dimension that is scanned; carries are what they are.
  void scan() {
    const auto& a = i_.as<ScanAttributes>();
    const std::vector<Instruction*> parameters = i_.called[0]->parameters();
    if (a.num_carries < 0 || parameters.size() != i_.operands.size()) return unknown();
    const auto along = static_cast<size_t>(a.dimension), carries = static_cast<size_t>(a.num_carries);
    const size_t inputs = i_.operands.size() - carries;
    const Instruction& root = *i_.called[0]->root;
    const int64_t results = leaf_count(i_.shape), outputs = results - a.num_carries;
    const auto slice = [&](const Instruction& whole, int64_t leaf, const Instruction& part) {
      const auto& dims = extents_.leaf_of(whole, leaf);
      const auto& kept = extents_.leaf_of(part, &part == &root ? leaf : 0);
      for (size_t d = 0; d < dims.size(); ++d) unite(dims[d], d == along ? of_operand(0, d) : kept[d - (d > along)]);
    };
    for (size_t k = 0; k < inputs; ++k) slice(i_.operand(k), 0, *parameters[k]);
    for (int64_t leaf = 0; leaf < outputs; ++leaf) slice(i_, leaf, root);
    for (size_t k = 0; k < carries; ++k) {
      const auto leaf = outputs + static_cast<int64_t>(k);
      const Instruction& first = i_.operand(inputs + k);
      extents_.same(first, 0, *parameters[inputs + k], 0, i_);
      extents_.same(i_, leaf, first, 0, i_);
      extents_.same(i_, leaf, root, leaf, i_);
    }
  }

  void top_k() {
    const size_t last = i_.operand(0).shape.dims.size() - 1;
    for (size_t d = 0; d < last; ++d) unite(mine(d), of_operand(0, d));
    same_results();
    at_most(mine(last), of_operand(0, last));
    extents_.tie(i_, Slot::kTop, 0, ExtentSum(mine(last)));
  }

  void transform() {
    const auto& [type, length] = i_.as<FftAttributes>();
    const size_t rank = i_.shape.dims.size();
    for (size_t d = 0; d < rank; ++d) {
      const bool halved = d + 1 == rank && (type == FftType::kRfft || type == FftType::kIrfft);
      if (!halved) unite(mine(d), of_operand(0, d));
      if (d + length.size() < rank) continue;
      const Product& whole = type == FftType::kRfft ? of_operand(0, d) : mine(d);
      extents_.tie(i_, Slot::kLength, d + length.size() - rank, ExtentSum(whole));
      if (!halved) continue;
      const Product& half = type == FftType::kRfft ? mine(d) : of_operand(0, d);
      ExtentSum zero(whole, 2 * extents_.atoms().extent(half) - extents_.atoms().extent(whole));
      extents_.relate(zero.add(-2, half), why("half a spectrum"));
    }
  }

  void square(const Instruction& matrices) {
    const size_t rank = matrices.shape.dims.size();
    unite(extents_.dimension(matrices, 0, rank - 1), extents_.dimension(matrices, 0, rank - 2));
  }
  void solve() {
    same_as_operand(1);
    square(i_.operand(0));
    const size_t rank = i_.shape.dims.size();
    for (size_t d = 0; d + 2 < rank; ++d) unite(mine(d), of_operand(0, d));
    unite(mine(i_.as<TriangularSolveAttributes>().left_side ? rank - 2 : rank - 1), of_operand(0, rank - 1));
  }

  void custom_call() {
    const std::string& target = i_.as<CustomCallAttributes>().target;
    if (target == kStandIn) return;  // it takes and gives whatever is asked of it
    const bool names = target == "Sharding" || target == "LayoutConstraint" || target == "annotate_device_placement" ||
                       target == "MoveToHost" || target == "MoveToDevice" || target.starts_with("xla.sdy.");
    if (names && i_.operands.size() == 1 && same_shape(i_.shape, i_.operand(0).shape)) return same_as_operand(0);
    if (!is_lapack_call(i_) || !factors()) unknown();
  }

  /// Batches, and matrices of one extent alone: whichever number of rows or columns is the smaller must stay it.
  bool factors() {
    const Result<LapackCall> call = read_lapack_call(i_);
    if (!call.ok()) return false;
    const LapackProblem& p = call->problem;
    const bool free_vectors = p.routine == LapackRoutine::kTrsm || p.routine == LapackRoutine::kGtsv;
    const auto one_extent = [&](const LapackArray& array) {
      return std::ranges::all_of(array.extents, [&](int64_t extent) { return extent == p.n; });
    };
    if (!free_vectors &&
        !(std::ranges::all_of(call->operands, one_extent) && std::ranges::all_of(call->results, one_extent))) {
      return false;
    }
    if (p.routine == LapackRoutine::kGehrd) return false;  // its attributes name rows
    std::vector<Product> batch, extents;
    const auto relate = [&](const LapackArray& array, const std::vector<Product>& dims) {
      const size_t leading = dims.size() - array.extents.size();
      for (size_t d = 0; d < leading; ++d) {
        if (d == batch.size()) batch.push_back(dims[d]);
        unite(batch[d], dims[d]);
      }
      for (size_t d = leading; d < dims.size(); ++d) {
        for (const Product& other : extents) unite(other, dims[d]);
        extents.push_back(dims[d]);
      }
    };
    for (size_t k = 0; k < call->operands.size(); ++k) relate(call->operands[k], extents_.leaf_of(i_.operand(k), 0));
    for (size_t r = 0; r < call->results.size(); ++r) {
      relate(call->results[r], extents_.leaf_of(i_, static_cast<int64_t>(r)));
    }
    return true;
  }

  const Instruction& i_;
  ModuleExtents& extents_;
};

}  // namespace

void relate_operation(const Instruction& i, ModuleExtents& extents) { OperationRelater(i, extents).operation(); }

}  // namespace lowtide::engine
