// Arrays of other libraries by DLPack; streams, events, and threads with streams of their own.
#include <atomic>
#include <chrono>
#include <thread>

#include "support.h"

namespace lowtide {
namespace {

TEST(ArraysElements, AreCopiedAsAnotherType) {
  double from[] = {1.5, -2.0, 1e300, 0.1, 7.0, 3.25};
  const array same(from, float64, {2, 3}, float64), whole(from, float64, {6}, int8);
  from[0] = 0;  // a copy doesn't see it
  EXPECT_EQ(same.data<double>()[0], 1.5);
  EXPECT_EQ(same.data<double>()[3], 0.1);
  EXPECT_EQ(same.shape(), (Shape{2, 3}));
  const int8_t expected[] = {1, -2, 127, 0, 7, 3};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(whole.data<int8_t>()[i], expected[i]) << i;
  EXPECT_EQ(array(nullptr, float32, {0, 3}, float32).size(), 0U);
  EXPECT_THROW(array(from, float64, {-1}, float64), std::invalid_argument);
}

TEST(ArraysDlpack, NothingIsCopied) {
  for (const array& a : {random::normal({3, 4}, random::key(1)), astype(arange(7), bfloat16), array({true, false}),
                         array(complex64_t(1, 2)), zeros({0, 2}), astype(arange(5), uint8)}) {
    dlpack::ManagedTensor* const tensor = to_dlpack(a);
    EXPECT_EQ(tensor->tensor.ndim, static_cast<int32_t>(a.ndim()));
    EXPECT_EQ(tensor->tensor.dtype.bits, 8 * a.itemsize());
    const void* const data = tensor->tensor.data;
    const array b = from_dlpack(tensor);
    EXPECT_EQ(b.dtype(), a.dtype());
    EXPECT_TRUE(array_equal(a, b).item<bool>());
    dlpack::VersionedTensor* const again = to_dlpack_versioned(b);
    EXPECT_EQ(again->tensor.data, data);
    EXPECT_EQ(again->flags, 1U);
    again->deleter(again);
  }
  dlpack::ManagedTensor* const other = to_dlpack(copy(arange(4)));  // the control: other elements lie elsewhere
  const array mine = arange(4);
  dlpack::ManagedTensor* const tensor = to_dlpack(mine);
  EXPECT_NE(other->tensor.data, tensor->tensor.data);
  other->deleter(other);
  tensor->deleter(tensor);
}

/// A tensor of somebody else's, which counts how often it was deleted.
struct Foreign {
  float elements[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  int64_t shape[2] = {3, 2}, strides[2] = {1, 6};
  dlpack::ManagedTensor managed;
  int deleted = 0;
  Foreign() {
    managed.tensor = {elements, {}, 2, {2, 32, 1}, shape, strides, 4};
    managed.manager_ctx = this;
    managed.deleter = [](dlpack::ManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
  }
};

TEST(ArraysDlpack, OtherOrdersAreViews) {
  Foreign foreign;
  {
    const array a = from_dlpack(&foreign.managed);
    EXPECT_EQ(a.shape(), (Shape{3, 2}));
    expect_near(a * 2.0F, {2, 14, 4, 16, 6, 18});
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(foreign.elements[1], 1.0F);  // nobody wrote there
  foreign.managed.tensor.strides = nullptr;
  foreign.managed.tensor.byte_offset = 0;
  {
    array a = from_dlpack(&foreign.managed);
    EXPECT_EQ(a.data<float>(), foreign.elements);
    a = a + 1.0F;  // its last reader, which still doesn't get its memory
    expect_near(a, {1, 2, 3, 4, 5, 6});
  }
  EXPECT_EQ(foreign.deleted, 2);
  EXPECT_EQ(foreign.elements[0], 0.0F);
}

TEST(ArraysDlpack, FaultsLeaveTheTensor) {
  Foreign foreign;
  foreign.managed.tensor.device.type = 2;
  EXPECT_EQ(fault_of([&] { from_dlpack(&foreign.managed); }),
            "from_dlpack: found a tensor of device type 2, expected memory of the processor");
  foreign.managed.tensor.device.type = 1;
  foreign.managed.tensor.dtype = {3, 64, 1};
  EXPECT_EQ(fault_of([&] { from_dlpack(&foreign.managed); }),
            "from_dlpack: found elements of type code 3 with 64 bits and 1 lanes, which arrays lack");
  foreign.managed.tensor.dtype = {2, 32, 1};
  foreign.strides[0] = -1;
  EXPECT_EQ(fault_of([&] { from_dlpack(&foreign.managed); }),
            "from_dlpack: found a stride of -1, expected none below 0");
  EXPECT_EQ(fault_of([&] { from_dlpack(static_cast<dlpack::ManagedTensor*>(nullptr)); }),
            "from_dlpack: found no tensor");
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(ArraysStreams, EventsArePointsOfStreams) {
  const Stream one = new_stream(), two = new_stream();
  EXPECT_NE(one, two);
  std::atomic<bool> go = false;
  std::atomic<int> done = 0;
  StreamEvent begun, middle, after;
  enqueue(
      [&] {
        while (!go) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++done;
      },
      one);
  middle.record(one);
  middle.wait(two);  // what comes there now is after it
  enqueue([&] { EXPECT_EQ(done++, 1); }, two);
  after.record(two);
  EXPECT_FALSE(middle.query());
  EXPECT_FALSE(after.query());
  begun.record(new_stream());  // the control: another stream waits for nobody
  begun.wait();
  EXPECT_TRUE(begun.query());
  EXPECT_EQ(done, 0);
  go = true;
  after.wait();
  EXPECT_TRUE(middle.query());
  EXPECT_EQ(done, 2);
  EXPECT_GT(begun.elapsed(after), 0.02);
  EXPECT_LT(after.elapsed(begun), 0);
  EXPECT_NE(fault_of([] { StreamEvent().wait(); }).find("never recorded"), std::string::npos);
}

TEST(ArraysStreams, ExceptionsReachWhoWaits) {
  const Stream stream = new_stream(), other = new_stream();
  const auto fails = [] { throw std::runtime_error("it broke"); };
  enqueue(fails, stream);
  StreamEvent event, next, elsewhere;
  event.record(stream);
  event.wait(other);
  elsewhere.record(other);
  next.record(stream);
  EXPECT_EQ(fault_of([&] { event.wait(); }), "it broke");
  EXPECT_EQ(fault_of([&] { elsewhere.wait(); }), "it broke");
  EXPECT_EQ(fault_of([&] { next.wait(); }), "");  // the control: told once
  enqueue(fails, stream);
  EXPECT_EQ(fault_of([&] { synchronize(stream); }), "it broke");
  EXPECT_EQ(fault_of([&] { synchronize(stream); }), "");
}

TEST(ArraysStreams, EvaluationsTakeTheirTurn) {
  const Stream stream = new_stream();
  std::atomic<bool> go = false;
  enqueue(
      [&] {
        while (!go) std::this_thread::yield();
      },
      stream);
  array a = add(ones({64}), array(2.0F), stream);
  async_eval(a);
  StreamEvent event;
  event.record(stream);
  EXPECT_FALSE(a.is_available());
  EXPECT_FALSE(event.query());
  go = true;
  event.wait();
  EXPECT_TRUE(a.is_available());
  EXPECT_EQ(sum(a).item<float>(), 192.0F);
}

TEST(ArraysStreams, EightThreadsHaveStreamsOfTheirOwn) {
  const array shared = random::normal({32, 32}, random::key(1)), lazily = matmul(shared, shared);
  array standing = shared;
  standing.eval();
  const double expected = sum(matmul(lazily, shared)).item<float>();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      set_default_stream(new_stream());
      for (int round = 0; round < 6; ++round) {
        array product = matmul(lazily, standing);  // of which one part several threads may compute
        const array own = random::normal({16 + t, 8}, random::key(static_cast<uint64_t>(t)));
        array slope = grad(OneToOne([&](const array& x) { return sum(x * x * sum(own)); }))(own);
        async_eval(product, slope);
        StreamEvent event;
        event.record();
        event.wait();
        const bool fits = std::fabs(sum(product).item<float>() - expected) < 1e-2 * (1 + std::fabs(expected)) &&
                          std::isfinite(sum(slope).item<float>());
        right += fits;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 48);
  EXPECT_GT(std::fabs(sum(matmul(shared, shared)).item<float>() - expected), 1e-2);  // the control
}

}  // namespace
}  // namespace lowtide
