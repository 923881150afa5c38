// A pool of threads: starting a thread takes longer than many of the steps they share.
//
// Any number of callers can share work at the same time. Each caller does part of its work and gets
// help from idle threads. If there are none it does everything itself, so no caller ever waits for
// a thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace ctsne {

class Pool {
 public:
  // A forked child has none of its parent's threads, and may hold locks that will never be
  // released, so it gets its own pool. Pools are never destroyed: their threads may sleep until the
  // process ends.
  static Pool& of_this_process() {
    static std::atomic<Pool*> current{nullptr};
    Pool* pool = current.load(std::memory_order_acquire);
    if (pool != nullptr && pool->process_ == process_id()) return *pool;
    Pool* fresh = new Pool;
    if (current.compare_exchange_strong(pool, fresh)) return *fresh;
    delete fresh;  // another thread was faster
    return *pool;
  }

  // Calls work(0) here and work(1), work(2), ... below `workers` on as many threads as are idle;
  // returns when all have returned. Work must not throw.
  template <class Work>
  void run(int workers, Work& work) {
    Job job{[](void* context, int worker) { (*static_cast<Work*>(context))(worker); }, &work, 1,
            workers};
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(&job);
      waiting_.store(queue_.size(), std::memory_order_relaxed);
      hire(workers);
    }
    for (int worker = 1; worker < workers; ++worker) called_.notify_one();
    work(0);
    {
      const std::lock_guard lock(mutex_);
      withdraw(job);
    }
    if (spin([&] { return job.running.load(std::memory_order_acquire) == 0; })) return;
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return job.running.load(std::memory_order_acquire) == 0; });
  }

 private:
  struct Job {
    void (*call)(void* context, int worker);
    void* context;
    int next;     // the next worker's number
    int workers;  // one past the last number
    std::atomic<int> running{0};
  };

  // The steps of an iteration follow each other within microseconds, which is less than it takes to
  // sleep and wake up, and too short to slow down other programs.
  static constexpr std::chrono::microseconds kSpin{20};

  template <class Condition>
  static bool spin(Condition&& holds) {
    const auto end = std::chrono::steady_clock::now() + kSpin;
    do {
      for (int turn = 0; turn < 16; ++turn) {
        if (holds()) return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
    } while (std::chrono::steady_clock::now() < end);
    return false;
  }

  static long process_id() {
#if defined(__unix__) || defined(__APPLE__)
    return static_cast<long>(getpid());
#else
    return 0;
#endif
  }

  // Called under the lock.
  void hire(int workers) {
    const int most = std::max(workers, static_cast<int>(std::thread::hardware_concurrency())) - 1;
    for (int wanted = workers - 1; idle_ < wanted && threads_ < most; --wanted) {
      try {
        std::thread([this] { serve(); }).detach();
      } catch (...) {
        return;  // no more threads available: the existing ones do all the work
      }
      ++threads_;
    }
  }

  // Called under the lock: after this, no thread joins the job.
  void withdraw(Job& job) {
    const auto at = std::find(queue_.begin(), queue_.end(), &job);
    if (at != queue_.end()) queue_.erase(at);
    waiting_.store(queue_.size(), std::memory_order_relaxed);
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      while (queue_.empty()) {
        lock.unlock();
        const bool called = spin([&] { return waiting_.load(std::memory_order_relaxed) > 0; });
        lock.lock();
        if (!called && queue_.empty()) called_.wait(lock);
      }
      --idle_;
      Job& job = *queue_.front();
      const int worker = job.next++;
      job.running.fetch_add(1, std::memory_order_relaxed);
      if (job.next == job.workers) withdraw(job);
      lock.unlock();
      job.call(job.context, worker);
      lock.lock();
      // As soon as this is zero, the caller may return and the job no longer exist.
      if (job.running.fetch_sub(1, std::memory_order_release) == 1) finished_.notify_all();
    }
  }

  const long process_ = process_id();
  std::mutex mutex_;
  std::condition_variable called_, finished_;
  std::deque<Job*> queue_;
  std::atomic<std::size_t> waiting_{0};  // jobs in the queue; read without the lock
  int threads_ = 0, idle_ = 0;
};

}  // namespace ctsne
