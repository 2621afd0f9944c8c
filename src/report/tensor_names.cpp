#include "report/tensor_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/near_words.h"
#include "report/arguments.h"
#include "report/origin.h"

namespace lowtide::engine {
namespace {

using Tokens = std::vector<std::string>;

std::string without_backslashes(std::string text) {
  std::erase(text, '\\');
  return text;
}

std::string quoted_value(std::string_view text, size_t at) {
  return std::string(text.substr(at, std::min(text.find('"', at), text.size()) - at));
}

/// JAX annotates each result of StableHLO's @main with its place in the function's result.
std::vector<std::string> jax_result_paths(const Module& module) {
  constexpr std::string_view kKey = "jax.result_info = \"";
  std::vector<std::string> paths;
  if (!module.source) return paths;
  const std::string_view text = module.source->text;
  for (size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    paths.push_back(without_backslashes(quoted_value(text, at + kKey.size())));
  }
  return paths;
}

int64_t arrays_in(const Shape& shape) {
  int64_t count = 0;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) { count += leaf.is_array(); });
  return count;
}

/// The path of an array, with its index if it is part of a tuple: "w{1}".
std::string path_of(const std::string& base, const ShapeIndex& index) {
  return base.empty() || index.empty() ? base : base + to_string(index);
}

std::string result_path(const Module& module, const ShapeIndex& index) {
  const std::vector<Instruction*> parameters = module.entry->parameters();
  const auto path_of_parameter = [](const Instruction& i) { return without_backslashes(i.metadata.op_name); };
  for (const AliasEntry& alias : module.input_output_alias) {
    const auto k = static_cast<size_t>(alias.operand);
    if (alias.output != index || k >= parameters.size() || !parameters[k]) continue;
    return path_of(path_of_parameter(*parameters[k]), alias.operand_index);
  }
  const Instruction* made = module.entry->root;
  if (made->opcode == Opcode::kTuple && index.size() == 1) made = made->operands[index[0]];
  if (made->opcode == Opcode::kParameter) return path_of_parameter(*made);
  return user_scopes(made->metadata.op_name);
}

/// Matches the names in a file with the program's arrays.
class Names {
 public:
  Names(std::vector<std::string> names, std::string where, const std::string& prefix,
        const std::vector<std::string>& paths)
      : names_(std::move(names)), where_(std::move(where)), prefix_(prefix), paths_(paths) {
    for (const std::string& path : paths) tokens_.push_back(path_tokens(path));
  }

  std::string number(size_t k) const { return fmt::format("{}{}", prefix_, k); }

  /// Maps names in the file to array numbers; those that are the arrays' names already are left out.
  Result<std::map<std::string, size_t>> find() const {
    std::map<std::string, size_t> found;
    const bool numbered =
        std::ranges::any_of(names_, [&](const auto& name) { return number_of(name, prefix_).has_value(); });
    for (const std::string& form : {prefix_ + "_", std::string("arr_")}) {
      if (numbered || !contains(form + "0")) continue;
      for (const std::string& name : names_) {
        if (const auto k = number_of(name, form)) found[name] = *k;
      }
      return found;
    }
    for (const std::string& name : names_) {
      const auto fits = by_path(name);
      if (numbered) {
        if (fits.size() == 1 && !contains(number(fits[0])) && !number_of(name, prefix_)) {
          return fault(fmt::format("{} goes by its path, others by their numbers ({}); expected one or the other", name,
                                   prefix_ + "0"));
        }
        continue;  // tensors that the program doesn't know are no error here
      }
      if (fits.size() > 1) {
        return fault(
            fmt::format("{} may be {} or {}; expected the whole path", name, paths_[fits[0]], paths_[fits[1]]));
      }
      if (fits.empty()) {
        const auto near = near_paths(name);
        return fault(fmt::format("nothing of the program is called {}{}{}", name, did_you_mean(near),
                                 near.empty() ? known() : ""));
      }
      for (const auto& [other, k] : found) {
        if (k == fits[0]) return fault(fmt::format("{} and {} are both {}", other, name, paths_[k]));
      }
      found[name] = fits[0];
    }
    return found;
  }

  /// Maps numbers to the file's names: those that find() found, and those that are the arrays' names already.
  Result<std::vector<std::string>> all(const std::map<std::string, size_t>& found) const {
    std::vector<std::string> by_number(paths_.size());
    for (size_t k = 0; k < paths_.size(); ++k) {
      if (contains(number(k))) by_number[k] = number(k);
    }
    for (const auto& [name, k] : found) {
      if (k < by_number.size()) by_number[k] = name;
    }
    for (size_t k = 0; k < paths_.size(); ++k) {
      if (!by_number[k].empty()) continue;
      const std::string path = paths_[k].empty() ? "" : fmt::format(" ({})", paths_[k]);
      const auto near = near_words(paths_[k].empty() ? number(k) : paths_[k], names_);
      return fault(fmt::format("no tensor {}{}{}", number(k), path, did_you_mean(near)));
    }
    return by_number;
  }

 private:
  Status fault(const std::string& what) const { return Status::input(where_ + ": " + what); }

  std::string known() const {
    constexpr size_t kShown = 6;
    std::string text;
    for (size_t k = 0; k < std::min(kShown, paths_.size()); ++k) {
      text += (text.empty() ? "; expected " : ", ") + number(k);
      if (!paths_[k].empty()) text += " or " + paths_[k];
    }
    return paths_.size() > kShown ? text + ", ..." : text;
  }

  /// The paths that resemble a name, in whatever notation.
  std::vector<std::string> near_paths(const std::string& name) const {
    const auto plain = [](const Tokens& tokens) { return fmt::format("{}", fmt::join(tokens, "/")); };
    std::vector<std::string> known, near;
    for (const Tokens& tokens : tokens_) known.push_back(plain(tokens));
    for (const std::string& found : near_words(plain(path_tokens(name)), known)) {
      near.push_back(paths_[std::ranges::find(known, found) - known.begin()]);
    }
    return near;
  }

  /// "arg12" -> 12
  static std::optional<size_t> number_of(const std::string& name, const std::string& prefix) {
    const std::string digits = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos) return {};
    return static_cast<size_t>(std::stoul(digits));
  }

  /// The arrays whose whole path is the name, or else those whose path ends with it.
  std::vector<size_t> by_path(const std::string& name) const {
    const Tokens tokens = path_tokens(name);
    std::vector<size_t> whole, end;
    for (size_t k = 0; k < tokens_.size() && !tokens.empty(); ++k) {
      const Tokens& path = tokens_[k];
      if (path.size() < tokens.size() || !std::equal(tokens.rbegin(), tokens.rend(), path.rbegin())) continue;
      (path.size() == tokens.size() ? whole : end).push_back(k);
    }
    return whole.empty() ? end : whole;
  }

  bool contains(const std::string& name) const { return std::ranges::find(names_, name) != names_.end(); }

  std::vector<std::string> names_;
  std::string where_;
  const std::string& prefix_;
  const std::vector<std::string>& paths_;
  std::vector<Tokens> tokens_;
};

}  // namespace

std::vector<std::string> argument_paths(const Module& module) {
  std::vector<std::string> paths;
  for (const Instruction* parameter : module.entry->parameters()) {
    if (!parameter) continue;
    const std::string base = without_backslashes(parameter->metadata.op_name);
    for_each_leaf(parameter->shape, [&](const ShapeIndex& index, const Shape& leaf) {
      if (leaf.is_array()) paths.push_back(path_of(base, index));
    });
  }
  return paths;
}

std::vector<std::string> result_paths(const Module& module) {
  const Shape& shape = module.entry->root->shape;
  std::vector<std::string> paths = jax_result_paths(module);
  const bool named = std::ssize(paths) == arrays_in(shape);
  if (!named) paths.assign(static_cast<size_t>(arrays_in(shape)), "");
  size_t k = 0;
  for_each_leaf(shape, [&](const ShapeIndex& index, const Shape& leaf) {
    if (!leaf.is_array()) return;
    if (paths[k].empty()) paths[k] = result_path(module, index);
    ++k;
  });
  return paths;
}

Result<std::vector<std::string>> names_by_number(const std::vector<std::string>& names, const std::string& where,
                                                 const std::string& prefix, const std::vector<std::string>& paths) {
  if (paths.empty()) return std::vector<std::string>{};
  const Names all(names, where, prefix, paths);
  LT_ASSIGN_OR_RETURN(const auto found, all.find());
  return all.all(found);
}

Status name_by_number(TensorFile& file, const std::string& prefix, const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  const Names names(file.names(), file.name(), prefix, paths);
  LT_ASSIGN_OR_RETURN(const auto found, names.find());
  LT_RETURN_IF_ERROR(names.all(found).status());
  for (const auto& [name, k] : found) file.rename(name, names.number(k));
  return {};
}

}  // namespace lowtide::engine
