// The devices as a description independent of the client; the client owns it nevertheless.
#include <functional>

#include "client.h"
#include "functions.h"

namespace lowtide::pjrt {

PJRT_Error* Client_TopologyDescription(PJRT_Client_TopologyDescription_Args& args) {
  args.topology = &args.client->topology;
  return nullptr;
}

PJRT_Error* TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args&) { return nullptr; }

PJRT_Error* TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args& args) {
  give(args.topology->client->platform_name, args.platform_name, args.platform_name_size);
  return nullptr;
}

PJRT_Error* TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args& args) {
  give(args.topology->client->platform_version, args.platform_version, args.platform_version_size);
  return nullptr;
}

PJRT_Error* TopologyDescription_GetDeviceDescriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args& args) {
  give(args.topology->devices, args.descriptions, args.num_descriptions);
  return nullptr;
}

PJRT_Error* TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
  return nullptr;
}

PJRT_Error* TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args& args) {
  give(args.topology->client->platform_version, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_topology = nullptr;
  args.serialized_topology_deleter = [](void*) {};
  return nullptr;
}

PJRT_Error* TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args& args) {
  args.fingerprint = std::hash<std::string>()(args.topology->client->platform_version) ^ args.topology->devices.size();
  return nullptr;
}

}  // namespace lowtide::pjrt
