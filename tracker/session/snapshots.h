// The snapshots of one recording: where they go, what asks for them, and who says so.
//
// In OUTPUT/snapshots/0001, 0002, ...: each process counts its own, so that the ranks of a job which call for one
// together have theirs in one folder. Any thread.
#ifndef TRACKER_SESSION_SNAPSHOTS_H_
#define TRACKER_SESSION_SNAPSHOTS_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tracker/writer/writer_options.h"

namespace memoir {

// What makes a snapshot without being asked.
struct SnapshotsOn {
  bool out_of_memory = false;
  bool exception = false;  // one that ends the program
  bool exit = false;       // of a program that fails
};
// "oom,exception,exit"; nothing where it has other words.
std::optional<SnapshotsOn> ParseSnapshotsOn(const std::string& words);

class Snapshots {
 public:
  static constexpr std::uint32_t kMostOutOfMemory = 8;  // programs that try again do so thousands of times

  Snapshots(std::string output, std::string stem, SnapshotsOn on)
      : output_(std::move(output)), stem_(std::move(stem)), on_(on) {}

  const SnapshotsOn& on() const { return on_; }
  // Of a job's processes, this one says what is there.
  void SetSpeaks(bool speaks) { speaks_.store(speaks, std::memory_order_relaxed); }
  // The next one, in the folder that is its own.
  SnapshotWish Next(std::string why);
  // Nothing: it is not asked for, or there were too many.
  std::optional<SnapshotWish> AtOutOfMemory();
  // What came of one that nobody waits for: a line, of one rank of a job. A failure is said by each.
  void Say(const SnapshotWish& wish, const std::string& wrong) const;
  // Takes away this process's part, and the folders when that was all in them.
  void Remove(const SnapshotWish& wish) const;

 private:
  const std::string output_, stem_;
  const SnapshotsOn on_;
  std::atomic<bool> speaks_{false};
  std::atomic<std::uint32_t> made_{0}, out_of_memory_{0};
};

}  // namespace memoir

#endif  // TRACKER_SESSION_SNAPSHOTS_H_
