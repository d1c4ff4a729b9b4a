// A file by which a shell switches recording: `echo off > FILE`, `echo memory > FILE`, `echo on > FILE`; an empty one
// (`touch FILE`) switches off and on in turn. `echo snapshot > FILE` asks for a snapshot, `echo steps 5 > FILE` for the
// next five steps in full. Only looked at, never written or removed. One thread.
#ifndef TRACKER_SESSION_CONTROL_FILE_H_
#define TRACKER_SESSION_CONTROL_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace memoir {

enum class ControlWord : std::uint8_t { kNone, kOff, kMemory, kOn, kToggle, kSnapshot, kSteps, kUnknown };

struct Control {
  ControlWord word = ControlWord::kNone;
  std::uint64_t steps = 0;  // of kSteps: 1 at least
};

class ControlFile {
 public:
  explicit ControlFile(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

  // What a file from before the recording says: a level counts; an empty file and what was asked for once do not.
  Control First();
  // What the file asks for since the last look; kNone when it has not changed. An empty file may be one that is being
  // written: it counts at the second look that finds it so.
  Control Look();

 private:
  struct Version {
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;  // of its last change
    bool operator==(const Version&) const = default;
  };
  Version Now() const;
  Control Read() const;

  std::string path_;
  Version done_;   // what was answered
  Version empty_;  // an empty file that was seen once
};

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_FILE_H_
