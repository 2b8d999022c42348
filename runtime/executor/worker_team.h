// Threads that do one piece of work each, again and again.
#ifndef PIPEC_RUNTIME_EXECUTOR_WORKER_TEAM_H
#define PIPEC_RUNTIME_EXECUTOR_WORKER_TEAM_H

#include "pipec/status.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pipec {

/// Thread rule: externally synchronised.
class WorkerTeam {
public:
  /// ResourceExhausted where threads cannot be started. `who` names a worker in
  /// messages ("stage", "rank").
  static StatusOr<std::unique_ptr<WorkerTeam>> start(size_t workers,
                                                     std::string who);
  ~WorkerTeam();

  size_t size() const { return threads.size(); }
  /// Runs work(i) in worker i, all at once; returns when all have. `failed` is
  /// told each error, in the worker's thread; what work() throws is an error.
  void run(const std::function<Status(size_t)> &work,
           const std::function<void(const Status &)> &failed);

private:
  explicit WorkerTeam(std::string who) : who(std::move(who)) {}
  void loop(size_t worker);
  Status guarded(size_t worker) const;

  std::string who;
  std::vector<std::thread> threads;

  // Hand-over between run() and the threads, under the mutex.
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t generation = 0; // of the work in progress
  size_t busy = 0;         // threads that have not finished it
  bool quit = false;
  const std::function<Status(size_t)> *work = nullptr;
  const std::function<void(const Status &)> *failed = nullptr;
};

} // namespace pipec

#endif
