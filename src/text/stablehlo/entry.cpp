// Builds the module around its functions: the entry, donations, and the header's attributes.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ir/entry_notes.h"
#include "ops/attribute_text.h"
#include "text/stablehlo.h"
#include "text/stablehlo/mlir_reader.h"
#include "text/stablehlo/module_maker.h"

namespace lowtide::engine {

ModuleMaker::ModuleMaker(std::shared_ptr<const Source> source, MlirModule syntax, std::shared_ptr<Context> context)
    : source_(std::move(source)),
      syntax_(std::move(syntax)),
      values_(*source_, syntax_),
      module_(std::make_unique<Module>(std::move(context))) {
  module_->source = source_;
}

Result<std::unique_ptr<Module>> ModuleMaker::make(const std::string& entry) {
  for (const MlirOperation& operation : syntax_.operations) {
    if (operation.name != "func.func") continue;
    const MlirAttribute* name = find_attribute(operation.attributes, "sym_name");
    if (!name) return fault(operation.place, "found a function without a name");
    if (operation.regions.empty()) continue;  // only declared: calls of it are errors
    if (!functions_.try_emplace(name->text, Function{&operation}).second) {
      return fault(operation.place, fmt::format("function '@{}' is defined twice", name->text));
    }
  }
  LT_RETURN_IF_ERROR(read_module_attributes());
  LT_ASSIGN_OR_RETURN(const MlirOperation* main, find_entry(entry));
  LT_RETURN_IF_ERROR(make_entry(*main));
  drop_unreachable();
  module_->reorder(module_->callees_first());
  return std::move(module_);
}

void ModuleMaker::drop_unreachable() {
  std::unordered_set<const Computation*> reached = {module_->entry};
  std::vector<const Computation*> open = {module_->entry};
  while (!open.empty()) {
    const Computation* computation = open.back();
    open.pop_back();
    for (const auto& i : computation->instructions()) {
      for (const Computation* callee : i->called) {
        if (reached.insert(callee).second) open.push_back(callee);
      }
    }
  }
  module_->remove_if([&](const Computation& c) { return !reached.contains(&c); });
}

Result<const MlirOperation*> ModuleMaker::find_entry(const std::string& entry) const {
  const auto named = functions_.find(entry.empty() ? "main" : std::string_view(entry));
  if (named != functions_.end()) return named->second.syntax;
  if (!entry.empty()) return fault(kNowhere, fmt::format("{}: no function is named '@{}'", source_->name, entry));
  if (functions_.empty()) return fault(kNowhere, source_->name + ": the module holds no function");
  std::vector<const MlirOperation*> outside;  // public functions
  std::string names;
  for (const MlirOperation& operation : syntax_.operations) {
    if (operation.name != "func.func") continue;
    const MlirAttribute* visibility = find_attribute(operation.attributes, "sym_visibility");
    if (operation.regions.empty()) continue;
    if (visibility && visibility->text.find("private") != std::string_view::npos) continue;
    outside.push_back(&operation);
    names += fmt::format("{}@{}", names.empty() ? "" : ", ", find_attribute(operation.attributes, "sym_name")->text);
  }
  if (outside.size() == 1) return outside[0];
  if (functions_.size() == 1) return functions_.begin()->second.syntax;
  if (outside.empty())
    return fault(syntax_.operations[0].place, "found private functions only, expected one named @main");
  return fault(outside[1]->place,
               fmt::format("found several functions ({}), expected one named @main; name one: {}{}{}", names,
                           source_->name, source_->name.find('#') == std::string::npos ? '#' : '.',
                           find_attribute(outside[0]->attributes, "sym_name")->text));
}

Status ModuleMaker::read_module_attributes() {
  const auto count = [&](std::string_view key) -> Result<int64_t> {
    const MlirAttribute* found = find_attribute(syntax_.attributes, key);
    return found ? values_.integer(*found) : Result<int64_t>(1);
  };
  LT_ASSIGN_OR_RETURN(const int64_t partitions, count("mhlo.num_partitions"));
  LT_ASSIGN_OR_RETURN(const int64_t replicas, count("mhlo.num_replicas"));
  const bool has_mesh =
      std::ranges::any_of(syntax_.operations, [](const MlirOperation& o) { return o.name == "sdy.mesh"; });
  const bool stated = find_attribute(syntax_.attributes, "mhlo.num_partitions") != nullptr;
  if (partitions > 1 || (stated && has_mesh)) module_->num_partitions = partitions;
  if (replicas > 1) module_->replica_count = replicas;
  std::vector<std::string> frontend, meshes;
  if (const MlirAttribute* attributes = find_attribute(syntax_.attributes, "mhlo.frontend_attributes")) {
    LT_ASSIGN_OR_RETURN(const std::string text, frontend_attributes_of(*attributes, values_));
    if (text.size() > 2) frontend.push_back(text.substr(1, text.size() - 2));
  }
  for (const MlirOperation& operation : syntax_.operations) {
    if (operation.name != "sdy.mesh") continue;
    const MlirAttribute* pretty = find_attribute(operation.attributes, "callee");
    const MlirAttribute* generic = find_attribute(operation.attributes, "sym_name");
    std::string_view name = pretty ? pretty->text : generic ? generic->text : "";
    if (name.starts_with('"') && name.size() > 1) name = name.substr(1, name.size() - 2);
    const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    if (!std::ranges::all_of(name, is_plain)) {  // HLO would end the name earlier
      return unsupported(operation.place,
                         fmt::format("the name of the mesh '{}' has other characters than words", name));
    }
    if (const MlirAttribute* angles = find_attribute(operation.attributes, "angles")) {
      meshes.push_back(fmt::format("{} = #sdy.mesh{}", name, angles->text));
    } else if (const MlirAttribute* mesh = find_attribute(operation.attributes, "mesh")) {
      meshes.push_back(fmt::format("{} = {}", name, mesh->text));
    }
  }
  if (!meshes.empty()) frontend.push_back(fmt::format("xla.sdy.meshes={{{}}}", fmt::join(meshes, ", ")));
  if (!frontend.empty()) module_->frontend_attributes = fmt::format("{{{}}}", fmt::join(frontend, ","));
  return {};
}

Status ModuleMaker::make_entry(const MlirOperation& main) {
  const std::string_view name = find_attribute(main.attributes, "sym_name")->text;
  LT_ASSIGN_OR_RETURN(module_->entry, function(name, main.place));
  module_->name = syntax_.name.empty() ? module_->entry->name : std::string(syntax_.name);
  for (char& c : module_->name) {
    if (!is_name_char(c)) c = '_';
  }
  read_donations(main);
  read_notes(main);
  return {};
}

void ModuleMaker::read_notes(const MlirOperation& main) {
  for (const EntryNote note : {EntryNote::kMemoryKind, EntryNote::kLayout}) {
    const auto note_of = [&](const MlirAttributes& attributes) {
      const MlirAttribute* stated = find_attribute(attributes, attribute_of(note));
      const Result<std::string> text = stated ? values_.string(*stated) : Result<std::string>(std::string());
      return text.ok() && *text != "default" ? *text : std::string();
    };
    std::vector<std::string> arguments, results;
    for (const MlirArgument& argument : main.regions[0].arguments) arguments.push_back(note_of(argument.attributes));
    for (const MlirAttributes& attributes : main.result_attributes) results.push_back(note_of(attributes));
    const auto says = [](const std::string& text) { return !text.empty(); };
    // Notes are set only if there are any: a module converted from HLO may have its notes as frontend attributes.
    if (std::ranges::any_of(arguments, says)) set_entry_notes(*module_, EntrySide::kArguments, note, arguments);
    if (std::ranges::any_of(results, says)) set_entry_notes(*module_, EntrySide::kResults, note, results);
  }
}

void ModuleMaker::read_donations(const MlirOperation& main) {
  const std::vector<MlirArgument>& arguments = main.regions[0].arguments;
  const bool tuple = main.types.size() != 1;
  std::unordered_set<int64_t> taken;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto parameter = static_cast<int64_t>(i);
    const MlirAttribute* output = find_attribute(arguments[i].attributes, "tf.aliasing_output");
    const Result<int64_t> number = output ? values_.integer(*output) : Result<int64_t>(-1);
    const bool fits = number.ok() && *number >= 0 && *number < static_cast<int64_t>(main.types.size()) &&
                      same_shape(main.types[*number], arguments[i].type);
    if (fits && taken.insert(*number).second) {
      AliasEntry entry;
      entry.operand = parameter;
      if (tuple) entry.output = {*number};
      module_->input_output_alias.push_back(std::move(entry));
      continue;
    }
    const MlirAttribute* donor = find_attribute(arguments[i].attributes, "jax.buffer_donor");
    const Result<int64_t> given = donor ? values_.integer(*donor) : Result<int64_t>(0);
    if (output || (given.ok() && *given != 0)) module_->buffer_donors.push_back({parameter, {}});
  }
  if (const MlirAttribute* all = find_attribute(syntax_.attributes, "mhlo.input_output_alias")) {
    for (const MlirAttribute& entry : values_.elements(*all)) {
      std::optional<AliasEntry> alias = alias_of(entry, main);
      if (!alias || !taken.insert(alias->output.empty() ? 0 : alias->output[0]).second) continue;
      module_->input_output_alias.push_back(std::move(*alias));
    }
  }
  std::ranges::sort(module_->input_output_alias, {}, &AliasEntry::output);
}

/// Reads `{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 0 : i64}, output_index =
/// array<i64: 1>}`, which XLA writes for modules converted from HLO. None if it is invalid, or if the argument already
/// has an alias or is a donor.
std::optional<AliasEntry> ModuleMaker::alias_of(const MlirAttribute& entry, const MlirOperation& main) const {
  const auto numbers = [&](const Result<MlirAttributes>& of, std::string_view key) -> std::optional<Dims> {
    const MlirAttribute* found = of.ok() ? find_attribute(*of, key) : nullptr;
    if (!found) return std::nullopt;
    const Result<Dims> all = values_.integers(*found);
    return all.ok() ? std::optional(*all) : std::nullopt;
  };
  const Result<MlirAttributes> whole = values_.fields(entry);
  const MlirAttribute* inner = whole.ok() ? find_attribute(*whole, "alias") : nullptr;
  if (!inner) return std::nullopt;
  const Result<MlirAttributes> alias = values_.fields(*inner);
  const std::optional<Dims> output = numbers(whole, "output_index"), index = numbers(alias, "parameter_index");
  const MlirAttribute* number = alias.ok() ? find_attribute(*alias, "parameter_number") : nullptr;
  const Result<int64_t> parameter = number ? values_.integer(*number) : Result<int64_t>(-1);
  const std::vector<MlirArgument>& arguments = main.regions[0].arguments;
  const bool tuple = main.types.size() != 1;
  if (!output || !index || !index->empty() || output->size() != (tuple ? 1 : 0) || !parameter.ok()) return std::nullopt;
  const int64_t result = tuple ? (*output)[0] : 0;
  if (result < 0 || result >= static_cast<int64_t>(main.types.size())) return std::nullopt;
  if (*parameter < 0 || *parameter >= static_cast<int64_t>(arguments.size())) return std::nullopt;
  const auto a = static_cast<size_t>(*parameter);
  const bool said = find_attribute(arguments[a].attributes, "tf.aliasing_output") ||
                    find_attribute(arguments[a].attributes, "jax.buffer_donor") ||
                    std::ranges::any_of(module_->input_output_alias,
                                        [&](const AliasEntry& known) { return known.operand == *parameter; });
  if (said || !same_shape(main.types[result], arguments[a].type)) return std::nullopt;
  AliasEntry made;
  made.operand = *parameter;
  if (tuple) made.output = {result};
  return made;
}

Result<std::string> frontend_attributes_of(const MlirAttribute& dictionary, const MlirValues& values) {
  LT_ASSIGN_OR_RETURN(const MlirAttributes entries, values.fields(dictionary));
  std::string text;
  for (const MlirAttribute& entry : entries) {
    const bool string = entry.text.starts_with('"');
    std::string value(entry.text);
    if (string) {
      LT_ASSIGN_OR_RETURN(const std::string raw, values.string(entry));
      value = quote(raw);
    }
    std::string key(entry.key);
    for (char& c : key) {
      if (!is_name_char(c)) c = '_';
    }
    if (!value.empty()) text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  }
  return '{' + text + '}';
}

Result<std::unique_ptr<Module>> parse_stablehlo(std::shared_ptr<const Source> source, const std::string& entry,
                                                std::shared_ptr<Context> context, const MlirBlobs* blobs) {
  Result<MlirModule> syntax = MlirReader(*source).read();
  if (!syntax.ok()) return syntax.status();
  syntax->blobs = blobs;
  return ModuleMaker(std::move(source), syntax.take(), std::move(context)).make(entry);
}

}  // namespace lowtide::engine
