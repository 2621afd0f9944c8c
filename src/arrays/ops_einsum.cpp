// Einsum: sums of products in Einstein's notation.
#include <algorithm>
#include <map>
#include <set>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace {

/// Labels are letters, and characters from '\1' on for the dimensions of "...", the last of which is '\1'.
constexpr size_t kMostUnnamed = 31;

struct Einsum {
  std::vector<std::string> labels;  ///< per operand
  std::string result;
  std::map<char, int64_t> extents;
};

std::string unnamed(size_t count) {
  std::string labels;
  for (size_t d = count; d > 0; --d) labels += static_cast<char>(d);
  return labels;
}

/// The labels of one term. rank: the operand's number of dimensions; none for the result, in which "..." stands for
/// `most` dimensions.
std::string labels_of(const std::string& term, std::optional<size_t> rank, size_t most, const std::string& subscripts) {
  const size_t dots = term.find("...");
  std::string letters = term;
  if (dots != std::string::npos) letters.erase(dots, 3);
  for (const char c : letters) {
    if (!std::isalpha(static_cast<unsigned char>(c)))
      fault("einsum", "found '{}' in \"{}\", expected letters, commas, ... and ->", c, subscripts);
  }
  if (dots == std::string::npos) {
    if (rank && letters.size() != *rank) fault("einsum", "found an operand of {} dimensions for \"{}\"", *rank, term);
    return letters;
  }
  if (rank && (letters.size() > *rank || *rank - letters.size() > kMostUnnamed))
    fault("einsum", "found an operand of {} dimensions for \"{}\"", *rank, term);
  return letters.insert(dots, unnamed(rank ? *rank - letters.size() : most));
}

Einsum parsed(const std::string& subscripts, const std::vector<array>& operands) {
  std::string text;
  for (const char c : subscripts) {
    if (c != ' ') text += c;
  }
  const size_t arrow = text.find("->");
  std::vector<std::string> terms(1);
  for (const char c : text.substr(0, arrow)) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  if (terms.size() != operands.size()) fault("einsum", "found {} operands for \"{}\"", operands.size(), subscripts);
  Einsum sum;
  std::map<char, int> uses;
  size_t most = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    sum.labels.push_back(labels_of(terms[i], operands[i].ndim(), 0, subscripts));
    size_t here = 0;
    for (size_t d = 0; d < operands[i].ndim(); ++d) {
      const char label = sum.labels[i][d];
      const int64_t extent = operands[i].shape()[d];
      int64_t& known = sum.extents.try_emplace(label, extent).first->second;
      if (known != extent && known != 1 && extent != 1)
        fault("einsum", "found extents {} and {} for one dimension of \"{}\"", known, extent, subscripts);
      if (known == 1) known = extent;
      if (std::isalpha(static_cast<unsigned char>(label))) {
        ++uses[label];
      } else {
        ++here;
      }
    }
    most = std::max(most, here);
  }
  if (arrow == std::string::npos) {
    sum.result = unnamed(most);
    for (const auto& [letter, count] : uses) {
      if (count == 1) sum.result += letter;
    }
    return sum;
  }
  sum.result = labels_of(text.substr(arrow + 2), {}, most, subscripts);
  for (const char c : sum.result) {
    if (!sum.extents.contains(c) || std::ranges::count(sum.result, c) != 1)
      fault("einsum", "found the result \"{}\" of \"{}\"", text.substr(arrow + 2), subscripts);
  }
  return sum;
}

/// The labels of the result, and of the operands other than i and j.
std::string needed_beside(const std::vector<std::string>& labels, const std::string& result, size_t i, size_t j) {
  std::string needed = result;
  for (size_t k = 0; k < labels.size(); ++k) {
    if (k != i && k != j) needed += labels[k];
  }
  return needed;
}
std::string both_of(const std::string& a, const std::string& b) {
  std::set<char> all(a.begin(), a.end());
  all.insert(b.begin(), b.end());
  return {all.begin(), all.end()};
}
std::string kept_of(const std::string& labels, const std::string& needed) {
  std::string kept;
  for (const char label : labels) {
    if (needed.find(label) != std::string::npos) kept += label;
  }
  return kept;
}

struct Path {
  std::vector<std::vector<int>> steps;
  double operations = 0, naive = 0;
  size_t most_labels = 0, all_labels = 0;
};

/// Multiplies the pair with the smallest product first, and appends the product to the remaining operands.
Path path_of(const Einsum& sum) {
  Path path;
  const auto size_of = [&](const std::string& labels) {
    double size = 1;
    for (const char label : labels) size *= static_cast<double>(sum.extents.at(label));
    return size;
  };
  std::vector<std::string> left = sum.labels;
  std::string all;
  for (const std::string& labels : left) all = both_of(all, labels);
  const auto cost = [&](const std::string& labels, const std::string& kept, size_t factors) {
    path.most_labels = std::max(path.most_labels, labels.size());
    return size_of(labels) * static_cast<double>(std::max<size_t>(1, factors - 1) + (labels.size() > kept.size()));
  };
  path.naive = cost(all, sum.result, left.size());
  path.all_labels = std::exchange(path.most_labels, 0);
  if (left.size() == 1) {
    path.steps.push_back({0});
    path.operations = cost(all, sum.result, 1);
  }
  while (left.size() > 1) {
    const auto made = [&](size_t i, size_t j) {
      return kept_of(both_of(left[i], left[j]), needed_beside(left, sum.result, i, j));
    };
    size_t best_i = 0, best_j = 1;
    for (size_t i = 0; i < left.size(); ++i) {
      for (size_t j = i + 1; j < left.size(); ++j) {
        if (size_of(made(i, j)) < size_of(made(best_i, best_j))) std::tie(best_i, best_j) = std::pair(i, j);
      }
    }
    const std::string kept = made(best_i, best_j);
    path.operations += cost(both_of(left[best_i], left[best_j]), kept, 2);
    path.steps.push_back({static_cast<int>(best_i), static_cast<int>(best_j)});
    left.erase(left.begin() + static_cast<int64_t>(best_j));
    left.erase(left.begin() + static_cast<int64_t>(best_i));
    left.push_back(kept);
  }
  return path;
}

struct Labelled {
  array value;
  std::string labels;
};

/// Removes broadcast dimensions (extent 1 where the label's extent is larger), and takes the diagonal of dimensions
/// with the same label.
Labelled plain(Labelled operand, const std::map<char, int64_t>& extents, StreamOrDevice s) {
  Shape shape;
  std::string labels;
  for (size_t d = 0; d < operand.labels.size(); ++d) {
    const char label = operand.labels[d];
    const int64_t extent = operand.value.shape()[d];
    const bool stands_for_all = extent == 1 && extents.at(label) != 1;
    if (stands_for_all) continue;
    shape.push_back(extent);
    labels += label;
  }
  operand = {reshape_to(operand.value, shape, s), labels};
  for (size_t d = 0; d < operand.labels.size(); ++d) {
    const size_t twin = operand.labels.find(operand.labels[d], d + 1);
    if (twin == std::string::npos) continue;
    const char label = operand.labels[d];
    operand.value = diagonal(operand.value, 0, static_cast<int>(d), static_cast<int>(twin), s);
    operand.labels.erase(twin, 1);
    operand.labels.erase(d, 1);
    operand.labels.push_back(label);
    d = static_cast<size_t>(-1);
  }
  return operand;
}

/// Sums over the dimensions whose labels aren't needed any more.
Labelled reduced(const Labelled& operand, const std::string& needed, StreamOrDevice s) {
  std::vector<int> gone;
  for (size_t d = 0; d < operand.labels.size(); ++d) {
    if (needed.find(operand.labels[d]) == std::string::npos) gone.push_back(static_cast<int>(d));
  }
  if (gone.empty()) return operand;
  return {sum(operand.value, gone, false, s), kept_of(operand.labels, needed)};
}

Labelled contracted(const Labelled& a, const Labelled& b, const std::string& needed, StreamOrDevice s) {
  DotDims dims;
  std::string batch, free_a, free_b;
  for (size_t d = 0; d < a.labels.size(); ++d) {
    const char label = a.labels[d];
    const size_t other = b.labels.find(label);
    if (other == std::string::npos) {
      free_a += label;
    } else if (needed.find(label) != std::string::npos) {
      batch += label;
      dims.batch_a.push_back(static_cast<int64_t>(d));
      dims.batch_b.push_back(static_cast<int64_t>(other));
    } else {
      dims.contract_a.push_back(static_cast<int64_t>(d));
      dims.contract_b.push_back(static_cast<int64_t>(other));
    }
  }
  for (const char label : b.labels) {
    if (a.labels.find(label) == std::string::npos) free_b += label;
  }
  return {dot(a.value, b.value, dims, a.value.dtype(), s), batch + free_a + free_b};
}

}  // namespace

array einsum(const std::string& subscripts, const std::vector<array>& operands, StreamOrDevice s) {
  const Einsum sum = parsed(subscripts, operands);
  Dtype dtype = operands[0].dtype();
  for (const array& operand : operands) dtype = promote_types(dtype, operand.dtype());
  std::vector<Labelled> left;
  std::vector<std::string> labels;
  for (size_t i = 0; i < operands.size(); ++i) {
    left.push_back(plain({as_type(operands[i], dtype, s), sum.labels[i]}, sum.extents, s));
    labels.push_back(left.back().labels);
  }
  for (size_t i = 0; i < left.size(); ++i) {
    left[i] = reduced(left[i], needed_beside(labels, sum.result, i, i), s);
    labels[i] = left[i].labels;
  }
  for (const std::vector<int>& step : path_of({labels, sum.result, sum.extents}).steps) {
    if (step.size() != 2) continue;
    const auto i = static_cast<size_t>(step[0]), j = static_cast<size_t>(step[1]);
    const std::string needed = needed_beside(labels, sum.result, i, j);
    const Labelled &a = left[i], &b = left[j];
    // Booleans are summed as integers.
    const Dtype both = promote_types(a.value.dtype(), b.value.dtype());
    const Labelled made =
        contracted({as_type(a.value, both, s), a.labels}, {as_type(b.value, both, s), b.labels}, needed, s);
    left.erase(left.begin() + step[1]);
    left.erase(left.begin() + step[0]);
    left.push_back(made);
    labels.clear();
    for (const Labelled& one : left) labels.push_back(one.labels);
  }
  const Labelled made = reduced(left[0], sum.result, s);
  Dims permutation;
  for (const char label : sum.result) permutation.push_back(static_cast<int64_t>(made.labels.find(label)));
  return permute(made.value, permutation, s);
}

std::pair<std::vector<std::vector<int>>, std::string> einsum_path(const std::string& subscripts,
                                                                  const std::vector<array>& operands) {
  const Path path = path_of(parsed(subscripts, operands));
  return {path.steps,
          fmt::format("  {}\n  dimensions at once:  {}, all together {}\n  operations:  {:.6g}, all together "
                      "{:.6g}\n",
                      subscripts, path.most_labels, path.all_labels, path.operations, path.naive)};
}

}  // namespace lowtide
