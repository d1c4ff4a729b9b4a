#include "tracker/session/recording_snapshots.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tracker/session/process/terminal_line.h"
#include "tracker/writer/file/part_sink.h"

namespace memoir {

std::optional<SnapshotTriggers> ParseSnapshotTriggers(const std::string& words) {
  SnapshotTriggers on;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(',', at), words.size());
    const std::string word = words.substr(at, end - at);
    if (word == "oom") {
      on.out_of_memory = true;
    } else if (word == "exception") {
      on.exception = true;
    } else if (word == "exit") {
      on.exit = true;
    } else {
      return std::nullopt;
    }
    at = end + 1;
  }
  return on;
}

RequestedSnapshot RecordingSnapshots::PlanNext(std::string why) {
  // If an earlier recording of this process, or a process with the same pid in another container, made snapshots in
  // this capture, the numbers continue after the existing folders.
  RequestedSnapshot wish{"", std::move(why), false};
  do {
    char number[16];
    std::snprintf(number, sizeof number, "%04u", made_.fetch_add(1, std::memory_order_relaxed) + 1);
    wish.folder = output_ + "/snapshots/" + number;
  } while (access(PartPath(wish.folder, stem_, 0).c_str(), F_OK) == 0);
  return wish;
}

std::optional<RequestedSnapshot> RecordingSnapshots::PlanAtOutOfMemory() {
  if (!on_.out_of_memory || out_of_memory_.fetch_add(1, std::memory_order_relaxed) >= kMostOutOfMemory)
    return std::nullopt;
  RequestedSnapshot wish = PlanNext("oom");
  wish.of_newest_event = true;
  return wish;
}

void RecordingSnapshots::Print(const RequestedSnapshot& wish, const std::string& wrong) const {
  if (!wrong.empty()) {
    PrintLine("no snapshot was made: %s", wrong.c_str());
  } else if (is_reporting_.load(std::memory_order_relaxed)) {
    PrintLine("snapshot (%s): memoir %s", wish.why.c_str(), wish.folder.c_str());
  }
}

void RecordingSnapshots::Remove(const RequestedSnapshot& wish) const {
  unlink(PartPath(wish.folder, stem_, 0).c_str());
  if (rmdir(wish.folder.c_str()) == 0) rmdir((output_ + "/snapshots").c_str());
}

}  // namespace memoir
