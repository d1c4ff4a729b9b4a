// The snapshots of one recording: their folders, their causes, and which process reports them.
//
// The snapshots go into OUTPUT/snapshots/0001, 0002, ... Each process counts its own snapshots. So if all ranks of a
// job request a snapshot at the same time, they write it into the same folder. Any thread.
#ifndef TRACKER_SESSION_RECORDING_SNAPSHOTS_H_
#define TRACKER_SESSION_RECORDING_SNAPSHOTS_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tracker/writer/writer_options.h"

namespace memoir {

// Events at which a snapshot is made without a request.
struct SnapshotTriggers {
  bool out_of_memory = false;
  bool exception = false;  // an exception that ends the program
  bool exit = false;       // the program ends with an exit code other than 0
};
// Parses "oom,exception,exit". nullopt if the text contains other words.
std::optional<SnapshotTriggers> ParseSnapshotTriggers(const std::string& words);

class RecordingSnapshots {
 public:
  // The largest number of snapshots at out-of-memory errors. A program that retries may have thousands of such errors.
  static constexpr std::uint32_t kMostOutOfMemory = 8;

  RecordingSnapshots(std::string output, std::string stem, SnapshotTriggers on)
      : output_(std::move(output)), stem_(std::move(stem)), on_(on) {}

  const SnapshotTriggers& triggers() const { return on_; }
  // Sets whether this is the job's reporting process, which prints the results.
  void SetReporting(bool is_reporting) { is_reporting_.store(is_reporting, std::memory_order_relaxed); }
  // Plans the next snapshot, in the next folder that does not contain a snapshot of this process.
  RequestedSnapshot PlanNext(std::string why);
  // Plans a snapshot at an out-of-memory error. nullopt if such snapshots were not requested, or after kMostOutOfMemory
  // errors.
  std::optional<RequestedSnapshot> PlanAtOutOfMemory();
  // Prints one line with the result of a snapshot for which no thread waits. The reporting process prints successes and
  // failures; other processes print only their failures.
  void Print(const RequestedSnapshot& wish, const std::string& wrong) const;
  // Removes this process's part of the snapshot, and the folders that are then empty.
  void Remove(const RequestedSnapshot& wish) const;

 private:
  const std::string output_, stem_;
  const SnapshotTriggers on_;
  std::atomic<bool> is_reporting_{false};
  std::atomic<std::uint32_t> made_{0}, out_of_memory_{0};
};

}  // namespace memoir

#endif  // TRACKER_SESSION_RECORDING_SNAPSHOTS_H_
