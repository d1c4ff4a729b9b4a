// What the recorder knows about its process, and its form in the capture (ProcessInfo). Any thread; nothing is kept.
#ifndef TRACKER_WRITER_PROCESS_FACTS_H_
#define TRACKER_WRITER_PROCESS_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "interpose/ring_reader.h"

namespace memoir {

inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::uint32_t kFormatWithRepeats = 2;  // a reader of the first would miss the events that are in rows

// What happened and is not in the capture. As Unrecorded of the capture.
struct Unrecorded {
  enum class What : std::uint8_t {
    kCudaMemory = 1,
    kDriverCalls = 2,
    kPythonStacks = 3,
    kNativeStacks = 4,
    kKernelTimes = 5
  };
  What what = What::kCudaMemory;
  std::uint64_t begin_tick = 0;
  std::uint64_t end_tick = 0;  // 0: to the end of the recording
  std::string why;
  bool operator==(const Unrecorded&) const = default;
};

// Of this rank in one dimension in which the job is parallel: "pp", 1 of 4.
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
  std::uint32_t restart = 0;
  std::string rank_source;    // "none", "MEMOIR_RANK", "torchrun", ...
  std::string rank_conflict;  // what contradicts it
  std::string program;        // without folder and arguments
  std::string memoir_version;
  std::string torch_version;
  std::string python_version;
  std::uint64_t ticks_per_second = 0;  // what ChooseTick returned
  std::vector<std::string> sources;    // "ranges", "cpu-allocator", ...
  std::string simulated_device;
  std::string boot_id;  // /proc/sys/kernel/random/boot_id
  std::uint64_t forked_from = 0;
  std::uint64_t process_start = 0;  // clock ticks since boot; 0: unknown
  std::uint64_t parent_pid = 0;
  std::uint64_t parent_start = 0;
  std::string run;  // tells the processes of one `memoir run` from those of another; "": of none
  std::vector<Unrecorded> unrecorded;
  std::vector<Coordinate> coordinates;
  std::string allocator_settings;  // of torch's allocator, as the environment has them
};

// Whether steps that repeat are recorded without operators (--detail auto), and may be named in place of being packed.
bool RepeatsSteps(const ProcessFacts& facts);

// A ProcessInfo message without its part number, at most `limit` bytes: texts are cut where it would be longer.
std::string EncodeProcessInfo(const ProcessFacts& facts, const RingClock& start, const std::string& ring_path,
                              std::size_t limit);

// What all chunks of a recording carry, of its encoded ProcessInfo: a hash of process id and clocks at its start.
// Never 0.
std::uint64_t RecordingOf(const std::string& process_info);

// The same message with `part` appended; works on bytes that came out of a dead ring as well.
std::string WithPart(const std::string& process_info, std::uint32_t part);

}  // namespace memoir

#endif  // TRACKER_WRITER_PROCESS_FACTS_H_
