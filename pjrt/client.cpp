#include "client.h"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <set>

#include "foreign_calls.h"
#include "functions.h"
#include "host_callbacks.h"
#include "lowtide/visibility.h"
#include "lowtide/words.h"
#include "warm_up.h"

using lowtide::Result;
using lowtide::Session;

Result<Session> PJRT_Client::session(const lowtide::pjrt::Wishes& wishes) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(wishes);
  if (found != sessions_.end()) return found->second;
  lowtide::Options own = options;
  own.limit = wishes.limit;
  own.exact = wishes.exact;
  Result<Session> opened = Session::open(own);
  if (opened.ok()) sessions_.emplace(wishes, *opened);
  return opened;
}

PJRT_Client::Compiling::Compiling(PJRT_Client& client) : client_(client) {
  const std::lock_guard lock(client_.mutex_);
  ++client_.compiling_;
}

PJRT_Client::Compiling::~Compiling() {
  const std::lock_guard lock(client_.mutex_);  // held until the waiting thread is notified: it destroys the client
  --client_.compiling_;
  client_.compiled_.notify_all();
}

namespace {

/// Existing clients. Never destroyed: hosts don't destroy all clients.
struct Clients {
  std::mutex mutex;
  std::set<PJRT_Client*> all;
};
Clients& clients() {
  static Clients& standing = *new Clients;
  return standing;
}

}  // namespace

PJRT_Client::PJRT_Client() {
  const std::lock_guard lock(clients().mutex);
  clients().all.insert(this);
}

PJRT_Client::~PJRT_Client() {
  {
    const std::lock_guard lock(clients().mutex);
    clients().all.erase(this);
  }
  stop_compiling();
}

/// Called before a process exits: jaxlib destroys parts of its client while its threads may still compile.
extern "C" LOWTIDE_PUBLIC void lowtide_stop_compiling() {
  const std::lock_guard lock(clients().mutex);
  for (PJRT_Client* client : clients().all) client->stop_compiling();
}

void PJRT_Client::stop_compiling() {
  constexpr std::chrono::milliseconds kAgain(20);  // cancels again, for work that was between two calls before
  std::unique_lock lock(mutex_);
  ended_ = true;
  const auto is_done = [&] { return compiling_ == 0; };
  do {
    for (const auto& [wishes, session] : sessions_) session.cancel();
  } while (!compiled_.wait_for(lock, kAgain, is_done));
}

namespace lowtide::pjrt {
namespace {

constexpr int kMostDevices = 1024;

const char* variable(const char* name) { return std::getenv(name); }

std::string_view name_of(const PJRT_NamedValue& value) { return {value.name, value.name_size}; }

/// An option as text, whatever its type.
std::string text_of(const PJRT_NamedValue& value) {
  switch (value.type) {
    case PJRT_NamedValue::kString: return {value.string_value, value.value_size};
    case PJRT_NamedValue::kInt64: return std::to_string(value.int64_value);
    case PJRT_NamedValue::kBool: return value.bool_value ? "true" : "false";
    case PJRT_NamedValue::kFloat: return std::to_string(value.float_value);
    case PJRT_NamedValue::kInt64List: break;
  }
  return {};
}

PJRT_Error* read_count(std::string_view name, const std::string& text, int most, int& count) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > most) {
    return invalid(std::string(name) + ": found '" + text + "', expected a number from 1 to " + std::to_string(most));
  }
  count = static_cast<int>(number);
  return nullptr;
}

PJRT_Error* apply_option(PJRT_Client& client, std::string_view name, const std::string& text, int& devices) {
  constexpr int kMostThreads = 4096;
  if (name == "limit") {
    const Result<int64_t> bytes = parse_size(text);
    if (!bytes.ok()) return invalid("limit: " + bytes.error().message);
    client.wishes.limit = *bytes;
  } else if (name == "exact") {
    client.wishes.exact = text == "true" || text == "1";
  } else if (name == "threads") {
    return read_count(name, text, kMostThreads, client.options.threads);
  } else if (name == "cache") {
    client.options.cache_directory = text == "off" ? "" : text;
  } else if (name == "search") {
    if (text != "brief" && text != "whole") return invalid("search: found '" + text + "', expected brief or whole");
    client.options.brief_search = text == "brief";
  } else if (name == "devices") {
    return read_count(name, text, kMostDevices, devices);
  } else if (name == "as_text") {
    client.gives_programs = text == "true" || text == "1";
  } else if (name == "platform_name") {
    client.platform_name = text;
  } else {
    return invalid("found the option '" + std::string(name) +
                   "', expected limit, exact, threads, cache, search, devices, as_text or platform_name");
  }
  return nullptr;
}

}  // namespace

PJRT_Error* Plugin_Initialize(PJRT_Plugin_Initialize_Args&) { return nullptr; }

PJRT_Error* Plugin_Attributes(PJRT_Plugin_Attributes_Args& args) {
  // Hosts write newer artifacts so that this version can read them.
  static constexpr int64_t kCurrent[] = {1, 17, 0}, kOldest[] = {0, 9, 0};
  static const auto kAll = [] {
    std::array<PJRT_NamedValue, 3> all = {};
    const auto name = [](PJRT_NamedValue& value, std::string_view text, PJRT_NamedValue::Type type, size_t size) {
      value.struct_size = sizeof value;
      give(text, value.name, value.name_size);
      value.type = type;
      value.value_size = size;
    };
    name(all[0], "stablehlo_current_version", PJRT_NamedValue::kInt64List, 3);
    all[0].int64_array_value = kCurrent;
    name(all[1], "stablehlo_minimum_version", PJRT_NamedValue::kInt64List, 3);
    all[1].int64_array_value = kOldest;
    name(all[2], "xla_version", PJRT_NamedValue::kInt64, 1);
    all[2].int64_value = 2;
    return all;
  }();
  give(kAll, args.attributes, args.num_attributes);
  return nullptr;
}

PJRT_Error* Client_Create(PJRT_Client_Create_Args& args) {
  auto client = std::make_unique<PJRT_Client>();
  client->options = options_from_environment(variable);
  client->options.brief_search = true;
  client->options.host_functions[kCallbackFunction] = call_back;
  client->options.foreign_calls = foreign_function;
  client->platform_version = "lowtide " LOWTIDE_VERSION;
  int devices = 1;
  // Options come from the environment first; the program's own options override them.
  for (const auto& [name, key] :
       {std::pair{"devices", "LOWTIDE_DEVICES"}, {"limit", "LOWTIDE_LIMIT"}, {"as_text", "LOWTIDE_AS_TEXT"}}) {
    const char* const text = variable(key);
    if (!text || !*text) continue;
    if (PJRT_Error* error = apply_option(*client, name, text, devices)) return error;
  }
  for (size_t i = 0; i < args.num_options; ++i) {
    const PJRT_NamedValue& option = args.create_options[i];
    if (PJRT_Error* error = apply_option(*client, name_of(option), text_of(option), devices)) return error;
  }
  const Result<Session> session = client->session(client->wishes);
  if (!session.ok()) return fault_of(session.error());
  client->memory_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  client->topology.client = client.get();
  const auto pools = std::make_shared<Pools>(static_cast<size_t>(devices));
  for (int id = 0; id < devices; ++id) {
    PJRT_Device& device = *client->own_devices.emplace_back(std::make_unique<PJRT_Device>(client.get(), id, pools));
    client->devices.push_back(&device);
    client->memories.insert(client->memories.end(), device.memories.begin(), device.memories.end());
    client->topology.devices.push_back(&device.description);
  }
  warm_up(*client);
  args.client = client.release();
  return nullptr;
}

PJRT_Error* Client_Destroy(PJRT_Client_Destroy_Args& args) {
  delete args.client;
  return nullptr;
}

PJRT_Error* Client_PlatformName(PJRT_Client_PlatformName_Args& args) {
  give(args.client->platform_name, args.platform_name, args.platform_name_size);
  return nullptr;
}

PJRT_Error* Client_ProcessIndex(PJRT_Client_ProcessIndex_Args& args) {
  args.process_index = 0;
  return nullptr;
}

PJRT_Error* Client_PlatformVersion(PJRT_Client_PlatformVersion_Args& args) {
  give(args.client->platform_version, args.platform_version, args.platform_version_size);
  return nullptr;
}

PJRT_Error* Client_Devices(PJRT_Client_Devices_Args& args) {
  give(args.client->devices, args.devices, args.num_devices);
  return nullptr;
}

PJRT_Error* Client_AddressableDevices(PJRT_Client_AddressableDevices_Args& args) {
  give(args.client->devices, args.addressable_devices, args.num_addressable_devices);
  return nullptr;
}

namespace {

PJRT_Error* look_up(const PJRT_Client& client, int id, PJRT_Device*& device) {
  if (id < 0 || static_cast<size_t>(id) >= client.devices.size()) {
    return invalid("found device " + std::to_string(id) + " of " + std::to_string(client.devices.size()));
  }
  device = client.devices[id];
  return nullptr;
}

}  // namespace

PJRT_Error* Client_LookupDevice(PJRT_Client_LookupDevice_Args& args) {
  return look_up(*args.client, args.id, args.device);
}

PJRT_Error* Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args& args) {
  return look_up(*args.client, args.local_hardware_id, args.addressable_device);
}

PJRT_Error* Client_AddressableMemories(PJRT_Client_AddressableMemories_Args& args) {
  give(args.client->memories, args.addressable_memories, args.num_addressable_memories);
  return nullptr;
}

PJRT_Error* Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args& args) {
  const int64_t wanted = int64_t{args.num_replicas} * args.num_partitions;
  const auto devices = static_cast<int64_t>(args.client->devices.size());
  if (wanted < 1 || wanted > devices || static_cast<int64_t>(args.default_assignment_size) < wanted) {
    return invalid("found " + std::to_string(wanted) + " parts of a program, expected 1 to " + std::to_string(devices));
  }
  for (int64_t i = 0; i < wanted; ++i) args.default_assignment[i] = static_cast<int>(i);
  return nullptr;
}

}  // namespace lowtide::pjrt
