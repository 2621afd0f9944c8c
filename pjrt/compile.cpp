// Compiles the host's programs, and serialises and deserialises executables.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string_view>

#include "element_types.h"
#include "executable.h"
#include "functions.h"
#include "protobuf.h"
#include "running.h"
#include "shardings.h"

namespace lowtide::pjrt {
namespace {

constexpr std::string_view kHloWithConfig = "hlo_with_config";
constexpr std::string_view kMagic = "lowtide executable " LOWTIDE_VERSION "\n";
constexpr int64_t kRowsOfExplanation = 5;

/// DeviceAssignmentProto: one replica, a computation for each device.
std::string assignment_of(const std::vector<PJRT_Device*>& devices) {
  std::string all = "\x08\x01\x10" + varint(devices.size());
  for (const PJRT_Device* device : devices) {
    const std::string id = varint(static_cast<size_t>(device->description.id));
    all += field(3, field(1, id));
  }
  return all;
}

/// Chooses the devices that the options name, or else the first ones.
PJRT_Error* choose_devices(const PJRT_Client& client, const CompileOptions& options,
                           std::vector<PJRT_Device*>& devices) {
  const auto there = static_cast<int64_t>(client.devices.size());
  if (options.replicas != 1) {
    return unimplemented("found a program of " + std::to_string(options.replicas) +
                         " replicas, expected one: Lowtide runs partitions alone, as jax.jit asks for");
  }
  if (options.partitions < 1 || options.partitions > there) {
    return invalid("found a program for " + std::to_string(options.partitions) + " devices, where there are " +
                   std::to_string(there) + ": LOWTIDE_DEVICES makes more");
  }
  const auto parts = static_cast<size_t>(options.partitions);
  if (!options.devices.empty() && options.devices.size() != parts) {
    return invalid("found " + std::to_string(options.devices.size()) + " devices for " + std::to_string(parts) +
                   " partitions");
  }
  for (size_t part = 0; part < parts; ++part) {
    const int64_t id = options.devices.empty() ? static_cast<int64_t>(part) : options.devices[part];
    if (id < 0 || id >= there) {
      return invalid("found a program for device " + std::to_string(id) + " of " + std::to_string(there));
    }
    devices.push_back(client.devices[id]);
  }
  return nullptr;
}

PJRT_NamedValue cost(std::string_view name, double value) {
  PJRT_NamedValue cost = {};
  cost.struct_size = sizeof cost;
  give(name, cost.name, cost.name_size);
  cost.type = PJRT_NamedValue::kFloat;
  cost.float_value = static_cast<float>(value);
  cost.value_size = 1;
  return cost;
}

PJRT_Error* take_kinds(PJRT_Device& device, const std::vector<ProgramArray>& arrays, MemoryKinds& kinds) {
  for (const ProgramArray& array : arrays) {
    const PJRT_Memory* const memory = device.memory_of(array.memory_kind);
    if (!memory)
      return invalid("found an array in memory of the kind '" + array.memory_kind +
                     "', expected device, pinned_host or unpinned_host");
    kinds.own.push_back(memory->kind);
    kinds.texts.push_back(memory->kind.data());
    kinds.sizes.push_back(memory->kind.size());
  }
  return nullptr;
}

PJRT_Error* describe(Compiled& compiled, const Module& module, const LaidOut& laid_out) {
  compiled.name = module.name();
  for (const ProgramArray& result : module.results()) {
    const PJRT_Buffer_Type type = type_of_name(result.type);
    if (type == 0) return unimplemented("results of the element type " + result.type);
    compiled.result_types.push_back(type);
    compiled.result_dims.push_back(result.dims);
    compiled.all_dims.insert(compiled.all_dims.end(), result.dims.begin(), result.dims.end());
    compiled.ranks.push_back(result.dims.size());
  }
  for (const auto& order : laid_out.results) compiled.result_layouts.push_back(layout_of(order));
  for (const auto& order : laid_out.arguments) compiled.parameter_layouts.push_back(layout_of(order));
  PJRT_Device& device = *compiled.devices[0];
  if (PJRT_Error* error = take_kinds(device, module.arguments(), compiled.parameter_memory)) return error;
  if (PJRT_Error* error = take_kinds(device, module.results(), compiled.result_memory)) return error;
  const Sizes sizes = compiled.plan.sizes();
  compiled.costs = {
      cost("flops", module.flops()), cost("bytes accessed", static_cast<double>(sizes.arguments + sizes.outputs)),
      cost("peak bytes", static_cast<double>(sizes.peak)), cost("optimal_seconds", compiled.plan.modelled_seconds()),
      cost("kernels", static_cast<double>(compiled.plan.kernels()))};
  constexpr double kHandingOver = 1e-4;  // seconds
  // The time that host functions take is unknown, and their effects must follow the order of programs.
  compiled.is_quick = compiled.plan.modelled_seconds() < kHandingOver && compiled.executable.interpreted() == 0 &&
                      compiled.host_calls.empty();
  compiled.assignment = assignment_of(compiled.devices);
  for (int part = 0; part < static_cast<int>(compiled.devices.size()); ++part) {
    compiled.logical_ids.push_back({.replica = 0, .partition = part});
  }
  const size_t hash =
      std::hash<std::string>()(compiled.program.bytes) * 31 + std::hash<std::string>()(compiled.options);
  compiled.fingerprint = "lowtide-" LOWTIDE_VERSION "-" + std::to_string(hash);
  return nullptr;
}

Result<Module> on_each_device(const Module& module) {
  Result<Module> alone = module.on_each_device();
  if (alone.ok() || alone.error().kind != ErrorKind::kUnsupported) return alone;
  return Error{ErrorKind::kUnsupported,
               "programs that divide arrays over devices, or whose devices talk to each other, are not run by Lowtide: "
               "put the arguments on one device (jax.device_put(x, jax.devices()[0])), or leave them whole on all "
               "(jax.sharding.PartitionSpec()), where each device runs the program by itself; " +
                   alone.error().message};
}

/// Derives the shardings of arrays from their shapes on all devices and on one (`parts`).
PJRT_Error* state(const std::vector<ProgramArray>& all, const std::vector<ProgramArray>& parts, Shardings& shardings) {
  shardings.own.resize(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].dims != parts[i].dims) {
      const std::optional<std::string> divided = serialised_sharding(all[i].sharding);
      if (!divided) return unimplemented("arrays that are divided as '" + all[i].sharding + "' says");
      shardings.own[i] = *divided;
    }
    shardings.texts.push_back(shardings.own[i].data());
    shardings.sizes.push_back(shardings.own[i].size());
  }
  return nullptr;
}

/// The first lines, short enough for an exception: the figures, and what determines them.
std::string first_lines(const std::string& text) {
  constexpr int kLines = 8;
  size_t end = 0;
  for (int line = 0; line < kLines && end != std::string::npos; ++line) end = text.find('\n', end + (line > 0 ? 1 : 0));
  return text.substr(0, end);
}

/// plan_text: an earlier plan to replay; empty if there is none.
PJRT_Error* make(PJRT_Client& client, Program program, std::string options, const std::string& plan_text,
                 PJRT_LoadedExecutable*& made) {
  const PJRT_Client::Compiling compiling(client);
  CompileOptions read;
  if (PJRT_Error* error = read_compile_options(options, client.wishes, read)) return error;
  std::vector<PJRT_Device*> devices;
  if (PJRT_Error* error = choose_devices(client, read, devices)) return error;
  const Result<Session> session = client.session(read.wishes);
  if (!session.ok()) return fault_of(session.error());
  Result<Module> module = session->parse(program.bytes, "the program");
  if (module.ok()) module = module->with_tokens_as_arrays();
  Shardings parameter_shardings, result_shardings;
  bool is_repeated = false;
  if (module.ok()) {
    const Module all = *module;
    is_repeated = devices.size() > 1 && all.can_run().ok();
    if (devices.size() > 1) module = on_each_device(all);
    if (module.ok()) {
      PJRT_Error* error = state(all.arguments(), module->arguments(), parameter_shardings);
      if (!error) error = state(all.results(), module->results(), result_shardings);
      if (error) return error;
    }
  }
  if (!module.ok()) return fault_of(module.error());
  const Result<LaidOut> laid_out = module->laid_out();
  if (!laid_out.ok()) return fault_of(laid_out.error());
  const Module& runs = laid_out->program;
  const Result<Plan> plan = plan_text.empty() ? session->plan(runs) : session->replay(runs, plan_text);
  if (!plan.ok()) {
    PJRT_Error* const error = fault_of(plan.error());
    if (error->code == PJRT_Error_Code_RESOURCE_EXHAUSTED) {
      const Result<Explanation> why = session->explain(runs);
      if (why.ok()) error->message += "\n" + first_lines(why->text(kRowsOfExplanation));
    }
    return error;
  }
  if (compiling.is_given_up()) return error_of(*kEnded);
  const Result<Executable> executable = session->compile(*plan);
  if (!executable.ok()) return fault_of(executable.error());
  auto compiled = std::make_shared<Compiled>(Compiled{.devices = std::move(devices),
                                                      .logical_ids = {},
                                                      .program = std::move(program),
                                                      .options = std::move(options),
                                                      .read_options = read,
                                                      .plan = *plan,
                                                      .executable = *executable,
                                                      .in_place = InPlace::make(*session, runs, *executable)});
  compiled->host_calls = module->host_calls();
  compiled->callbacks = HeldCallbacks(compiled->host_calls);
  compiled->is_repeated = is_repeated;
  compiled->parameter_shardings = std::move(parameter_shardings);
  compiled->result_shardings = std::move(result_shardings);
  if (PJRT_Error* error = describe(*compiled, *module, *laid_out)) return error;
  if (compiling.is_given_up()) return error_of(*kEnded);
  made = new PJRT_LoadedExecutable{.compiled = std::move(compiled)};
  return nullptr;
}

/// What hosts call "hlo" is an HloModuleProto. They read programs back as an HloModuleProtoWithConfig, whose
/// configuration must have the program's own shape.
Program with_config(std::string_view module) {
  constexpr uint32_t kHostProgramShape = 4, kModule = 1, kConfig = 2, kEntryComputationLayout = 1;
  std::string config;
  for (Fields fields(module); fields.next();) {
    if (fields.number == kHostProgramShape) config += field(kEntryComputationLayout, fields.bytes);
  }
  return {std::string(kHloWithConfig), field(kModule, module) + field(kConfig, config)};
}

void append(std::string& bytes, std::string_view part) {
  const uint64_t size = part.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += part;
}

bool take(std::string_view& bytes, std::string& part) {
  uint64_t size = 0;
  if (bytes.size() < sizeof size) return false;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size > bytes.size()) return false;
  part = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

}  // namespace

PJRT_Error* Client_Compile(PJRT_Client_Compile_Args& args) {
  const std::string_view format(args.program->format, args.program->format_size);
  const std::string_view code(args.program->code, args.program->code_size);
  if (format != "mlir" && format != "hlo" && format != kHloWithConfig) {
    return unimplemented("programs in the form '" + std::string(format) + "', expected mlir, hlo or hlo_with_config");
  }
  return make(*args.client, format == "hlo" ? with_config(code) : Program{std::string(format), std::string(code)},
              std::string(args.compile_options, args.compile_options_size), "", args.executable);
}

PJRT_Error* Executable_Serialize(PJRT_Executable_Serialize_Args& args) {
  const Compiled& compiled = *args.executable->compiled;
  if (std::ranges::any_of(compiled.host_calls, [](const HostCallSite& c) { return c.name == kCallbackFunction; }))
    return unimplemented("programs with host callbacks as bytes: the functions are of this process");
  auto bytes = std::make_unique<std::string>(kMagic);
  append(*bytes, compiled.options);
  append(*bytes, compiled.program.format);
  append(*bytes, compiled.program.bytes);
  append(*bytes, compiled.plan.text());
  give(*bytes, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable = bytes.release();
  args.serialized_executable_deleter = [](void* holder) { delete static_cast<std::string*>(holder); };
  return nullptr;
}

PJRT_Error* Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args& args) {
  std::string_view bytes(args.serialized_executable, args.serialized_executable_size);
  std::string options, plan;
  Program program;
  if (!bytes.starts_with(kMagic)) return invalid("found no executable of this version of Lowtide");
  bytes.remove_prefix(kMagic.size());
  if (!take(bytes, options) || !take(bytes, program.format) || !take(bytes, program.bytes) || !take(bytes, plan)) {
    return invalid("found an executable that ends early");
  }
  const bool overridden = args.struct_size >= sizeof args && args.overridden_serialized_compile_options &&
                          args.overridden_serialized_compile_options_size > 0;
  if (overridden) {
    options.assign(args.overridden_serialized_compile_options, args.overridden_serialized_compile_options_size);
  }
  return make(*args.client, std::move(program), std::move(options), plan, args.loaded_executable);
}

}  // namespace lowtide::pjrt
