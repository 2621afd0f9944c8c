#include "usage.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "lowtide/files.h"
#include "lowtide/words.h"

namespace lowtide::command {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

using FileNumber = std::pair<dev_t, ino_t>;

std::optional<FileNumber> number_of(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return FileNumber{about.st_dev, about.st_ino};
}

/// Do both denote the same file? Files that don't exist yet are compared by folder and name.
bool is_one_place(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  const auto first = number_of(a), second = number_of(b);
  if (first || second) return first == second;
  std::error_code error;
  if (fs::exists(a, error) || fs::exists(b, error)) return false;  // a pipe, a device
  const fs::path one = fs::weakly_canonical(fs::absolute(a, error), error);
  const fs::path other = fs::weakly_canonical(fs::absolute(b, error), error);
  return !error && one == other;
}

}  // namespace

std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> rest = app.remaining(true);
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) {
    for (const std::string& word : rest) {
      std::vector<std::string> known;
      const bool option = word.starts_with("-");
      if (option) {
        known = option_names(app);
      } else {
        for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
      }
      return fmt::format("there is no {} {}{}", option ? "option" : "command", word, did_you_mean(word, known));
    }
    return error.what();
  }
  const CLI::App& command = *chosen.front();
  for (const std::string& word : rest) {
    if (!word.starts_with("-") || word == "-" || word == "--") continue;
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("{} has no option {}{}", command.get_name(), name, did_you_mean(name, option_names(command)));
  }
  return error.what();
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string all = fmt::format("{}", fmt::join(words, "|"));
  return {[words = std::move(words), all](std::string& word) {
            if (std::ranges::find(words, word) != words.end()) return std::string();
            return fmt::format("{} is none of {}{}", word, all, did_you_mean(word, words));
          },
          all};
}

Outcome check_outputs(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    if (output.path.empty()) continue;
    for (const NamedFile& input : inputs) {
      if (input.path.empty() || input.path == "-" || output.path == "-") continue;
      if (!is_read_of(input.path, output.path)) continue;
      return usage_error(fmt::format("{}: {} would be written over {} ({}); expected another file", output.option,
                                     output.path, input.option, input.path));
    }
    for (size_t k = 0; k < i; ++k) {
      if (outputs[k].path.empty() || !is_one_place(outputs[k].path, output.path)) continue;
      return usage_error(fmt::format("{} and {} both write {}; expected two files", outputs[k].option, output.option,
                                     output.path == "-" ? "to stdout" : output.path));
    }
  }
  return {};
}

}  // namespace lowtide::command
