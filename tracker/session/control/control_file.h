// A file with which a shell controls a recording. `echo off > FILE`, `echo memory > FILE` and `echo on > FILE` set the
// level. An empty file (`touch FILE`) switches recording off, or on again if it is off. `echo snapshot > FILE` requests
// a snapshot. `echo steps 5 > FILE` requests that the next five steps are recorded with all operators. Memoir only
// reads the file. It ignores a file that another user may have written (docs/security.md). Only one thread may use a
// ControlFile.
#ifndef TRACKER_SESSION_CONTROL_CONTROL_FILE_H_
#define TRACKER_SESSION_CONTROL_CONTROL_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace memoir {

// Returns true if the file's owner is neither this process's user nor root. Root controls the program anyway.
bool IsOfAnotherUser(const struct stat& file);

enum class ControlWord : std::uint8_t { kNone, kOff, kMemory, kOn, kToggle, kSnapshot, kSteps, kUnknown };

struct ControlRequest {
  ControlWord word = ControlWord::kNone;
  std::uint64_t steps = 0;  // for kSteps: number of steps, at least 1
};

class ControlFile {
 public:
  explicit ControlFile(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

  // Returns the request in a file that existed before the recording. Ignores toggles, requests for snapshots and
  // requests for steps, because they were written for an earlier recording.
  ControlRequest ReadFirst();
  // Returns the request that was written since the last call; kNone if the file has not changed. A program may have
  // created the file without having written it yet. So an empty file is a request only if the next call also finds it
  // empty.
  ControlRequest Look();
  // Returns one line with the reason why the file was ignored. "" if it was not ignored, or if the previous line had
  // the same reason.
  std::string TakeRefusal();

 private:
  struct Version {
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;  // time of the file's last change
    bool operator==(const Version&) const = default;
  };
  Version CurrentVersion() const;
  ControlRequest Read();
  std::string WhyNotObeyed(const struct stat& file) const;

  std::string path_;
  std::string refusal_;       // not yet returned by TakeRefusal
  std::string last_refusal_;  // the reason that TakeRefusal returned last
  Version done_;              // the version that was read last; Version{} after the file was removed
  Version empty_;             // an empty version that Look has found once; a request when Look finds it again
};

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_CONTROL_FILE_H_
