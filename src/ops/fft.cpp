// fft: discrete Fourier transform over the last one to three dimensions.
//   FFT, IFFT: c[..] -> c[..]. RFFT: f[.., n] -> c[.., n/2 + 1]. IRFFT: c[.., n/2 + 1] -> f[.., n], for which
//   the other half are conjugates. Inverse transforms divide by the number of elements.
//   (C1) the operand is complex, or real for RFFT
//   (C2) one to three lengths, no more than the rank
//   (C3) lengths are the operand's last extents; for IRFFT the last length is n if the operand has n/2 + 1 elements
#include <fmt/format.h>

#include <numbers>

#include "ops/checks.h"
#include "ops/dimension_roles.h"
#include "ops/extents.h"
#include "ops/index_space.h"
#include "ops/matrices.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kTypeNames[] = {"FFT", "IFFT", "RFFT", "IRFFT"};

Status read_fft(AttributeReader& reader, Instruction& fft) {
  FftAttributes attributes;
  LT_ASSIGN_OR_RETURN(const std::string type, reader.take_word("fft_type"));
  size_t kind = 0;
  while (kind < 4 && kTypeNames[kind] != type) ++kind;
  if (kind == 4) return reader.fault_at("fft_type", "expected FFT, IFFT, RFFT or IRFFT, got " + type);
  attributes.type = static_cast<FftType>(kind);
  LT_ASSIGN_OR_RETURN(attributes.length, reader.take_dims("fft_length"));
  fft.attributes = std::move(attributes);
  return {};
}

void print_fft(const Instruction& fft, AttributeWriter& writer) {
  const auto& attributes = fft.as<FftAttributes>();
  writer.text("fft_type", kTypeNames[static_cast<size_t>(attributes.type)]);
  writer.dims("fft_length", attributes.length);
}

Result<Shape> infer_fft(const Instruction& fft) {
  const auto& [type, length] = fft.as<FftAttributes>();
  const Shape& operand = fft.operand(0).shape;
  const bool real_input = type == FftType::kRfft;
  const bool fits = real_input ? is_wide_float(operand.type) : is_complex(operand.type);
  if (!fits) {  // (C1)
    return broken(
        fft, 1,
        fmt::format("{} can't take {}", kTypeNames[static_cast<size_t>(type)], to_string_without_layout(operand)));
  }
  const size_t rank = operand.dims.size();
  if (length.empty() || length.size() > 3 || length.size() > rank) {  // (C2)
    return broken(fft, 2, fmt::format("can't transform {} dimensions of rank {}", length.size(), rank));
  }
  Shape result = bare(operand);
  for (size_t i = 0; i < length.size(); ++i) {
    const size_t d = rank - length.size() + i;
    const bool last = i + 1 == length.size();
    const int64_t stored = type == FftType::kIrfft && last && length[i] > 0 ? length[i] / 2 + 1 : length[i];
    if (operand.dims[d] != stored && operand.dims[d] != kUnboundedDim) {  // (C3)
      return broken(fft, 3, fmt::format("length {} over extent {}", length[i], operand.dims[d]));
    }
    if (type == FftType::kIrfft) result.dims[d] = length[i];
    if (type == FftType::kRfft && last) result.dims[d] = length[i] > 0 ? length[i] / 2 + 1 : 0;
  }
  if (type == FftType::kRfft) {
    result.type = operand.type == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128;
  }
  if (type == FftType::kIrfft) {
    result.type = operand.type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  }
  return result;
}

using Line = std::vector<Complex128>;

/// exp(sign 2 pi i k / n)
Complex128 root_of_unity(size_t k, size_t n, double sign) {
  const double angle = sign * 2.0 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

/// The transform of a line: even lengths recurse on halves, odd ones use the definition.
Line transformed(const Line& x, double sign) {
  const size_t n = x.size();
  Line result(n);
  if (n % 2 != 0) {
    Line roots(n);
    for (size_t k = 0; k < n; ++k) roots[k] = root_of_unity(k, n, sign);
    for (size_t k = 0; k < n; ++k) {
      for (size_t j = 0; j < n; ++j) result[k] += x[j] * roots[j * k % n];
    }
    return result;
  }
  if (n == 0) return result;
  Line even(n / 2), odd(n / 2);
  for (size_t i = 0; i < n / 2; ++i) {
    even[i] = x[2 * i];
    odd[i] = x[2 * i + 1];
  }
  even = transformed(even, sign);
  odd = transformed(odd, sign);
  for (size_t k = 0; k < n / 2; ++k) {
    const Complex128 turned = odd[k] * root_of_unity(k, n, sign);
    result[k] = even[k] + turned;
    result[k + n / 2] = even[k] - turned;
  }
  return result;
}

/// A row-major array of complex numbers.
struct Grid {
  Dims extents;
  Line data;
};

/// Replaces each line along dimension d by change(line), which has length `length`.
template <class Change>
Grid along(const Grid& grid, size_t d, size_t length, Change&& change) {
  Grid result{grid.extents, {}};
  result.extents[d] = static_cast<int64_t>(length);
  result.data.resize(static_cast<size_t>(element_count(Shape::array(ElementType::kC128, result.extents))));
  Dims others = grid.extents;
  others[d] = 1;
  const Dims from = offsets_of(others, row_major_strides(grid.extents));
  const Dims to = offsets_of(others, row_major_strides(result.extents));
  const auto from_stride = static_cast<size_t>(row_major_strides(grid.extents)[d]);
  const auto to_stride = static_cast<size_t>(row_major_strides(result.extents)[d]);
  Line line(static_cast<size_t>(grid.extents[d]));
  for (size_t l = 0; l < from.size(); ++l) {
    for (size_t i = 0; i < line.size(); ++i) line[i] = grid.data[static_cast<size_t>(from[l]) + i * from_stride];
    const Line changed = change(line);
    for (size_t i = 0; i < length; ++i) result.data[static_cast<size_t>(to[l]) + i * to_stride] = changed[i];
  }
  return result;
}

Result<Value> eval_fft(const Instruction& fft, Operands operands, EvalContext&) {
  const auto& [type, length] = fft.as<FftAttributes>();
  const bool inverse = type == FftType::kIfft || type == FftType::kIrfft;
  const double sign = inverse ? 1.0 : -1.0;
  Grid grid{operands[0]->shape().dims, {}};
  dispatch_matrices(operands[0]->shape().type, [&]<class T, class S>() {
    for (const T element : operands[0]->data<T>()) grid.data.push_back(Complex128(S(widen(element))));
  });
  const size_t rank = grid.extents.size(), last = rank - 1;
  const auto n = static_cast<size_t>(length.back());
  const auto whole = [&](const Line& line) { return transformed(line, sign); };
  // Real input is transformed along the last dimension first, real output last.
  if (!inverse) {
    grid = along(grid, last, type == FftType::kRfft && n > 0 ? n / 2 + 1 : n, [&](const Line& line) {
      Line waves = whole(line);
      if (type == FftType::kFft) return waves;
      // These two are the plain sum and the sum with alternating signs: real, even if numbers are infinite.
      if (n > 0) waves[0] = waves[0].real();
      if (n % 2 == 0 && n > 0) waves[n / 2] = waves[n / 2].real();
      return waves;
    });
  }
  for (size_t d = rank - length.size(); d < last; ++d) {
    grid = along(grid, d, static_cast<size_t>(grid.extents[d]), whole);
  }
  if (inverse) {
    grid = along(grid, last, n, [&](const Line& line) {
      if (type == FftType::kIfft) return transformed(line, sign);
      Line full(n);
      for (size_t k = 0; k < n; ++k) full[k] = k < line.size() ? line[k] : std::conj(line[n - k]);
      if (n > 0) full[0] = full[0].real();
      if (n % 2 == 0 && n > 0) full[n / 2] = full[n / 2].real();
      return transformed(full, sign);
    });
  }
  double scale = 1.0;
  for (const int64_t extent : length) scale *= inverse ? static_cast<double>(extent) : 1.0;
  auto result = std::make_shared<Literal>(fft.shape);
  dispatch_matrices(fft.shape.type, [&]<class T, class S>() {
    const auto to = result->data<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      if constexpr (is_complex_v<T>) {
        to[i] = T(grid.data[i] / scale);
      } else {
        to[i] = narrow<T>(static_cast<computed_t<T>>(grid.data[i].real() / scale));
      }
    }
  });
  return Value(result);
}

std::vector<OperandDimension> roles_of_fft(const Instruction& fft, size_t operand) {
  return batch_dimensions(fft, operand, fft.as<FftAttributes>().length.size());
}

void extents_of_fft(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const auto& [type, length] = i.as<FftAttributes>();
  const size_t rank = i.shape.dims.size();
  for (size_t d = 0; d < rank; ++d) {
    const bool halved = d + 1 == rank && (type == FftType::kRfft || type == FftType::kIrfft);
    if (!halved) r.unite(r.mine(d), r.of_operand(0, d));
    if (d + length.size() < rank) continue;
    const Product& whole = type == FftType::kRfft ? r.of_operand(0, d) : r.mine(d);
    r.tie(ExtentTie::Slot::kLength, d + length.size() - rank, ExtentSum(whole));
    if (!halved) continue;
    const Product& half = type == FftType::kRfft ? r.mine(d) : r.of_operand(0, d);
    ExtentSum zero(whole, 2 * r.extent(half) - r.extent(whole));
    r.relate(zero.add(-2, half), "half a spectrum");
  }
}

}  // namespace

const OpRule kFftRule{.read = read_fft,
                      .print = print_fft,
                      .infer = infer_fft,
                      .eval = eval_fft,
                      .slicing = sliced_in_step(roles_of_fft),
                      .extents = extents_of_fft,
                      .reads = reads_anywhere,
                      .arithmetic = kRoundingOfLargest};

}  // namespace lowtide::engine
