// A CPU device that does nothing before it has to (decision 9): each stream is
// a thread that waits a random while before each piece of work, so streams run
// in any order that the events allow; fresh, freed and discarded memory is
// poisoned. A
// missing wait shows as other numbers.
#ifndef PIPEC_TEST_UNIT_RUNTIME_DELAYINGDEVICE_H
#define PIPEC_TEST_UNIT_RUNTIME_DELAYINGDEVICE_H

#include "runtime/device/cpu/cpu_device.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace pipec::test {

class DelayingDevice : public CpuDevice {
public:
  explicit DelayingDevice(uint32_t seed, int mostMicroseconds = 60)
      : seed(seed), mostMicroseconds(mostMicroseconds) {
    properties.name = "delaying";
  }

  StatusOr<void *> allocate(size_t bytes) override {
    PIPEC_ASSIGN_OR_RETURN(void *memory, CpuDevice::allocate(bytes));
    std::memset(memory, kPoison, bytes);
    std::lock_guard<std::mutex> lock(mutex);
    sizes[memory] = bytes;
    return memory;
  }
  void free(void *memory) override {
    if (!memory)
      return;
    {
      std::lock_guard<std::mutex> lock(mutex);
      std::memset(memory, kPoison, sizes[memory]);
      sizes.erase(memory);
    }
    CpuDevice::free(memory);
  }

  StatusOr<std::unique_ptr<Stream>> createStream() override {
    return std::unique_ptr<Stream>(
        std::make_unique<DelayingStream>(seed++, mostMicroseconds));
  }
  StatusOr<std::unique_ptr<Event>> createEvent() override {
    return std::unique_ptr<Event>(std::make_unique<DelayingEvent>());
  }

  Status copy(Stream &stream, void *to, const void *from,
              size_t bytes) override {
    queue(stream, [=]() -> Status {
      if (bytes)
        std::memcpy(to, from, bytes);
      return {};
    });
    return {};
  }
  Status discard(Stream &stream, void *memory, size_t bytes) override {
    queue(stream, [=]() -> Status {
      if (bytes)
        std::memset(memory, kPoison, bytes);
      return {};
    });
    return {};
  }
  Status launch(Stream &stream, Kernel &kernel,
                const std::vector<TensorView> &inputs,
                const std::vector<TensorView> &outputs,
                void *scratch) override {
    // Views are read when the work runs, as a device would read them.
    queue(stream, [&kernel, &inputs, &outputs, scratch] {
      return kernel.run(inputs, outputs, scratch);
    });
    return {};
  }
  Status record(Stream &stream, Event &event) override {
    auto &delayed = static_cast<DelayingEvent &>(event);
    queue(stream, [&delayed, mark = delayed.mark()]() -> Status {
      delayed.reach(mark);
      return {};
    });
    return {};
  }
  Status wait(Stream &stream, Event &event) override {
    // The latest record before this call, whatever is recorded afterwards.
    auto &delayed = static_cast<DelayingEvent &>(event);
    queue(stream, [&delayed, mark = delayed.latest()]() -> Status {
      delayed.wait(mark);
      return {};
    });
    return {};
  }
  bool reached(Event &event) override {
    return static_cast<DelayingEvent &>(event).isReached();
  }
  Status synchronize(Stream &stream) override {
    return static_cast<DelayingStream &>(stream).drain();
  }
  StatusOr<NumericClass> classify(Stream &stream,
                                  const TensorView &view) override {
    PIPEC_RETURN_IF_ERROR(synchronize(stream));
    return CpuDevice::classify(stream, view);
  }

private:
  static constexpr int kPoison = 0xff; // a NaN in every float type

  class DelayingEvent : public Event {
  public:
    uint64_t mark() {
      std::lock_guard<std::mutex> lock(mutex);
      return ++recorded;
    }
    uint64_t latest() {
      std::lock_guard<std::mutex> lock(mutex);
      return recorded;
    }
    void reach(uint64_t mark) {
      std::lock_guard<std::mutex> lock(mutex);
      done = std::max(done, mark);
      changed.notify_all();
    }
    void wait(uint64_t mark) {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return done >= mark; });
    }
    bool isReached() {
      std::lock_guard<std::mutex> lock(mutex);
      return done >= recorded;
    }

  private:
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t recorded = 0, done = 0;
  };

  class DelayingStream : public Stream {
  public:
    DelayingStream(uint32_t seed, int most)
        : random(seed), most(most), thread([this] { loop(); }) {}
    ~DelayingStream() override {
      {
        std::lock_guard<std::mutex> lock(mutex);
        quit = true;
      }
      changed.notify_all();
      thread.join();
    }
    void add(std::function<Status()> work) {
      {
        std::lock_guard<std::mutex> lock(mutex);
        queued.push_back(std::move(work));
      }
      changed.notify_all();
    }
    Status drain() {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return queued.empty() && !running; });
      Status result = failed;
      failed = Status();
      return result;
    }

  private:
    void loop() {
      std::unique_lock<std::mutex> lock(mutex);
      while (true) {
        changed.wait(lock, [&] { return quit || !queued.empty(); });
        if (queued.empty())
          return;
        auto work = std::move(queued.front());
        queued.pop_front();
        running = true;
        int delay = std::uniform_int_distribution<int>(0, most)(random);
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(delay));
        Status status = work();
        lock.lock();
        if (failed.ok())
          failed = status;
        running = false;
        changed.notify_all();
      }
    }

    std::mt19937 random;
    const int most;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<Status()>> queued;
    bool running = false, quit = false;
    Status failed;
    std::thread thread; // last: starts when all else is there
  };

  static void queue(Stream &stream, std::function<Status()> work) {
    static_cast<DelayingStream &>(stream).add(std::move(work));
  }

  uint32_t seed;
  int mostMicroseconds;
  std::mutex mutex;
  std::map<void *, size_t> sizes;
};

} // namespace pipec::test

#endif
