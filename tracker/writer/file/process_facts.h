// The facts about the recorded process, and their encoding in the capture (ProcessInfo). Any thread; no state.
#ifndef TRACKER_WRITER_FILE_PROCESS_FACTS_H_
#define TRACKER_WRITER_FILE_PROCESS_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "interpose/ring/ring_reader.h"

namespace memoir {

// Values of ProcessInfo.format_version. Captures that may have pattern rows have the version kFormatWithRepeats,
// because a reader of format 1 would miss the events in the rows.
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::uint32_t kFormatWithRepeats = 2;

// Events that are missing from the capture, as in the message Unrecorded.
struct UnrecordedEvents {
  enum class Kind : std::uint8_t {
    kCudaMemory = 1,
    kDriverCalls = 2,
    kPythonStacks = 3,
    kNativeStacks = 4,
    kKernelTimes = 5
  };
  Kind kind = Kind::kCudaMemory;
  std::uint64_t begin_tick = 0;
  std::uint64_t end_tick = 0;  // 0: until the end of the recording
  std::string why;
  bool operator==(const UnrecordedEvents&) const = default;
};

// The place of this rank in one parallel dimension of the job, for example dimension "pp", index 1, size 4.
struct Coordinate {
  std::string dimension;
  std::uint32_t index = 0, size = 0;
  friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

struct ProcessFacts {
  std::uint64_t pid = 0;
  std::string host;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 0;  // 0: unknown
  // Number of times that torchrun had restarted the job.
  std::uint32_t restart = 0;
  std::string rank_source;    // "none", "MEMOIR_RANK", "torchrun", ...
  std::string rank_conflict;  // one line about contradicting ranks
  std::string program;        // name of the program, without folder and arguments
  std::string memoir_version;
  std::string torch_version;
  std::string python_version;
  std::uint64_t ticks_per_second = 0;  // result of ChooseTick
  std::vector<std::string> sources;    // names of what is recorded: "ranges", ...
  std::string simulated_device;
  std::string boot_id;              // /proc/sys/kernel/random/boot_id
  std::uint64_t forked_from = 0;    // pid of the recorded parent, in a forked child that began to record; otherwise 0
  std::uint64_t process_start = 0;  // clock ticks since boot; 0: unknown
  std::uint64_t parent_pid = 0;
  std::uint64_t parent_start = 0;
  std::string run;  // identifies one `memoir run`; empty without it
  std::vector<UnrecordedEvents> unrecorded;
  std::vector<Coordinate> coordinates;
  std::string allocator_settings;  // settings of torch's allocator in the environment
};

// Returns true if repeated steps are recorded without operators (--detail auto), and may be stored as pattern rows.
bool UsesPatternRows(const ProcessFacts& facts);

// Returns a ProcessInfo message without the part's number. Texts are cut so that it has at most `limit` bytes.
std::string EncodeProcessInfo(const ProcessFacts& facts, const RingClock& start, const std::string& ring_path,
                              std::size_t limit);

// Returns the id that all chunks of a recording contain. It is a hash of the process id and the start clocks in the
// encoded ProcessInfo. Never 0.
std::uint64_t RecordingIdOf(const std::string& process_info);

// Returns `process_info` with the part's number appended. Also accepts the bytes of a ProcessInfo that a dead ring
// contains.
std::string AddPartNumber(const std::string& process_info, std::uint32_t part);

}  // namespace memoir

#endif  // TRACKER_WRITER_FILE_PROCESS_FACTS_H_
