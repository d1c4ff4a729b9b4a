// A file with the summaries of many recordings, for example of all ranks of a job.
//
// Merging is associative and commutative: the same summaries give the same bytes in any order and grouping. If a
// recording has several summaries, the summary that covers the latest part is kept. If several summaries cover the same
// latest part, the summary that covers the most bytes of this part is kept.
#ifndef TOOLS_READ_MERGED_SUMMARIES_H_
#define TOOLS_READ_MERGED_SUMMARIES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/read/summary_file.h"

namespace memoir {

inline constexpr char kMergedSuffix[] = ".memoir-summaries";
bool IsMergedSummaries(std::string_view path);  // by the suffix

class MergedSummaries {
 public:
  // Adds the bytes of a summary file. Returns the errors of ParseSummaryFile. After an error, nothing was added.
  absl::Status Add(std::string bytes);
  std::size_t size() const { return files_.size(); }
  // Writes the file. FailedPrecondition: it would be larger than readers accept. Unavailable: it cannot be written.
  absl::Status Write(const std::string& path) const;
  // Returns the summaries in the form in which ListJobFiles would return a folder that contains only these summaries.
  // Moves the bytes out of this object.
  JobFiles TakeJobFiles(const std::string& path) &&;

 private:
  struct File {
    // The parts that the summary covers, for the comparison of two summaries. A later summary covers a later last part,
    // but perhaps fewer parts, because --max-size removes old ones.
    std::uint32_t last_part = 0;
    std::uint64_t last_part_bytes = 0, all_bytes = 0;
    std::string bytes;
    bool operator<(const File& other) const;
  };
  // By the name of the files, and the start of the earliest recording in them. The start is part of the key, because
  // recordings of different jobs may have the same name.
  std::map<std::pair<std::string, std::uint64_t>, File> files_;
};

// The readable summaries of a file of merged summaries.
struct SalvagedSummaries {
  MergedSummaries summaries;
  std::size_t damaged = 0;  // unreadable summaries; at least 1 if the file itself is damaged
};
// Reads a file of merged summaries. NotFound, PermissionDenied: the file does not exist, or cannot be read.
// InvalidArgument: the file contains no readable summary.
absl::StatusOr<SalvagedSummaries> ReadMergedSummaries(const std::string& path);

}  // namespace memoir

#endif  // TOOLS_READ_MERGED_SUMMARIES_H_
