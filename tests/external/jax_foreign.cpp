// Handlers of foreign functions for jax_foreign.py, written as users write theirs: against the header that jaxlib
// brings.
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

ffi::Error normalise(float epsilon, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  const auto dims = x.dimensions();
  if (dims.size() == 0) return ffi::Error::InvalidArgument("normalise takes an array, and was given a number");
  const int64_t width = dims.back();
  for (int64_t i = 0; i < static_cast<int64_t>(x.element_count()); i += width) {
    float sum = 0;
    for (int64_t j = 0; j < width; ++j) sum += x.typed_data()[i + j] * x.typed_data()[i + j];
    const float scale = 1.0f / std::sqrt(sum / static_cast<float>(width) + epsilon);
    for (int64_t j = 0; j < width; ++j) y->typed_data()[i + j] = scale * x.typed_data()[i + j];
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Normalise, normalise,
    ffi::Ffi::Bind().Attr<float>("eps").Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

/// What attributes hold, as numbers.
ffi::Error attributes(int8_t a, uint8_t b, int16_t c, int32_t d, int64_t e, uint64_t f, float g, double h, bool i,
                      std::string_view name, ffi::Span<const int32_t> numbers, ffi::Span<const double> reals,
                      ffi::Dictionary inner, ffi::ResultBuffer<ffi::F64> y) {
  double* to = y->typed_data();
  for (const double value :
       {static_cast<double>(a), static_cast<double>(b), static_cast<double>(c), static_cast<double>(d),
        static_cast<double>(e), static_cast<double>(f >> 32), static_cast<double>(g), h, static_cast<double>(i)}) {
    *to++ = value;
  }
  *to++ = static_cast<double>(name.size());
  *to++ = name.empty() ? 0 : static_cast<double>(name[2]);
  *to++ = static_cast<double>(numbers.size());
  for (const int32_t n : numbers) *to++ = n;
  for (const double r : reals) *to++ = r;
  const auto x = inner.get<float>("x");
  const auto word = inner.get<std::string_view>("word");
  if (!x.has_value() || !word.has_value()) return ffi::Error::Internal("the inner dictionary lacks x or word");
  *to++ = *x;
  *to++ = static_cast<double>(word->size());
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Attributes, attributes,
                              ffi::Ffi::Bind()
                                  .Attr<int8_t>("a")
                                  .Attr<uint8_t>("b")
                                  .Attr<int16_t>("c")
                                  .Attr<int32_t>("d")
                                  .Attr<int64_t>("e")
                                  .Attr<uint64_t>("f")
                                  .Attr<float>("g")
                                  .Attr<double>("h")
                                  .Attr<bool>("i")
                                  .Attr<std::string_view>("name")
                                  .Attr<ffi::Span<const int32_t>>("numbers")
                                  .Attr<ffi::Span<const double>>("reals")
                                  .Attr<ffi::Dictionary>("inner")
                                  .Ret<ffi::Buffer<ffi::F64>>());

/// Any arrays: the first byte of each, their types' numbers and ranks; each result is filled with its number.
ffi::Error any(ffi::RemainingArgs arguments, ffi::RemainingRets results) {
  auto first = results.get<ffi::AnyBuffer>(0);
  if (!first.has_value()) return first.error();
  int32_t* to = static_cast<int32_t*>((*first)->untyped_data());
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto x = arguments.get<ffi::AnyBuffer>(i);
    if (!x.has_value()) return x.error();
    *to++ = static_cast<int32_t>(x->element_type());
    *to++ = static_cast<int32_t>(x->dimensions().size());
    *to++ = x->size_bytes() > 0 ? *static_cast<const uint8_t*>(x->untyped_data()) : -1;
  }
  for (size_t i = 1; i < results.size(); ++i) {
    auto y = results.get<ffi::AnyBuffer>(i);
    if (!y.has_value()) return y.error();
    std::memset((*y)->untyped_data(), static_cast<int>(i), (*y)->size_bytes());
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Any, any, ffi::Ffi::Bind().RemainingArgs().RemainingRets());

/// Adds to the first element of what lies in the result, which shares the operand's memory.
ffi::Error add_in_place(ffi::Buffer<ffi::F32>, ffi::ResultBuffer<ffi::F32> y) {
  y->typed_data()[0] += 10;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(AddInPlace, add_in_place,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

std::atomic<int64_t> effects = 0;
extern "C" int64_t effects_so_far() { return effects.load(); }
ffi::Error effect(ffi::Buffer<ffi::F32> x) {
  effects += static_cast<int64_t>(x.typed_data()[0]);
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Effect, effect, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>());

struct Counter {
  static ffi::TypeId id;
  static ffi::TypeInfo info;
  int64_t step = 0;
  std::atomic<int64_t> calls = 0;
};
ffi::TypeId Counter::id = {};
ffi::TypeInfo Counter::info = ffi::MakeTypeInfo<Counter>();
extern "C" XLA_FFI_TypeId* counter_id() { return &Counter::id; }
extern "C" XLA_FFI_TypeInfo* counter_info() { return &Counter::info; }

ffi::ErrorOr<std::unique_ptr<Counter>> make_counter(int64_t step) {
  auto made = std::make_unique<Counter>();
  made->step = step;
  return ffi::ErrorOr<std::unique_ptr<Counter>>(std::move(made));
}
ffi::Error count(Counter* counter, int64_t, ffi::ResultBuffer<ffi::S32> y) {
  y->typed_data()[0] = static_cast<int32_t>(counter->step * ++counter->calls);
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(CountInstantiate, make_counter, ffi::Ffi::BindInstantiate().Attr<int64_t>("step"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    CountExecute, count,
    ffi::Ffi::Bind().Ctx<ffi::State<Counter>>().Attr<int64_t>("step").Ret<ffi::Buffer<ffi::S32>>());

/// Shares its elements with tasks of the pool, which wait for each other.
ffi::Error in_tasks(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  const int64_t tasks = 2, n = static_cast<int64_t>(x.element_count());
  if (pool.num_threads() < 1) return ffi::Error::Internal("a pool without threads");
  std::mutex mutex;
  std::condition_variable changed;
  int64_t arrived = 0, done = 0;
  for (int64_t t = 0; t < tasks; ++t) {
    pool.Schedule([&, t] {
      std::unique_lock lock(mutex);
      ++arrived;
      changed.notify_all();
      changed.wait(lock, [&] { return arrived == tasks; });
      lock.unlock();
      for (int64_t i = t; i < n; i += tasks) y->typed_data()[i] = 2 * x.typed_data()[n - 1 - i];
      lock.lock();
      ++done;
      changed.notify_all();
    });
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done == tasks; });
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    InTasks, in_tasks,
    ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

/// By way of scratch memory, which XLA:CPU doesn't give.
ffi::Error by_scratch(ffi::ScratchAllocator scratch, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  const auto kept = scratch.Allocate(x.size_bytes(), 128);
  if (!kept.has_value() || reinterpret_cast<uintptr_t>(*kept) % 128 != 0)
    return ffi::Error::Internal("no scratch memory");
  std::memcpy(*kept, x.typed_data(), x.size_bytes());
  std::memcpy(y->typed_data(), *kept, x.size_bytes());
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    ByScratch, by_scratch,
    ffi::Ffi::Bind().Ctx<ffi::ScratchAllocator>().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

/// Goes on after it has returned, and fails if it is asked to.
ffi::Future later(bool fails, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  auto promise = std::make_shared<ffi::Promise>();
  ffi::Future future(*promise);
  std::thread([=, from = x.typed_data(), to = y->typed_data(), n = x.element_count()]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (size_t i = 0; i < n; ++i) to[i] = -from[i];
    if (fails) {
      promise->SetError(ffi::Error::Internal("it failed later"));
    } else {
      promise->SetAvailable();
    }
  }).detach();
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Later, later, ffi::Ffi::Bind().Attr<bool>("fails").Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
