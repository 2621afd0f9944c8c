#include "ops/lapack_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dimension_order.h"
#include "ops/checks.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kPrefix = "lapack_", kSuffix = "_ffi", kLetters = "sdcz";
constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF64, ElementType::kC64, ElementType::kC128};

struct Target {
  LapackRoutine routine;
  ElementType type;
};

std::optional<Target> parse_target(std::string_view target) {
  if (!target.starts_with(kPrefix) || !target.ends_with(kSuffix)) return {};
  target.remove_prefix(kPrefix.size());
  if (target.size() <= kSuffix.size()) return {};
  target.remove_suffix(kSuffix.size());
  const size_t letter = kLetters.find(target[0]);
  if (letter == std::string_view::npos) return {};
  for (int r = 0; r < kLapackRoutines; ++r) {
    const auto routine = static_cast<LapackRoutine>(r);
    if (lapack_name(routine, kTypes[letter]) == target.substr(1)) return Target{routine, kTypes[letter]};
  }
  return {};
}

/// The order of a column-major matrix in the last two dimensions, or of a vector in the last; batches are outermost.
Dims in_columns(size_t rank, bool is_matrix) {
  Dims order = row_by_row(rank);
  if (is_matrix) std::swap(order[0], order[1]);
  return order;
}

struct Counts {
  size_t operands, results;
};

Counts counts_of(const Target& target) {
  const bool real = !is_complex(target.type);
  switch (target.routine) {
    case LapackRoutine::kPotrf: return {1, 2};
    case LapackRoutine::kGetrf: return {1, 3};
    case LapackRoutine::kTrsm: return {2, 1};
    case LapackRoutine::kGeqrf: return {1, 2};
    case LapackRoutine::kOrgqr: return {2, 1};
    case LapackRoutine::kOrmqr: return {3, 1};
    case LapackRoutine::kGeqp3: return {2, 3};
    case LapackRoutine::kGesdd:
    case LapackRoutine::kGesvd: return {1, 5};
    case LapackRoutine::kSyevd: return {1, 3};
    case LapackRoutine::kGeev: return {1, real ? 5u : 4u};
    case LapackRoutine::kGees: return {1, real ? 6u : 5u};
    case LapackRoutine::kGehrd: return {1, 3};
    case LapackRoutine::kSytrd: return {1, 5};
    case LapackRoutine::kGtsv: return {4, 5};
  }
  return {0, 0};
}

/// The value of `key = 76 : ui8` or `key = true` in the text of a dictionary.
std::optional<int64_t> entry(std::string_view dictionary, std::string_view key) {
  const auto is_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = dictionary.find(key); at != std::string_view::npos; at = dictionary.find(key, at + 1)) {
    size_t end = at + key.size();
    if ((at > 0 && is_word(dictionary[at - 1])) || (end < dictionary.size() && is_word(dictionary[end]))) continue;
    end = dictionary.find_first_not_of(" =", end);
    if (end == std::string_view::npos) return {};
    const std::string_view value = dictionary.substr(end);
    if (value.starts_with("true")) return 1;
    if (value.starts_with("false")) return 0;
    int64_t number = 0;
    size_t digits = 0;
    while (digits < value.size() && digits < 10 && std::isdigit(static_cast<unsigned char>(value[digits])) != 0) {
      number = number * 10 + (value[digits++] - '0');
    }
    if (digits > 0) return number;
  }
  return {};
}

class CallReader {
 public:
  CallReader(const Instruction& call, const Target& target) : call_(call) {
    out_.problem.routine = target.routine;
    out_.problem.type = target.type;
  }

  Result<LapackCall> read() {
    LT_RETURN_IF_ERROR(letters());
    LT_RETURN_IF_ERROR(extents());
    arrays();
    LT_RETURN_IF_ERROR(check_operands());
    LT_RETURN_IF_ERROR(check_results());
    LT_RETURN_IF_ERROR(check_layouts());
    return std::move(out_);
  }

 private:
  Status letter(std::string_view key, std::string_view allowed, char& to) {
    const std::optional<int64_t> given = entry(call_.backend_config, key);
    if (!given || *given <= 0 || *given > 127 || allowed.find(static_cast<char>(*given)) == std::string_view::npos) {
      return broken(call_, 2,
                    fmt::format("{} needs {} as the number of one of the letters {}", target(), key, allowed));
    }
    to = static_cast<char>(*given);
    return {};
  }

  Status letters() {  // (C2)
    LapackProblem& p = out_.problem;
    switch (p.routine) {
      case LapackRoutine::kPotrf:
      case LapackRoutine::kSytrd: return letter("uplo", "LU", p.uplo);
      case LapackRoutine::kTrsm:
        LT_RETURN_IF_ERROR(letter("side", "LR", p.side));
        LT_RETURN_IF_ERROR(letter("uplo", "LU", p.uplo));
        LT_RETURN_IF_ERROR(letter("trans_x", "NTC", p.trans));
        return letter("diag", "NU", p.diag);
      case LapackRoutine::kGesdd:
      case LapackRoutine::kGesvd: return letter("mode", "ASN", p.mode);
      case LapackRoutine::kSyevd: LT_RETURN_IF_ERROR(letter("mode", "NV", p.mode)); return letter("uplo", "LU", p.uplo);
      case LapackRoutine::kGeev:
        LT_RETURN_IF_ERROR(letter("compute_left", "NV", p.left));
        return letter("compute_right", "NV", p.right);
      case LapackRoutine::kGees: {
        char sort = 'N';
        LT_RETURN_IF_ERROR(letter("sort", "N", sort));
        return letter("mode", "NV", p.mode);
      }
      case LapackRoutine::kOrmqr: {
        const auto left = entry(call_.backend_config, "left"), transpose = entry(call_.backend_config, "transpose");
        if (!left || !transpose) return broken(call_, 2, target() + " needs left and transpose");
        p.side = *left != 0 ? 'L' : 'R';
        p.trans = *transpose == 0 ? 'N' : is_complex(p.type) ? 'C' : 'T';
        return {};
      }
      default: return {};
    }
  }

  std::string target() const { return call_.as<CustomCallAttributes>().target; }

  /// Sets m, n, k and the batch from the matrix that is overwritten (for geev: read).
  Status extents() {  // (C3)
    LapackProblem& p = out_.problem;
    const size_t at = p.routine == LapackRoutine::kTrsm    ? 1
                      : p.routine == LapackRoutine::kOrmqr ? 2
                      : p.routine == LapackRoutine::kGtsv  ? 3
                                                           : 0;
    const Shape& matrix = call_.operand(at).shape;
    if (matrix.type != p.type || matrix.rank() < 2) {
      return broken(call_, 3, fmt::format("{} can't take {}", target(), to_string_without_layout(matrix)));
    }
    leading_.assign(matrix.dims.begin(), matrix.dims.end() - 2);
    for (const int64_t d : matrix.dims) {
      if (d < 0 || d > INT32_MAX) return broken(call_, 3, target() + " takes extents up to 2147483647");
    }
    for (const int64_t d : leading_) out_.batch *= d;
    p.m = static_cast<int32_t>(matrix.dims[matrix.dims.size() - 2]);
    p.n = static_cast<int32_t>(matrix.dims.back());
    if (p.routine == LapackRoutine::kOrgqr || p.routine == LapackRoutine::kOrmqr) {
      const Shape& shape = call_.operand(1).shape;  // tau
      const int64_t most = p.routine == LapackRoutine::kOrgqr ? p.n : order();
      if (!shape.is_array() || shape.rank() < 1 || shape.dims.back() > most || shape.dims.back() < 0 ||
          (p.routine == LapackRoutine::kOrgqr && p.n > p.m)) {
        return broken(call_, 3, target() + " needs as many reflectors as the matrix has room for");
      }
      p.k = static_cast<int32_t>(shape.dims.back());
    }
    const bool square = p.routine == LapackRoutine::kPotrf || p.routine == LapackRoutine::kSyevd ||
                        p.routine == LapackRoutine::kGeev || p.routine == LapackRoutine::kGees ||
                        p.routine == LapackRoutine::kGehrd || p.routine == LapackRoutine::kSytrd;
    if (square && p.m != p.n) {
      return broken(call_, 3, fmt::format("{} needs square matrices, got {} x {}", target(), p.m, p.n));
    }
    if (p.routine == LapackRoutine::kGesdd || p.routine == LapackRoutine::kGesvd) all_vectors();
    if (p.routine == LapackRoutine::kGehrd) return rows_of_gehrd();
    return {};
  }

  Status rows_of_gehrd() {
    LapackProblem& p = out_.problem;
    const int64_t low = entry(call_.backend_config, "low").value_or(0);
    const int64_t high = entry(call_.backend_config, "high").value_or(-1);
    const bool fits = p.n > 0 ? 1 <= low && low <= high && high <= p.n : low == 1 && high == 0;
    if (!fits) return broken(call_, 2, fmt::format("{} can't reduce rows {} to {} of {}", target(), low, high, p.n));
    p.low = static_cast<int32_t>(low);
    p.high = static_cast<int32_t>(high);
    return {};
  }

  /// Sets k if U and V^H are square. Without vectors (mode N) the arrays may have either size.
  void all_vectors() {
    LapackProblem& p = out_.problem;
    const bool tuple = call_.shape.is_tuple() && call_.shape.elements.size() == 5;
    const bool full = tuple && call_.shape.elements[2].is_array() && !call_.shape.elements[2].dims.empty() &&
                      call_.shape.elements[2].dims.back() == p.m && tuple && call_.shape.elements[3].rank() >= 2 &&
                      call_.shape.elements[3].dims[call_.shape.elements[3].dims.size() - 2] == p.n;
    p.k = p.mode == 'A' || (p.mode == 'N' && full) ? 1 : 0;
  }

  int64_t order() const { return out_.problem.side == 'L' ? out_.problem.m : out_.problem.n; }

  void arrays() {
    const LapackProblem& p = out_.problem;
    const ElementType type = p.type;
    const ElementType real = type == ElementType::kC64    ? ElementType::kF32
                             : type == ElementType::kC128 ? ElementType::kF64
                                                          : type;
    const ElementType pairs = real == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128;
    const int64_t m = p.m, n = p.n, few = std::min(m, n), inner = std::max<int64_t>(n - 1, 0);
    const LapackArray info{ElementType::kS32, {}};
    const auto in = [&](std::vector<LapackArray> list) { out_.operands = std::move(list); };
    const auto out = [&](std::vector<LapackArray> list) { out_.results = std::move(list); };
    in({{type, {m, n}}});
    switch (p.routine) {
      case LapackRoutine::kPotrf: return out({{type, {n, n}, 0}, info});
      case LapackRoutine::kGetrf: return out({{type, {m, n}, 0}, {ElementType::kS32, {few}}, info});
      case LapackRoutine::kTrsm: in({{type, {order(), order()}}, {type, {m, n}}}); return out({{type, {m, n}, 1}});
      case LapackRoutine::kGeqrf: return out({{type, {m, n}, 0}, {type, {few}}});
      case LapackRoutine::kOrgqr: in({{type, {m, n}}, {type, {p.k}}}); return out({{type, {m, n}, 0}});
      case LapackRoutine::kOrmqr:
        in({{type, {order(), p.k}}, {type, {p.k}}, {type, {m, n}}});
        return out({{type, {m, n}, 2}});
      case LapackRoutine::kGeqp3:
        in({{type, {m, n}}, {ElementType::kS32, {n}}});
        return out({{type, {m, n}, 0}, {ElementType::kS32, {n}, 1}, {type, {few}}});
      case LapackRoutine::kGesdd:
      case LapackRoutine::kGesvd:
        return out(
            {{type, {m, n}, 0}, {real, {few}}, {type, {m, p.k != 0 ? m : few}}, {type, {p.k != 0 ? n : few, n}}, info});
      case LapackRoutine::kSyevd: return out({{type, {n, n}, 0}, {real, {n}}, info});
      case LapackRoutine::kGeev:
        if (is_complex(type)) return out({{type, {n}}, {type, {n, n}}, {type, {n, n}}, info});
        return out({{type, {n}}, {type, {n}}, {pairs, {n, n}}, {pairs, {n, n}}, info});
      case LapackRoutine::kGees:
        if (is_complex(type)) return out({{type, {n, n}, 0}, {type, {n, n}}, {type, {n}}, info, info});
        return out({{type, {n, n}, 0}, {type, {n, n}}, {type, {n}}, {type, {n}}, info, info});
      case LapackRoutine::kGehrd: return out({{type, {n, n}, 0}, {type, {inner}}, info});
      case LapackRoutine::kSytrd: return out({{type, {n, n}, 0}, {real, {n}}, {real, {inner}}, {type, {inner}}, info});
      case LapackRoutine::kGtsv:
        in({{type, {m}}, {type, {m}}, {type, {m}}, {type, {m, n}}});
        return out({{type, {m}, 0}, {type, {m}, 1}, {type, {m}, 2}, {type, {m, n}, 3}, info});
    }
  }

  Shape batched(const LapackArray& array) const {
    Dims dims = leading_;
    dims.insert(dims.end(), array.extents.begin(), array.extents.end());
    return Shape::array(array.type, dims);
  }

  Status check_operands() {  // (C3)
    bool fit = true;
    std::string wanted;
    for (size_t k = 0; k < out_.operands.size(); ++k) {
      const Shape shape = batched(out_.operands[k]);
      fit = fit && same_shape(call_.operand(k).shape, shape);
      wanted += (k > 0 ? ", " : "") + to_string_without_layout(shape);
    }
    return fit ? Status() : broken(call_, 3, fmt::format("{} takes {}", target(), wanted));
  }

  Status check_results() {  // (C4)
    std::vector<Shape> shapes;
    for (const LapackArray& array : out_.results) shapes.push_back(batched(array));
    const Shape shape = one_or_tuple(std::move(shapes));
    if (same_shape(call_.shape, shape)) return {};
    return broken(call_, 4,
                  fmt::format("{} gives {}, not {}", target(), to_string_without_layout(shape),
                              to_string_without_layout(call_.shape)));
  }

  /// Is the array column-major, with batches outermost? Extents of 1 may be anywhere.
  static bool lies_in_columns(const LapackArray& array, const Shape& shape, const Dims& minor_to_major) {
    Dims wanted = in_columns(shape.dims.size(), array.is_matrix()), given;
    for (const int64_t d : minor_to_major) {
      if (d < 0 || d >= shape.rank()) return false;
      given.push_back(d);
    }
    const auto is_one = [&](int64_t d) { return shape.dims[d] == 1; };
    std::erase_if(wanted, is_one);
    std::erase_if(given, is_one);
    return wanted == given;
  }

  Status misplaced(const std::string& which) const {
    return broken(call_, 5, fmt::format("{} needs {} column-major, batches outermost", target(), which));
  }

  Status check_layouts() const {  // (C5)
    std::string_view constraints;
    for (const RawAttribute& attribute : call_.extra) {
      if (attribute.key == "operand_layout_constraints") constraints = attribute.text;
    }
    // {f32[5,5]{0,1}, f32[5]{0}}: the layout is in the first braces after each bracket.
    size_t at = 0;
    for (size_t k = 0; k < out_.operands.size(); ++k) {
      at = constraints.find(']', at);
      const size_t end = at == std::string_view::npos ? at : constraints.find('}', at);
      const bool stated = end != std::string_view::npos && constraints.substr(at).starts_with("]{");
      const Shape shape = batched(out_.operands[k]);
      if (shape.rank() >= 2) {
        const Result<Dims> layout = stated ? parse_dims(constraints.substr(at + 1, end - at)) : Dims();
        if (!layout.ok() || !lies_in_columns(out_.operands[k], shape, *layout)) {
          return misplaced(fmt::format("operand {}", k));
        }
      }
      if (at != std::string_view::npos) ++at;
    }
    for (size_t r = 0; r < out_.results.size(); ++r) {
      const Shape& shape = call_.shape.is_tuple() ? call_.shape.elements[r] : call_.shape;
      if (shape.layout && !lies_in_columns(out_.results[r], shape, shape.layout->minor_to_major)) {
        return misplaced(fmt::format("result {}", r));
      }
    }
    return {};
  }

  const Instruction& call_;
  LapackCall out_;
  Dims leading_;
};

}  // namespace

int64_t LapackArray::count() const {
  int64_t count = 1;
  for (const int64_t d : extents) count *= d;
  return count;
}

std::vector<size_t> LapackCall::read() const {
  std::vector<size_t> list;
  for (size_t k = 0; k < operands.size(); ++k) {
    const bool overwritten = std::any_of(results.begin(), results.end(),
                                         [&](const LapackArray& r) { return r.operand == static_cast<int>(k); });
    if (!overwritten) list.push_back(k);
  }
  return list;
}

bool is_lapack_call(const Instruction& call) {
  const auto* attributes = call.if_as<CustomCallAttributes>();
  const std::optional<Target> target = attributes ? parse_target(attributes->target) : std::nullopt;
  if (!target) return false;
  const Counts counts = counts_of(*target);
  return call.operands.size() == counts.operands &&
         (call.shape.is_tuple() ? call.shape.elements.size() : 1) == counts.results;
}

std::unique_ptr<Instruction> make_lapack_call(LapackRoutine routine, Shape shape, std::vector<Instruction*> operands,
                                              std::string config) {
  const auto is_array = [](const Instruction* operand) { return operand->shape.is_array(); };
  if (operands.empty() || !std::ranges::all_of(operands, is_array)) return nullptr;
  const Shape& matrix = operands[0]->shape;
  const auto letter = static_cast<size_t>(std::ranges::find(kTypes, matrix.type) - std::begin(kTypes));
  if (letter == kLetters.size() || matrix.rank() < 2) return nullptr;
  std::string layouts;
  for (const Instruction* operand : operands) {
    Shape laid_out = operand->shape;
    laid_out.layout.emplace().minor_to_major = in_columns(laid_out.dims.size(), laid_out.rank() == matrix.rank());
    layouts += (layouts.empty() ? "" : ", ") + to_string(laid_out);
  }
  shape.layout.reset();
  for (Shape& element : shape.elements) element.layout.reset();
  CustomCallAttributes attributes;
  attributes.target = fmt::format("{}{}{}{}", kPrefix, kLetters[letter], lapack_name(routine, matrix.type), kSuffix);
  attributes.api_version = "API_VERSION_TYPED_FFI";
  auto call = std::make_unique<Instruction>();
  call->opcode = Opcode::kCustomCall;
  call->shape = std::move(shape);
  call->operands = std::move(operands);
  call->attributes = std::move(attributes);
  call->extra.push_back({"operand_layout_constraints", '{' + layouts + '}'});
  call->backend_config = std::move(config);
  if (!is_lapack_call(*call) || !read_lapack_call(*call).ok()) return nullptr;
  return call;
}

Result<LapackCall> read_lapack_call(const Instruction& call) {
  const std::optional<Target> target = parse_target(call.as<CustomCallAttributes>().target);
  LT_ASSERT(target.has_value(), call.name + " is no call of LAPACK");
  return CallReader(call, *target).read();
}

}  // namespace lowtide::engine
