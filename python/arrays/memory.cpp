// Memory use and limits, plans, streams and files.
#include "lowtide/memory.h"

#include "bind.h"
#include "lowtide/io.h"
#include "lowtide/transforms.h"

namespace lowtide::python {
namespace {

/// The library represents no limit by SIZE_MAX.
std::optional<size_t> limit_of(size_t bytes) { return bytes == SIZE_MAX ? std::nullopt : std::optional(bytes); }

int64_t floor_of(const Plan& plan) {
  const Result<LowerBound> floor = plan.floor_of_any();
  if (!floor.ok()) throw std::runtime_error(floor.error().message);
  return floor->bytes;
}

std::string text_of(const Plan& plan) {
  return "Plan(peak=" + std::to_string(plan.peak_bytes()) + ", floor=" + std::to_string(floor_of(plan)) +
         ", kernels=" + std::to_string(plan.kernels()) + ")";
}

}  // namespace

void bind_memory(nb::module_& m) {
  m.def("get_active_memory", &get_active_memory, "Bytes of arrays that stand.");
  m.def("get_peak_memory", &get_peak_memory, "The most since the process began, or since reset_peak_memory().");
  m.def("reset_peak_memory", &reset_peak_memory, "To 0.");
  m.def("get_cache_memory", &get_cache_memory, "Bytes that no array has, kept for the next one.");
  m.def("get_memory_limit", [] { return limit_of(get_memory_limit()); }, "Bytes, or None.");
  m.def(
      "set_memory_limit",
      [](std::optional<size_t> bytes) { return limit_of(set_memory_limit(bytes.value_or(SIZE_MAX))); },
      "bytes"_a.none(),
      "A hard one: what doesn't fit is planned again, or is a LimitError. Gives the one before; None: no limit.");
  m.def("set_cache_limit", &set_cache_limit, "bytes"_a, "Gives the limit before.");
  m.def("set_wired_limit", &set_wired_limit, "bytes"_a,
        "Kept, and gives the one before; pages stay where the system has them.");
  m.def("get_array_buffer_size", &get_array_buffer_size, "arrays"_a,
        "Bytes that lie under evaluated arrays, of several on the same ones once.");
  m.def("clear_cache", &clear_cache, "Gives back what is kept.");
  m.def(
      "memory_stats",
      [] {
        const MemoryStats s = memory_stats();
        return std::unordered_map<std::string, int64_t>{{"bytes_in_use", s.bytes_in_use},
                                                        {"peak_bytes_in_use", s.peak_bytes_in_use},
                                                        {"largest_alloc_size", s.largest_alloc_size},
                                                        {"num_allocs", s.num_allocs},
                                                        {"bytes_limit", s.bytes_limit},
                                                        {"bytes_reserved", s.bytes_reserved}};
      },
      "Counts by the names that JAX's devices have for them; no limit is 0.");
  m.def(
      "plan_stats",
      [] {
        const PlanStats s = plan_stats();
        return std::unordered_map<std::string, int64_t>{{"made", s.made}, {"found", s.found}, {"kernels", s.kernels}};
      },
      "How often a graph was planned, how often a plan was found again, and how many kernels were compiled.");
  m.def(
      "use",
      [](const std::optional<std::string>& cache_directory, int threads) {
        Options options{.kernels_of_any_shape = true};
        if (cache_directory) options.cache_directory = *cache_directory;
        options.threads = threads;
        unlocked([&] {
          const Result<Session> opened = Session::open(options);
          if (!opened.ok()) throw std::invalid_argument(opened.error().message);
          use(*opened);
          return 0;
        });
      },
      nb::kw_only(), "cache_directory"_a = nb::none(), "threads"_a = 0,
      "The session that runs from now on: kernels are kept in a folder; so many threads, 0: one per core.");
  nb::class_<Plan>(m, "Plan", "What evaluating a function would take.")
      .def_prop_ro("peak", &Plan::peak_bytes, "Bytes: arguments, results and the arena.")
      .def_prop_ro("floor", &floor_of, "Bytes: no order of the operations, and no executor, needs less.")
      .def_prop_ro(
          "arguments", [](const Plan& p) { return p.sizes().arguments; }, "Bytes.")
      .def_prop_ro(
          "results", [](const Plan& p) { return p.sizes().outputs; }, "Bytes.")
      .def_prop_ro(
          "arena", [](const Plan& p) { return p.sizes().temp; }, "Bytes of what is stored beside them.")
      .def_prop_ro("kernels", &Plan::kernels)
      .def_prop_ro("modelled_seconds", &Plan::modelled_seconds)
      .def_prop_ro("text", &Plan::text, "As `lowtide run` reads it.")
      .def_prop_ro(
          "buffers",
          [](const Plan& p) {
            std::vector<std::tuple<std::string, int64_t, int64_t>> rows;
            for (const Buffer& b : p.buffers()) rows.emplace_back(b.value, b.bytes, b.offset);
            return rows;
          },
          "(value, bytes, offset) of each part of the arena.")
      .def("__repr__", &text_of);
  const nb::call_guard<nb::gil_scoped_release> free;
  m.def(
      "plan_of", [](const ManyToMany& f, const std::vector<array>& x) { return plan(f, x); }, "fun"_a, "arguments"_a,
      free);
  m.def(
      "limited", [](const ManyToMany& f, size_t bytes, const std::vector<array>& x) { return limit(f, bytes)(x); },
      "fun"_a, "bytes"_a, "arguments"_a, free);
}

void bind_streams(nb::module_& m) {
  nb::class_<Stream>(m, "Stream", "What is evaluated on one is evaluated one after another.")
      .def_ro("index", &Stream::index)
      .def(
          "__eq__", [](const Stream& a, const Stream& b) { return a == b; }, nb::is_operator())
      .def("__hash__", [](const Stream& s) { return s.index; })
      .def("__repr__", [](const Stream& s) { return "Stream(" + std::to_string(s.index) + ")"; });
  m.def("new_stream", [] { return new_stream(); });
  m.def("default_stream", [] { return default_stream(); }, "Of this thread.");
  m.def("set_default_stream", &set_default_stream, "stream"_a, "Of this thread.");
  m.def(
      "synchronize",
      [](const std::optional<Stream>& stream) {
        unlocked([&] {
          if (stream)
            synchronize(*stream);
          else
            synchronize();
          return 0;
        });
      },
      "stream"_a = nb::none(), "Until all that was handed to the stream, or to any, is done.");
}

void bind_files(nb::module_& m) {
  m.def("load_npy", [](const std::string& file) { return unlocked([&] { return load(file); }); }, "file"_a);
  m.def(
      "save_npy",
      [](const std::string& file, const array& a) {
        unlocked([&] {
          save(file, a);
          return 0;
        });
      },
      "file"_a, "a"_a);
  m.def(
      "load_safetensors", [](const std::string& file) { return unlocked([&] { return load_safetensors(file); }); },
      "file"_a, "(arrays by name, metadata) of a safetensors file, or of NumPy's .npz.");
  m.def(
      "save_safetensors",
      [](const std::string& file, const std::unordered_map<std::string, array>& arrays,
         const std::unordered_map<std::string, std::string>& metadata) {
        unlocked([&] {
          save_safetensors(file, arrays, metadata);
          return 0;
        });
      },
      "file"_a, "arrays"_a, "metadata"_a = std::unordered_map<std::string, std::string>{},
      "Appears whole, or not at all.");
}

}  // namespace lowtide::python
