// A host of the plugin with eight threads: each compiles programs of its own, and all run one that they share, with
// donation, arrays that are dropped while runs are waiting, events, errors; clients end with runs in flight. Then four
// threads that carry arrays round three devices. By PJRT's interface alone.
//
//   pjrt_test LIBRARY [--control]     --control: a wrong value is expected, which must be noticed
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "abi_args.h"
#include "abi_layouts.h"
#include "protobuf.h"

namespace {

enum Slot : size_t {
#define PJRT_FUNCTION(name) kSlot_##name,
#define PJRT_ABSENT(name) kSlot_##name,
#include "functions.def"
#undef PJRT_FUNCTION
#undef PJRT_ABSENT
};

const PJRT_Api* api = nullptr;
std::atomic<int> faults = 0;

void fail(const std::string& why) {
  ++faults;
  std::fprintf(stderr, "%s\n", why.c_str());
}

/// The function of the slot, called by the type that it has there: sanitizers compare the two.
template <class Args>
PJRT_Error* answer_of(Slot slot, Args& args) {
  args.struct_size = sizeof args;
  return reinterpret_cast<PJRT_Error* (*)(Args*)>(api->functions[slot])(&args);
}

/// Its message, empty where there is none; it ends here.
std::string message_of(PJRT_Error* error) {
  if (!error) return {};
  PJRT_Error_Message_Args message = {};
  message.error = error;
  answer_of(kSlot_Error_Message, message);
  std::string text(message.message, message.message_size);
  PJRT_Error_Destroy_Args destroy = {};
  destroy.error = error;
  answer_of(kSlot_Error_Destroy, destroy);
  return text;
}

template <class Args>
std::string call(Slot slot, Args& args) {
  return message_of(answer_of(slot, args));
}

template <class Args>
Args must(Slot slot, Args args) {
  if (const std::string why = call(slot, args); !why.empty()) fail("slot " + std::to_string(slot) + ": " + why);
  return args;
}

#define CALL(name, ...)                  \
  must(kSlot_##name, [&] {               \
    PJRT_##name##_Args args = {};        \
    [&](auto& a) { __VA_ARGS__; }(args); \
    return args;                         \
  }())

constexpr PJRT_Buffer_Type kF32 = 11;

struct Host {
  PJRT_Client* client = nullptr;
  std::vector<PJRT_Device*> devices;
  explicit Host(int64_t count = 1) {
    PJRT_NamedValue options[2] = {};
    for (PJRT_NamedValue& option : options) {
      option.struct_size = sizeof option;
      option.name = "devices";
      option.name_size = 7;
      option.type = PJRT_NamedValue::kInt64;
      option.int64_value = count;
      option.value_size = 1;
    }
    options[1].name = "as_text";
    options[1].type = PJRT_NamedValue::kBool;
    options[1].bool_value = true;
    client = CALL(Client_Create, a.create_options = options; a.num_options = 2).client;
    const auto all = CALL(Client_Devices, a.client = client);
    devices.assign(all.devices, all.devices + all.num_devices);
    if (devices.size() != static_cast<size_t>(count)) fail("found " + std::to_string(devices.size()) + " devices");
  }
  ~Host() { CALL(Client_Destroy, a.client = client); }

  /// For one device.
  PJRT_LoadedExecutable* compile(const std::string& text, size_t device = 0, std::string_view form = "mlir") const {
    // CompileOptionsProto: build options of one replica, one partition, and this device.
    std::string options = "\x1a\x0f\x20\x01\x28\x01\x4a\x09\x08\x01\x10\x01\x1a\x03\x0a\x01";
    options += static_cast<char>(device);
    PJRT_Program program = {};
    program.struct_size = sizeof program;
    std::string code = text;
    program.code = code.data();
    program.code_size = code.size();
    program.format = form.data();
    program.format_size = form.size();
    const auto made = CALL(Client_Compile, a.client = client; a.program = &program; a.compile_options = options.data();
                           a.compile_options_size = options.size());
    return made.executable;
  }
  PJRT_Buffer* put(const std::vector<float>& values, size_t device = 0) const {
    const int64_t extent = static_cast<int64_t>(values.size());
    const auto made = CALL(Client_BufferFromHostBuffer, a.client = client; a.data = values.data(); a.type = kF32;
                           a.dims = &extent; a.num_dims = 1; a.device = devices[device]);
    CALL(Event_Destroy, a.event = made.done_with_host_buffer);
    return made.buffer;
  }
};

void destroy(PJRT_Buffer* buffer) { CALL(Buffer_Destroy, a.buffer = buffer); }

/// Its one result, and whether the run was told of.
PJRT_Buffer* run(PJRT_LoadedExecutable* executable, std::vector<PJRT_Buffer*> arguments, std::string* why = nullptr) {
  PJRT_Buffer* result = nullptr;
  PJRT_Buffer** results = &result;
  PJRT_Buffer* const* given = arguments.data();
  PJRT_Event* done = nullptr;
  PJRT_LoadedExecutable_Execute_Args args = {};
  args.executable = executable;
  args.argument_lists = &given;
  args.num_devices = 1;
  args.num_args = arguments.size();
  args.output_lists = &results;
  args.device_complete_events = &done;
  const std::string error = call(kSlot_LoadedExecutable_Execute, args);
  if (why) *why = error;
  if (!why && !error.empty()) fail("execute: " + error);
  if (done) CALL(Event_Destroy, a.event = done);  // before or after it has happened
  return result;
}

std::atomic<int> told = 0;

void tell(PJRT_Error* error, void*) {
  if (const std::string why = message_of(error); !why.empty()) fail("told of " + why);
  ++told;
}

void expect(PJRT_Buffer* buffer, size_t extent, float value) {
  std::vector<float> values(extent);
  const auto copy =
      CALL(Buffer_ToHostBuffer, a.src = buffer; a.dst = values.data(); a.dst_size = extent * sizeof(float));
  CALL(Event_Await, a.event = copy.event);
  CALL(Event_Destroy, a.event = copy.event);
  for (const float found : values) {
    if (found != value) return fail("found " + std::to_string(found) + ", expected " + std::to_string(value));
  }
}

/// x -> x + trips, made by as many trips, so that it takes time.
std::string adds(size_t extent, int trips, bool donates) {
  const std::string type = "tensor<" + std::to_string(extent) + "xf32>";
  return "module @adds {\n  func.func public @main(%x: " + type + (donates ? " {tf.aliasing_output = 0 : i32}" : "") +
         ") -> " + type +
         " {\n    %zero = stablehlo.constant dense<0> : tensor<i32>\n    %n = stablehlo.constant dense<" +
         std::to_string(trips) + "> : tensor<i32>\n    %one = stablehlo.constant dense<1> : tensor<i32>\n" +
         "    %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, " + type +
         "\n    cond {\n      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" +
         "      stablehlo.return %c : tensor<i1>\n    } do {\n      %j = stablehlo.add %i, %one : tensor<i32>\n" +
         "      %s = stablehlo.sine %a : " + type + "\n      %z = stablehlo.subtract %s, %s : " + type +
         "\n      %u = stablehlo.constant dense<1.0> : " + type + "\n      %b = stablehlo.add %a, %u : " + type +
         "\n      %d = stablehlo.add %b, %z : " + type + "\n      stablehlo.return %j, %d : tensor<i32>, " + type +
         "\n    }\n    return %r#1 : " + type + "\n  }\n}\n";
}

constexpr size_t kExtent = 20'000;
constexpr int kTrips = 40;

void work(const Host& host, PJRT_LoadedExecutable* shared, size_t number, float more) {
  const size_t extent = 1000 + 100 * number;
  PJRT_LoadedExecutable* const quick = host.compile(adds(extent, 1, number % 2 == 0));
  PJRT_LoadedExecutable* const slow = host.compile(adds(kExtent, kTrips + static_cast<int>(number), true));
  PJRT_Buffer* small = host.put(std::vector<float>(extent, 0));
  PJRT_Buffer* large = host.put(std::vector<float>(kExtent, 0));
  float expected = 0;
  constexpr int kRounds = 12;
  for (int round = 0; round < kRounds; ++round) {
    PJRT_Buffer* const next = run(quick, {small});
    destroy(small);
    small = next;
    PJRT_Buffer* const read = run(shared, {large});  // which the next one gives away
    PJRT_Buffer* const larger = run(slow, {large});
    std::string why;
    PJRT_Buffer* const none = run(slow, {large}, &why);
    if (none || why.find("deleted") == std::string::npos) fail("a donated array was taken: " + why);
    destroy(large);
    large = larger;
    const auto ready = CALL(Buffer_ReadyEvent, a.buffer = read);
    CALL(Event_OnReady, a.event = ready.event; a.callback = tell);
    CALL(Event_Destroy, a.event = ready.event);
    if (round % 3 == 0) {
      expect(read, kExtent, expected + kTrips);
    } else if (round % 3 == 1) {
      CALL(Buffer_Delete, a.buffer = read);
    }
    destroy(read);
    expected += kTrips + static_cast<float>(number);
  }
  expect(large, kExtent, expected + more);
  expect(small, extent, kRounds);
  destroy(small);
  destroy(large);
  for (PJRT_LoadedExecutable* executable : {quick, slow}) CALL(LoadedExecutable_Destroy, a.executable = executable);
}

/// An array that is carried from device to device: each runs a program over it, and gives it away once it was copied.
void carry(const Host& host, const std::vector<PJRT_LoadedExecutable*>& programs, size_t first, float more) {
  const size_t count = host.devices.size();
  constexpr int kHops = 9;
  PJRT_Buffer* array = host.put(std::vector<float>(kExtent, 0), first % count);
  for (size_t hop = first; hop < first + kHops; ++hop) {
    PJRT_Buffer* const made = run(programs[hop % count], {array});
    destroy(array);
    PJRT_Device* const next = host.devices[(hop + 1) % count];
    array = CALL(Buffer_CopyToDevice, a.buffer = made; a.dst_device = next).dst_buffer;  // which isn't there yet
    if (CALL(Buffer_Device, a.buffer = array).device != next) fail("a copy on another device");
    std::string why;
    if (run(programs[(hop + 1) % count], {made}, &why) || why.find("lies on device") == std::string::npos) {
      fail("an array of another device was taken: " + why);
    }
    destroy(run(programs[hop % count], {made}));
    destroy(made);
  }
  expect(array, kExtent, kHops * kTrips + more);
  destroy(array);
}

PJRT_Buffer_MemoryLayout ordered(const int64_t (&minor_to_major)[2]) {
  PJRT_Buffer_MemoryLayout layout = {};
  layout.type = PJRT_Buffer_MemoryLayout::kTiled;
  layout.tiled.minor_to_major = minor_to_major;
  layout.tiled.minor_to_major_size = 2;
  return layout;
}

PJRT_Buffer_MemoryLayout strided(const int64_t (&strides)[2]) {
  PJRT_Buffer_MemoryLayout layout = {};
  layout.type = PJRT_Buffer_MemoryLayout::kStrides;
  layout.strides.byte_strides = strides;
  layout.strides.num_byte_strides = 2;
  return layout;
}

/// x -> x + x as an HloModuleProto (xla/service/hlo.proto).
std::string doubles_as_protobuf(size_t extent) {
  using lowtide::pjrt::field, lowtide::pjrt::varint;
  const auto number = [](uint32_t number, uint64_t value) { return varint(number << 3) + varint(value); };
  const std::string shape = number(2, kF32) + number(3, extent) + field(5, number(1, 0));
  const std::string signature = field(1, shape) + field(2, shape) + field(3, "x");
  const auto instruction = [&](const char* name, const char* opcode, uint64_t id) {
    return field(1, name) + field(2, opcode) + field(3, shape) + number(35, id);
  };
  const std::string x = instruction("x", "parameter", 1);
  const std::string sum = instruction("sum", "add", 2) + number(36, 1) + number(36, 1);
  const std::string computation =
      field(1, "main") + field(2, x) + field(2, sum) + field(4, signature) + number(5, 7) + number(6, 2);
  return field(1, "doubles") + field(2, "main") + field(3, computation) + field(4, signature) + number(6, 7);
}

/// Programs as protobufs, as PyTorch/XLA passes them; what is given back compiles to the same.
void take_protobufs(const Host& host) {
  constexpr size_t kCount = 8;
  std::string form = "hlo", program = doubles_as_protobuf(kCount);
  PJRT_Buffer* const one = host.put(std::vector<float>(kCount, 1));
  for (int round = 0; round < 2; ++round) {
    PJRT_LoadedExecutable* const loaded = host.compile(program, 0, form);
    PJRT_Buffer* const two = run(loaded, {one});
    expect(two, kCount, 2);
    destroy(two);
    PJRT_Executable* const executable = CALL(LoadedExecutable_GetExecutable, a.loaded_executable = loaded).executable;
    PJRT_Program given = {};
    given.struct_size = sizeof given;
    CALL(Executable_OptimizedProgram, a.executable = executable; a.program = &given);
    std::string code(given.code_size, '\0');
    given.code = code.data();
    CALL(Executable_OptimizedProgram, a.executable = executable; a.program = &given);
    if (round > 0 && code != program) fail("a program was given back changed");
    form.assign(given.format, given.format_size);
    program = std::move(code);
    if (form != "hlo_with_config") fail("a program was given back as " + form);
    CALL(Executable_Destroy, a.executable = executable);
    CALL(LoadedExecutable_Destroy, a.executable = loaded);
  }
  // The second field, a configuration, has the program's shape, without which XLA doesn't read it.
  lowtide::pjrt::Fields fields(program);
  bool has_shape = false;
  while (fields.next()) has_shape |= fields.number == 2 && !fields.bytes.empty();
  if (!has_shape) fail("a program was given back without its shape");
  destroy(one);
}

constexpr int64_t kRowMajor[] = {1, 0};
const PJRT_Buffer_MemoryLayout kRows = ordered(kRowMajor);

/// In a host's layout, or else in the array's own.
template <class T>
std::vector<T> read(PJRT_Buffer* buffer, size_t extent, std::optional<PJRT_Buffer_MemoryLayout> layout = {}) {
  std::vector<T> values(extent);
  const auto copy = CALL(Buffer_ToHostBuffer, a.src = buffer; a.dst = values.data(); a.dst_size = extent * sizeof(T);
                         a.host_layout = layout ? &*layout : nullptr);
  CALL(Event_Await, a.event = copy.event);
  CALL(Event_Destroy, a.event = copy.event);
  return values;
}

/// Elements below a byte come with anything in their upper bits, and are read with their sign there.
void take_nibbles(const Host& host) {
  constexpr PJRT_Buffer_Type kS4 = 21, kU4 = 22;
  alignas(64) const uint8_t given[64] = {13, 253, 5, 0x85};
  const int64_t extent = sizeof given;
  for (const auto& [type, expected] : {std::pair(kS4, 253), std::pair(kU4, 13)}) {
    const auto made =
        CALL(Client_BufferFromHostBuffer, a.client = host.client; a.data = given; a.type = type; a.dims = &extent;
             a.num_dims = 1; a.device = host.devices[0]; a.host_buffer_semantics = kImmutableZeroCopy);
    CALL(Event_Destroy, a.event = made.done_with_host_buffer);
    const auto found = read<uint8_t>(made.buffer, sizeof given);
    if (found[0] != expected || found[1] != expected || found[2] != 5 || found[3] != 5) {
      fail("found " + std::to_string(found[0]) + ", expected " + std::to_string(expected));
    }
    destroy(made.buffer);
  }
}

/// Memory of another's: column after column it is used where it is, with gaps it is copied, and let go once. Of a call
/// that fails it stays the caller's.
void view_memory(const Host& host) {
  alignas(64) float columns[6] = {1, 4, 2, 5, 3, 6};
  const int64_t dims[] = {2, 3}, order[] = {0, 1};
  int let_go = 0;
  PJRT_Buffer_MemoryLayout layout = {};
  layout.type = PJRT_Buffer_MemoryLayout::kTiled;
  layout.tiled.minor_to_major = order;
  layout.tiled.minor_to_major_size = 2;
  PJRT_Client_CreateViewOfDeviceBuffer_Args args = {};
  args.client = host.client;
  args.device_buffer_ptr = columns;
  args.dims = dims;
  args.num_dims = 2;
  args.element_type = kF32;
  args.layout = &layout;
  args.device = host.devices[0];
  args.on_delete_callback = [](void*, void* count) { ++*static_cast<int*>(count); };
  args.on_delete_callback_arg = &let_go;
  const auto view = must(kSlot_Client_CreateViewOfDeviceBuffer, args);
  if (read<float>(view.buffer, 6, kRows) != std::vector<float>{1, 2, 3, 4, 5, 6}) fail("a view has others' elements");
  const auto place = CALL(Buffer_UnsafePointer, a.buffer = view.buffer).buffer_pointer;
  if (place != reinterpret_cast<uintptr_t>(columns)) fail("columns without gaps were copied");
  destroy(view.buffer);
  if (let_go != 1) fail("a view was let go " + std::to_string(let_go) + " times");
  const int64_t strides[] = {8, 4}, small[] = {3, 1};  // every second one
  PJRT_Buffer_MemoryLayout with_gaps = strided(strides);
  args.layout = &with_gaps;
  args.dims = small;
  const auto copied = must(kSlot_Client_CreateViewOfDeviceBuffer, args);
  if (read<float>(copied.buffer, 3) != std::vector<float>{1, 2, 3}) fail("a view with gaps has others' elements");
  if (let_go != 2) fail("memory that was copied wasn't let go");
  destroy(copied.buffer);
  args.layout = &layout;
  args.dims = dims;
  layout.tiled.minor_to_major_size = 1;
  if (call(kSlot_Client_CreateViewOfDeviceBuffer, args).empty()) fail("a layout of another rank was taken");
  if (let_go != 2) fail("memory of a call that failed was let go");
}

std::string text_of(PJRT_Layouts_MemoryLayout* layout) {
  const auto* extension = static_cast<const PJRT_Layouts_Extension*>(api->extension_start);
  PJRT_Layouts_MemoryLayout_Serialize_Args args = {};
  args.struct_size = sizeof args;
  args.layout = layout;
  using Serialize = PJRT_Error* (*)(PJRT_Layouts_MemoryLayout_Serialize_Args*);
  if (reinterpret_cast<Serialize>(extension->functions[1])(&args)) return "an error";
  return {args.serialized_bytes, args.serialized_bytes_size};
}

std::string layout_of(PJRT_Buffer* buffer) {
  const auto* extension = static_cast<const PJRT_Layouts_Extension*>(api->extension_start);
  PJRT_Layouts_Buffer_MemoryLayout_Args args = {};
  args.struct_size = sizeof args;
  args.buffer = buffer;
  using Ask = PJRT_Error* (*)(PJRT_Layouts_Buffer_MemoryLayout_Args*);
  if (reinterpret_cast<Ask>(extension->functions[3])(&args)) return "an error";
  const auto stated = CALL(Buffer_GetMemoryLayout, a.buffer = buffer).layout;
  const std::vector<int64_t> order(stated.tiled.minor_to_major,
                                   stated.tiled.minor_to_major + stated.tiled.minor_to_major_size);
  std::string same;
  for (const int64_t d : order) same += (same.empty() ? "" : ",") + std::to_string(d);
  const std::string text = text_of(args.layout);
  if (text != "{" + same + "}") fail("two layouts of one array: " + text + " and " + same);
  return text;
}

/// Arrays whose columns lie one after another: from the host and back, to another device, through programs.
void take_layouts(const Host& host) {
  const float rows[6] = {1, 2, 3, 4, 5, 6};
  const std::vector<float> by_row(rows, rows + 6), by_column = {1, 4, 2, 5, 3, 6};
  const int64_t dims[] = {2, 3}, across[] = {0, 1}, backward[] = {-12, 4}, dense[] = {4, 8}, gaps[] = {4, 16};
  PJRT_Buffer_MemoryLayout columns = ordered(across);
  PJRT_Client_BufferFromHostBuffer_Args put = {};
  put.client = host.client;
  put.data = rows;
  put.type = kF32;
  put.dims = dims;
  put.num_dims = 2;
  put.device = host.devices[0];
  put.device_layout = &columns;
  const auto given = must(kSlot_Client_BufferFromHostBuffer, put);
  CALL(Event_Destroy, a.event = given.done_with_host_buffer);
  PJRT_Buffer* const array = given.buffer;
  if (layout_of(array) != "{0,1}") fail("an array lies in the order " + layout_of(array));
  if (read<float>(array, 6) != by_column) fail("an array is read in another order than its own");
  if (read<float>(array, 6, kRows) != by_row) fail("rows are read in another order");
  const PJRT_Buffer_MemoryLayout also_columns = strided(dense);
  if (read<float>(array, 6, also_columns) != by_column) fail("strides are read in another order");
  // The last row first: the strides lead back from what is given.
  put.data = rows + 3;
  put.byte_strides = backward;
  put.num_byte_strides = 2;
  const auto turned = must(kSlot_Client_BufferFromHostBuffer, put);
  CALL(Event_Destroy, a.event = turned.done_with_host_buffer);
  if (read<float>(turned.buffer, 6, kRows) != std::vector<float>{4, 5, 6, 1, 2, 3}) fail("rows weren't turned round");
  destroy(turned.buffer);
  PJRT_Buffer* const copy = CALL(Buffer_CopyToDevice, a.buffer = array; a.dst_device = host.devices[0]).dst_buffer;
  if (layout_of(copy) != "{0,1}" || read<float>(copy, 6, kRows) != by_row) fail("a copy lies elsewhere");
  destroy(copy);
  const auto empty = CALL(Client_CreateUninitializedBuffer, a.client = host.client; a.shape_dims = dims;
                          a.shape_num_dims = 2; a.shape_element_type = kF32; a.shape_layout = &columns);
  if (layout_of(empty.buffer) != "{0,1}") fail("an empty array lies in the order " + layout_of(empty.buffer));
  destroy(empty.buffer);

  const auto refuse = [&](PJRT_Buffer_MemoryLayout layout, const char* word) {
    put.device_layout = &layout;
    const std::string why = call(kSlot_Client_BufferFromHostBuffer, put);
    if (why.find(word) == std::string::npos) fail("a layout was refused by '" + why + "', expected " + word);
  };
  const int64_t tile[] = {2}, twice[] = {1, 1}, one[] = {0};
  const size_t tile_rank[] = {1};
  PJRT_Buffer_MemoryLayout tiled = columns;
  tiled.tiled.tile_dims = tile;
  tiled.tiled.tile_dim_sizes = tile_rank;
  tiled.tiled.num_tiles = 1;
  refuse(tiled, "tiles");
  refuse(strided(gaps), "gaps");
  refuse(ordered(twice), "once");
  PJRT_Buffer_MemoryLayout short_one = ordered(across);
  short_one.tiled.minor_to_major = one;
  short_one.tiled.minor_to_major_size = 1;
  refuse(short_one, "once");

  const auto doubles = [](const std::string& in, const std::string& out) {
    return "module @doubles {\n  func.func public @main(%x: tensor<2x3xf32>" + in + ") -> (tensor<2x3xf32>" + out +
           ") {\n    %r = stablehlo.add %x, %x : tensor<2x3xf32>\n    return %r : tensor<2x3xf32>\n  }\n}\n";
  };
  const std::string said = " {mhlo.layout_mode = \"{0,1}\"}";
  const std::vector<float> twofold = {2, 4, 6, 8, 10, 12};
  PJRT_LoadedExecutable* const rows_only = host.compile(doubles("", ""));
  std::string why;
  if (run(rows_only, {array}, &why) || why.find("{0,1}") == std::string::npos)
    fail("columns were taken as rows: " + why);
  for (const bool out : {false, true}) {
    PJRT_LoadedExecutable* const program = host.compile(doubles(said, out ? said : ""));
    PJRT_Buffer* const result = run(program, {array});
    if (layout_of(result) != (out ? "{0,1}" : "{1,0}")) fail("a result lies in the order " + layout_of(result));
    if (read<float>(result, 6, kRows) != twofold) fail("a result has other elements");
    destroy(result);
    CALL(LoadedExecutable_Destroy, a.executable = program);
  }
  CALL(LoadedExecutable_Destroy, a.executable = rows_only);
  destroy(array);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return std::fprintf(stderr, "pjrt_test LIBRARY [--control]\n"), 2;
  const bool control = count > 2 && std::strcmp(words[2], "--control") == 0;
  ::setenv("LOWTIDE_CACHE", "off", 1);
  void* const library = ::dlopen(words[1], RTLD_NOW);
  if (!library) return std::fprintf(stderr, "%s\n", ::dlerror()), 2;
  api = reinterpret_cast<const PJRT_Api* (*)()>(::dlsym(library, "GetPjrtApi"))();
  CALL(Plugin_Initialize, (void)a);
  constexpr size_t kThreads = 8;
  {
    const Host host;
    PJRT_LoadedExecutable* const shared = host.compile(adds(kExtent, kTrips, false));
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { work(host, shared, t, control ? 1 : 0); });
    for (std::thread& thread : threads) thread.join();
    CALL(LoadedExecutable_Destroy, a.executable = shared);
    take_protobufs(host);
    take_nibbles(host);
    view_memory(host);
    take_layouts(host);
  }
  constexpr int kTold = 8 * 12;
  if (told != kTold) fail("told of " + std::to_string(told) + " runs, expected " + std::to_string(kTold));
  // A client that ends while runs are waiting: whoever waits is told so, and their arrays go afterwards.
  std::vector<PJRT_Event*> waited;
  std::vector<PJRT_Buffer*> left;
  {
    const Host host;
    PJRT_LoadedExecutable* const slow = host.compile(adds(kExtent, kTrips * kTrips, false));
    PJRT_Buffer* const start = host.put(std::vector<float>(kExtent, 0));
    for (int i = 0; i < 6; ++i) {
      left.push_back(run(slow, {i == 0 ? start : left.back()}));
      waited.push_back(CALL(Buffer_ReadyEvent, a.buffer = left.back()).event);
    }
    left.push_back(start);
    CALL(LoadedExecutable_Destroy, a.executable = slow);
  }
  for (PJRT_Event* event : waited) {
    PJRT_Event_Await_Args wait = {};
    wait.event = event;
    const std::string why = call(kSlot_Event_Await, wait);
    if (!why.empty() && why.find("ended") == std::string::npos) fail("a run that nobody began: " + why);
    CALL(Event_Destroy, a.event = event);
  }
  for (PJRT_Buffer* buffer : left) destroy(buffer);
  {
    const Host host(3);
    std::vector<PJRT_LoadedExecutable*> programs;
    for (size_t d = 0; d < host.devices.size(); ++d) programs.push_back(host.compile(adds(kExtent, kTrips, true), d));
    std::vector<std::thread> threads;
    constexpr size_t kCarriers = 4;
    for (size_t t = 0; t < kCarriers; ++t) {
      threads.emplace_back([&, t] { carry(host, programs, t, control && t == 0 ? 1 : 0); });
    }
    for (std::thread& thread : threads) thread.join();
    // Copies that wait for each other when the client ends.
    left = {host.put(std::vector<float>(kExtent, 0))};
    for (size_t hop = 0; hop < kTrips; ++hop) {
      left.push_back(run(programs[hop % 3], {left.back()}));
      PJRT_Device* const next = host.devices[(hop + 1) % 3];
      left.push_back(CALL(Buffer_CopyToDevice, a.buffer = left.back(); a.dst_device = next).dst_buffer);
    }
    for (PJRT_LoadedExecutable* executable : programs) CALL(LoadedExecutable_Destroy, a.executable = executable);
  }
  for (PJRT_Buffer* buffer : left) destroy(buffer);
  if (control) return std::printf("noticed: %d\n", faults.load()), faults == kThreads + 1 ? 0 : 1;
  return std::printf("%d faults\n", faults.load()), faults == 0 ? 0 : 1;
}
