// Rules for matrix products, convolutions, factorisations, Fourier transforms, normalisations and custom calls.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "arrays/program.h"
#include "arrays/support.h"
#include "lowtide/linalg.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

Dtype result_dtype(const At& at) { return leaf_specs(at.operation)[0].dtype; }

Leaves dot_general(const At& at) {
  if (at.in.size() != 2) refuse(at.operation, "has sparse operands");
  const ProgramOperation& o = at.operation;
  return {dot(at[0], at[1],
              {.contract_a = dims_of(o, "lhs_contracting_dims"),
               .contract_b = dims_of(o, "rhs_contracting_dims"),
               .batch_a = dims_of(o, "lhs_batch_dims"),
               .batch_b = dims_of(o, "rhs_batch_dims")},
              result_dtype(at))};
}

Leaves convolve(const At& at) {
  const ProgramOperation& o = at.operation;
  const std::string labels = word_of(o, "dim_labels");  // b01f_01io->b01f
  const size_t first = labels.find('_'), second = labels.find("->");
  const std::string kernel_labels = labels.substr(first + 1, second - first - 1);
  const ProgramWindow window = window_of(o, at[0].ndim() - 2);
  const Dtype dtype = result_dtype(at);
  array kernel = as_type(at[1], dtype, {});
  Dims reversed;
  for (size_t d = 0; d < window.reversal.size(); ++d) {
    if (window.reversal[d]) reversed.push_back(static_cast<int64_t>(kernel_labels.find(static_cast<char>('0' + d))));
  }
  const bool flips = !reversed.empty() && reversed.size() == window.reversal.size();
  if (!flips) kernel = reverse(kernel, reversed);
  return {convolution(as_type(at[0], dtype, {}), kernel,
                      {.stride = window.stride,
                       .low = window.low,
                       .high = window.high,
                       .kernel_dilation = window.dilation,
                       .input_dilation = window.input_dilation,
                       .groups = integer_of(o, "feature_group_count", 1),
                       .batch_groups = integer_of(o, "batch_group_count", 1),
                       .flip = flips,
                       .input = labels.substr(0, first),
                       .kernel = kernel_labels,
                       .output = labels.substr(second + 2)},
                      leaf_specs(o)[0].shape)};
}

array turned(const array& a) { return swapaxes(a, -1, -2); }

Leaves cholesky_of(const At& at) {
  const bool lower = flag_of(at.operation, "lower");
  return verbatim(at, as_of([lower](const Leaves& in, const Leaves&) -> Leaves {
                    return {lower ? cholesky_factor(in[0]) : turned(cholesky_factor(turned(in[0])))};
                  }));
}

Leaves solve(const At& at) {
  const std::string transposition = word_of(at.operation, "transpose_a");
  array a = at[0];
  if (transposition == "ADJOINT" && a.dtype().val == Dtype::Val::complex64) a = conjugate(a);
  return {triangular_solve(a, at[1],
                           {.left = flag_of(at.operation, "left_side"),
                            .lower = flag_of(at.operation, "lower"),
                            .unit = flag_of(at.operation, "unit_diagonal"),
                            .transposed = transposition != "NO_TRANSPOSE" && !transposition.empty()})};
}

Leaves transform(const At& at) {
  constexpr std::pair<std::string_view, Fourier> kKinds[] = {{"FFT", Fourier::kForward},
                                                             {"IFFT", Fourier::kBackward},
                                                             {"RFFT", Fourier::kOfReal},
                                                             {"IRFFT", Fourier::kToReal}};
  const std::string type = word_of(at.operation, "fft_type");
  const bool narrow = at[0].dtype().val == Dtype::Val::float32 || at[0].dtype().val == Dtype::Val::complex64;
  for (const auto& [name, kind] : kKinds) {
    if (name == type && narrow) return {fourier(at[0], kind, dims_of(at.operation, "fft_length"))};
  }
  return verbatim(at, nullptr);
}

// ---- batch normalisation

/// Shared by the three operations.
struct Norm {
  int64_t feature = 0;
  double epsilon = 0;
  explicit Norm(const ProgramOperation& operation) : feature(integer_of(operation, "feature_index", 0)) {
    const std::string text = word_of(operation, "epsilon");
    (void)std::from_chars(text.data(), text.data() + text.size(), epsilon);
  }
  array over(const array& vector, const array& x) const { return broadcast_in(vector, x.shape(), {feature}); }
  array sums(const array& x) const {
    Dims others = all_axes(x.ndim());
    std::erase(others, feature);
    return reduce(x, Reducer::kSum, others);
  }
  array means(const array& x) const {
    const auto count = static_cast<double>(element_count(x.shape())) / static_cast<double>(x.shape()[at(feature)]);
    return sums(x) * constant(1 / count, x.dtype());
  }
  array inverse(const array& variance) const { return rsqrt(variance + constant(epsilon, variance.dtype())); }
};

Leaves norm_inference(const At& at) {
  const Equal equal = [norm = Norm(at.operation)](const Leaves& in, const Leaves&) -> Leaves {
    const array& x = in[0];
    return {(x - norm.over(in[3], x)) * norm.over(norm.inverse(in[4]) * in[1], x) + norm.over(in[2], x)};
  };
  return verbatim(at, as_of(equal), batched_as(equal));
}

Leaves norm_training(const At& at) {
  const Equal equal = [norm = Norm(at.operation)](const Leaves& in, const Leaves&) -> Leaves {
    const array& x = in[0];
    const array mean = norm.means(x), centred = x - norm.over(mean, x), variance = norm.means(centred * centred);
    return {centred * norm.over(norm.inverse(variance) * in[1], x) + norm.over(in[2], x), mean, variance};
  };
  return verbatim(at, as_of(equal), batched_as(equal));
}

Leaves norm_gradient(const At& at) {
  const Equal equal = [norm = Norm(at.operation)](const Leaves& in, const Leaves&) -> Leaves {
    const array &x = in[0], &dy = in[4];
    const array inverse = norm.inverse(in[3]), centred = x - norm.over(in[2], x);
    const array of_offset = norm.sums(dy), along = norm.sums(dy * centred);
    const auto count =
        static_cast<double>(element_count(x.shape())) / static_cast<double>(x.shape()[lazy::at(norm.feature)]);
    const array each = constant(1 / count, x.dtype());
    const array inner = dy - norm.over(of_offset * each, x) - centred * norm.over(inverse * inverse * along * each, x);
    return {norm.over(in[1] * inverse, x) * inner, along * inverse, of_offset};
  };
  return verbatim(at, as_of(equal), batched_as(equal));
}

// ---- custom calls

std::string target_of(const ProgramOperation& call) {
  std::string target = word_of(call, "custom_call_target");
  std::erase(target, '"');
  return target;
}

bool config_has(const ProgramOperation& call, std::string_view key, char value) {
  // {uplo = 76 : ui8, ...}: letters are written as their codes
  const std::string config = word_of(call, "backend_config");
  const size_t found = config.find(fmt::format("{} = ", key));
  if (found == std::string::npos) return false;
  const Dims numbers = numbers_in(std::string_view(config).substr(found + key.size() + 3, 4));
  return !numbers.empty() && numbers[0] == value;
}

/// An expression equal to a LAPACK routine's results; null if the routine has no derivative here.
Equal lapack_equal(const At& at, std::string_view routine) {
  const ProgramOperation& call = at.operation;
  const bool lower = config_has(call, "uplo", 'L');
  if (routine == "potrf") {
    return [lower](const Leaves& in, const Leaves& out) -> Leaves {
      array factor = lower ? cholesky_factor(in[0]) : turned(cholesky_factor(turned(in[0])));
      // The routine leaves the other triangle unchanged.
      const array other = lower ? triu(in[0], 1) : tril(in[0], -1);
      return {(lower ? tril(factor) : triu(factor)) + other, out[1]};
    };
  }
  if (routine == "getrf" && at[0].shape(-1) == at[0].shape(-2)) {
    return [](const Leaves& in, const Leaves& out) -> Leaves {
      return {factors_of(in[0], Factors::kLu)[0], out[1], out[2]};
    };
  }
  if ((routine == "syevd" || routine == "heevd") && config_has(call, "mode", 'V')) {
    return [lower](const Leaves& in, const Leaves& out) -> Leaves {
      const Leaves made = factors_of(lower ? in[0] : turned(in[0]), Factors::kSymmetric);  // (values, vectors)
      // The vectors' signs agree with the routine's results: both are the same routine on the same matrix.
      return {made[1], made[0], out[2]};
    };
  }
  if (routine == "gesdd" && !config_has(call, "mode", 'N')) {
    return [](const Leaves& in, const Leaves& out) -> Leaves {
      const Leaves made = factors_of(in[0], Factors::kSingular);  // U, values, V^T: U and V are square
      const auto first = [](const array& a, const array& like) {
        return slice_of(a, Dims(a.ndim(), 0), like.shape(), Dims(a.ndim(), 1));
      };
      return {stop_gradient(out[0]), made[1], first(made[0], out[2]), first(made[2], out[3]), out[4]};
    };
  }
  if (routine == "trsm") {
    const bool left = config_has(call, "side", 'L'), unit = config_has(call, "diag", 'U');
    const bool transposed = !config_has(call, "trans_x", 'N');
    return [=](const Leaves& in, const Leaves&) -> Leaves {
      return {triangular_solve(in[0], in[1], {.left = left, .lower = lower, .unit = unit, .transposed = transposed})};
    };
  }
  return nullptr;
}

Leaves custom_call(const At& at) {
  const std::string target = target_of(at.operation);
  for (const char* same : {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"}) {
    if (target == same) return at.in[0];
  }
  if (target.starts_with("xla.sdy.") && at.in.size() == 1) return at.in[0];
  if (target == "TopK") {
    return verbatim(at, as_of([](const Leaves& in, const Leaves& out) -> Leaves {
                      return {take_along_axis(in[0], out[1], -1), out[1]};
                    }),
                    nullptr);
  }
  if (target.starts_with("lapack_") && target.ends_with("_ffi")) {
    const std::string routine = target.substr(8, target.size() - 12);
    const Equal equal = lapack_equal(at, routine);
    return verbatim(at, equal ? as_of(equal) : Derivative());
  }
  return verbatim(at, nullptr);
}

Leaves without(const At& at) { return verbatim(at, nullptr); }
Leaves with_zero(const At& at) { return verbatim(at, zero); }

}  // namespace

void add_matrix_rules(std::unordered_map<std::string_view, Rule>& rules) {
  rules["batch-norm-grad"] = norm_gradient;
  rules["batch-norm-inference"] = norm_inference;
  rules["batch-norm-training"] = norm_training;
  rules["cholesky"] = cholesky_of;
  rules["convolution"] = convolve;
  rules["custom-call"] = custom_call;
  rules["dot"] = dot_general;
  rules["fft"] = transform;
  rules["ragged-dot"] = without;
  rules["rng-bit-generator"] = with_zero;
  rules["scaled-dot"] = without;
  rules["triangular-solve"] = solve;
}

}  // namespace lowtide::lazy
