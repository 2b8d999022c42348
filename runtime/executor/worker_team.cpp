// Worker threads: see worker_team.h.
// Tests: test/unit/runtime/ExecutorTest.cpp, ErrorTest.cpp.
#include "runtime/executor/worker_team.h"

#include <new>
#include <system_error>

namespace pipec {

StatusOr<std::unique_ptr<WorkerTeam>> WorkerTeam::start(size_t workers,
                                                        std::string who) {
  std::unique_ptr<WorkerTeam> team(new WorkerTeam(std::move(who)));
  try {
    for (size_t i = 0; i < workers; ++i)
      team->threads.emplace_back([team = team.get(), i] { team->loop(i); });
  } catch (const std::system_error &error) {
    return resourceExhausted("could not start " + std::to_string(workers) +
                             " worker threads: " + error.what());
  }
  return team;
}

WorkerTeam::~WorkerTeam() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    quit = true;
  }
  changed.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void WorkerTeam::loop(size_t worker) {
  uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return quit || generation != seen; });
      if (quit)
        return;
      seen = generation;
    }
    if (Status status = guarded(worker); !status.ok())
      (*failed)(status);
    {
      std::lock_guard<std::mutex> lock(mutex);
      --busy;
    }
    changed.notify_all();
  }
}

/// What a worker does is ours or a library's or the caller's; nothing thrown
/// there may end the thread.
Status WorkerTeam::guarded(size_t worker) const {
  const std::string name = who + " " + std::to_string(worker);
  try {
    return (*work)(worker);
  } catch (const std::bad_alloc &) {
    return resourceExhausted(name + ": out of memory");
  } catch (const std::exception &error) {
    return internalError(name + ": " + error.what());
  } catch (...) {
    return internalError(name + ": unknown exception");
  }
}

void WorkerTeam::run(const std::function<Status(size_t)> &newWork,
                     const std::function<void(const Status &)> &newFailed) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    work = &newWork;
    failed = &newFailed;
    busy = threads.size();
    ++generation;
  }
  changed.notify_all();
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return busy == 0; });
}

} // namespace pipec
