#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include "base/denormals.h"

namespace lowtide::engine {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t tasks : {0, 1, 2, 7, 1000}) {
      std::vector<int> runs(static_cast<size_t>(tasks), 0);
      std::atomic<bool> numbered = true;
      pool.run(tasks, [&](int64_t task, int thread) {
        ++runs[task];
        if (thread < 0 || thread >= threads) numbered = false;
      });
      EXPECT_EQ(runs, std::vector<int>(static_cast<size_t>(tasks), 1));
      EXPECT_TRUE(numbered);
    }
  }
}

TEST(ThreadPool, OneRunSeesWhatTheLastOneWrote) {
  ThreadPool pool(3);
  std::vector<int64_t> values(64, 1);
  for (int round = 0; round < 5000; ++round) {
    const std::vector<int64_t> before = values;
    pool.run(64, [&](int64_t task, int) {
      const auto i = static_cast<size_t>(task);
      values[i] = (before[i] + before[(i + 1) % 64]) % 1009;
    });
    for (size_t i = 0; i < 64; ++i) ASSERT_EQ(values[i], (before[i] + before[(i + 1) % 64]) % 1009);
  }
}

TEST(ThreadPool, ATaskMayRunTasks) {
  ThreadPool pool(3);
  std::atomic<int> sum = 0;
  pool.run(10, [&](int64_t, int thread) {
    pool.run(10, [&](int64_t task, int inner) {
      EXPECT_EQ(inner, thread);
      sum += static_cast<int>(task);
    });
  });
  EXPECT_EQ(sum, 450);
}

TEST(ThreadPool, SeveralThreadsMayCall) {
  ThreadPool pool(2);
  std::atomic<int> sum = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) pool.run(5, [&](int64_t, int) { ++sum; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 3000);
}

/// A thread that wakes up for the last job meets the end of the pool: one in a thousand did, and slept on.
TEST(ThreadPool, ThreadsThatComeLateEnd) {
  for (int k = 0; k < 10'000; ++k) {
    ThreadPool pool(3);
    std::atomic<int> ran{0};
    for (int job = 0; job <= k % 3; ++job) pool.run(2, [&](int64_t, int) { ++ran; });
    ASSERT_EQ(ran, 2 * (1 + k % 3));
  }
}

/// Memory may end in any task: the caller hears of it, once, and the pool goes on.
TEST(ThreadPool, WhatATaskThrowsTheCallerHears) {
  ThreadPool pool(3);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> ran{0};
    const auto throws = [&](int64_t i, int) {
      ++ran;
      if (i % 3 == 1) throw std::bad_alloc();
    };
    EXPECT_THROW(pool.run(1000, throws), std::bad_alloc);
    EXPECT_GE(ran, 2);
    ran = 0;
    pool.run(1000, [&](int64_t, int) { ++ran; });
    EXPECT_EQ(ran, 1000) << "the control: the next job is whole";
  }
}

TEST(ThreadPool, TasksTreatDenormalsAsTheirCallerDoes) {
  ThreadPool pool(2);
  const auto seen = [&] {
    std::array<Denormals, 2> treated{};
    std::atomic<int> waiting = 0;
    pool.run(2, [&](int64_t task, int) {  // ends only if both threads run one
      treated[task] = DenormalsScope::current();
      ++waiting;
      while (waiting < 2) std::this_thread::yield();
    });
    return treated;
  };
  const std::array kept{Denormals::kKept, Denormals::kKept};
  EXPECT_EQ(seen(), kept);
#if defined(__x86_64__) || defined(__aarch64__)
  {
    const DenormalsScope flushed(Denormals::kFlushed);
    const std::array both{Denormals::kFlushed, Denormals::kFlushed};
    EXPECT_EQ(seen(), both);
    volatile float small = 1e-38f;
    EXPECT_EQ(small * 0.1f, 0.0f);
  }
#endif
  EXPECT_EQ(seen(), kept);
  volatile float small = 1e-38f;
  EXPECT_NE(small * 0.1f, 0.0f);
}

TEST(ThreadPool, MoreThanOneThreadTakesPart) {
  ThreadPool pool(2);
  std::atomic<int> waiting = 0;
  pool.run(2, [&](int64_t, int) {  // ends only if both run at once
    ++waiting;
    while (waiting < 2) std::this_thread::yield();
  });
  EXPECT_EQ(waiting, 2);
}

}  // namespace
}  // namespace lowtide::engine
