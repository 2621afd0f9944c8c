#include "report/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

namespace lowtide::engine {
namespace {

constexpr size_t kGroupsShown = 6;
constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

using Words = std::array<std::string_view, 10>;
constexpr Words kOptimiserWords = {"opt_state", "opt", "optimizer", "optimizer_state", "optim",
                                   "mu",        "nu",  "momentum",  "exp_avg",         "exp_avg_sq"};
constexpr Words kParameterWords = {"params", "param", "weights",   "weight", "parameters",
                                   "model",  "theta", "variables", "kernel", "bias"};
constexpr Words kBatchWords = {"batch", "data",   "inputs", "targets", "labels",
                               "input", "target", "label",  "tokens",  "ids"};

bool is_one_of(const std::string& word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool all_digits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= '0' && c <= '9'; });
}

std::string without_backslashes(std::string text) {
  std::erase(text, '\\');
  return text;
}

using LeafKey = std::pair<int32_t, ShapeIndex>;  // instruction id and index

// Results that share an argument's memory by the module's header, and arguments offered without naming a result.
struct Donations {
  std::map<std::pair<int64_t, ShapeIndex>, int64_t> result_of;  // (parameter, index) -> result leaf, -1 for a donor
  std::vector<bool> taken;                                      // by result leaf
};

Donations donations_of(const Module& module, const std::vector<ShapeIndex>& results) {
  Donations donations;
  donations.taken.resize(results.size());
  for (const Module::Donor& donor : module.buffer_donors) donations.result_of[{donor.parameter, donor.index}] = -1;
  for (const AliasEntry& alias : module.input_output_alias) {
    const auto found = std::find(results.begin(), results.end(), alias.output);
    if (found == results.end()) continue;
    const auto leaf = static_cast<size_t>(found - results.begin());
    donations.taken[leaf] = true;
    donations.result_of[{alias.operand, alias.operand_index}] = static_cast<int64_t>(leaf);
  }
  return donations;
}

}  // namespace

}  // namespace lowtide::engine

namespace lowtide {

const char* name_of(Fate fate) {
  switch (fate) {
    case Fate::kDonated: return "donated";
    case Fate::kCouldBeDonated: return "could be donated";
    case Fate::kMustStay: return "must stay";
  }
  return "";
}

}  // namespace lowtide

namespace lowtide::engine {

std::vector<std::string> path_tokens(std::string_view path) {
  std::vector<std::string> tokens;
  std::string token;
  for (const char c : path) {
    if (c == '.' || c == '[' || c == ']' || c == '\'' || c == '"' || c == '\\' || c == '/') {
      if (!token.empty()) tokens.push_back(std::move(token));
      token.clear();
    } else {
      token += c;
    }
  }
  if (!token.empty()) tokens.push_back(std::move(token));
  return tokens;
}

std::string argument_group(std::string_view path) {
  const std::vector<std::string> tokens = path_tokens(path);
  if (tokens.empty()) return "";
  const auto any = [&](const Words& words) {
    return std::any_of(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(tokens.size(), 3)),
                       [&](const std::string& token) { return is_one_of(token, words); });
  };
  if (any(kOptimiserWords)) return "opt_state";
  if (any(kParameterWords)) return "params";
  if (any(kBatchWords)) return "batch";
  const bool container =
      tokens[0] == "state" || tokens[0] == "train_state" || tokens[0] == "args" || tokens[0] == "self";
  if (container && tokens.size() > 1 && !all_digits(tokens[1])) return tokens[1];
  return tokens[0];
}

std::string argument_path(const Instruction& parameter, const ShapeIndex& index) {
  const std::string path = without_backslashes(parameter.metadata.op_name);
  return (path.empty() ? parameter.name : path) + (index.empty() ? "" : to_string(index));
}

std::vector<PythonArgument> python_arguments(const Module& module) {
  const std::vector<Instruction*> parameters = module.entry->parameters();
  const std::vector<PythonArgument> unknown(parameters.size());
  if (!module.name.starts_with("jit_")) return unknown;
  std::set<std::string> paths, ended, unclear;
  std::vector<PythonArgument> arguments;
  for (const Instruction* parameter : parameters) {
    if (parameter == nullptr) return unknown;
    const std::string path = without_backslashes(parameter->metadata.op_name);
    const size_t end = std::min(path.find_first_not_of(kNameCharacters), path.size());
    const std::string name = path.substr(0, end), rest = path.substr(end);
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) || !paths.insert(path).second) return unknown;
    // The leaves of a tree are adjacent.
    if (!arguments.empty() && arguments.back().name != name) ended.insert(arguments.back().name);
    if (ended.contains(name)) return unknown;
    const bool tells = rest.empty() || rest[0] == '.' || rest.starts_with("['") || rest.starts_with("[\"");
    if (!tells) unclear.insert(name);
    arguments.push_back({name});
  }
  for (PythonArgument& argument : arguments) argument.is_certain = !unclear.contains(argument.name);
  return arguments;
}

std::vector<ArgumentRow> argument_rows(const Graph& graph, const Account& account, const Categories& categories) {
  const Module& module = graph.module();
  std::vector<ShapeIndex> results;
  std::vector<const Shape*> result_shapes;
  if (module.entry->root != nullptr) {
    for_each_leaf(module.entry->root->shape, [&](const ShapeIndex& index, const Shape& leaf) {
      results.push_back(index);
      result_shapes.push_back(&leaf);
    });
  }
  Donations donations = donations_of(module, results);
  std::map<LeafKey, const AccountBuffer*> buffers;
  for (const AccountBuffer& buffer : account.buffers) {
    if (buffer.kind != BufferKind::kArgument || buffer.values.empty()) continue;
    buffers[{buffer.values[0].instruction->id, buffer.values[0].index}] = &buffer;
  }

  std::vector<ArgumentRow> rows;
  const std::vector<Instruction*> parameters = module.entry->parameters();
  for (size_t number = 0; number < parameters.size(); ++number) {
    const Instruction* parameter = parameters[number];
    if (parameter == nullptr) continue;
    const std::string path = without_backslashes(parameter->metadata.op_name);
    for_each_leaf(parameter->shape, [&](const ShapeIndex& index, const Shape& leaf) {
      if (!leaf.is_array()) return;
      ArgumentRow row;
      row.number = static_cast<int64_t>(number);
      row.path = argument_path(*parameter, index);
      row.shape = to_string_without_layout(leaf);
      row.group = argument_group(path);
      const auto buffer = buffers.find({parameter->id, index});
      row.bytes = buffer != buffers.end() ? buffer->second->bytes : padded_bytes(leaf);
      row.category = categories.of_argument(*parameter);
      if (const auto found = donations.result_of.find({row.number, index}); found != donations.result_of.end()) {
        row.fate = Fate::kDonated;
        row.result = found->second;
        row.note = row.result >= 0 ? fmt::format("result {} is written over it", row.result) : "offered to any result";
      }
      rows.push_back(std::move(row));
    });
  }

  std::stable_sort(rows.begin(), rows.end(),
                   [](const ArgumentRow& a, const ArgumentRow& b) { return a.bytes > b.bytes; });
  for (ArgumentRow& row : rows) {
    if (row.fate == Fate::kDonated) continue;
    for (size_t leaf = 0; leaf < results.size(); ++leaf) {
      if (donations.taken[leaf] || !result_shapes[leaf]->is_array()) continue;
      if (to_string_without_layout(*result_shapes[leaf]) != row.shape) continue;
      donations.taken[leaf] = true;
      row.fate = Fate::kCouldBeDonated;
      row.result = static_cast<int64_t>(leaf);
      row.note = fmt::format("result {} has its shape", leaf);
      break;
    }
    if (row.fate == Fate::kMustStay) row.note = "no free result has its shape";
  }
  return rows;
}

std::vector<ArgumentGroup> argument_groups(const std::vector<ArgumentRow>& rows) {
  std::vector<const ArgumentRow*> by_number;
  for (const ArgumentRow& row : rows) by_number.push_back(&row);
  std::stable_sort(by_number.begin(), by_number.end(),
                   [](const ArgumentRow* a, const ArgumentRow* b) { return a->number < b->number; });
  std::vector<ArgumentGroup> groups;
  for (const ArgumentRow* row : by_number) {
    auto found =
        std::find_if(groups.begin(), groups.end(), [&](const ArgumentGroup& g) { return g.name == row->group; });
    if (found == groups.end()) found = groups.insert(groups.end(), {row->group, 0, 0});
    found->bytes += row->bytes;
    ++found->count;
  }
  if (groups.size() == 1 && groups[0].name.empty()) return {};
  if (groups.size() <= kGroupsShown) return groups;
  std::stable_sort(groups.begin(), groups.end(),
                   [](const ArgumentGroup& a, const ArgumentGroup& b) { return a.bytes > b.bytes; });
  ArgumentGroup others{"others", 0, 0};
  for (size_t i = kGroupsShown - 1; i < groups.size(); ++i) {
    others.bytes += groups[i].bytes;
    others.count += groups[i].count;
  }
  groups.resize(kGroupsShown - 1);
  groups.push_back(others);
  return groups;
}

}  // namespace lowtide::engine
