// Summaries of many recordings in one file: what a scheduler's combiner makes of those that its tasks hand it.
//
// Merging is associative and commutative: any order and grouping of the same summaries gives the same bytes. Of one
// recording the summary that was made of later parts is kept, or of more of the last one.
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
bool IsMergedSummaries(std::string_view path);  // by its name

class MergedSummaries {
 public:
  // `bytes`: of a file beside a recording. InvalidArgument, Unimplemented: as ParseSummaryFile, and nothing was added.
  absl::Status Add(std::string bytes);
  std::size_t size() const { return files_.size(); }
  // FailedPrecondition: it would be larger than any reader takes. Unavailable: it cannot be written.
  absl::Status Write(const std::string& path) const;
  // As ListJobFiles of a folder in which they stand alone; takes the bytes along.
  JobFiles Take(const std::string& path) &&;

 private:
  struct File {
    // Of what it was made, in the order of time: --max-size takes old parts away, so that a later one may be of less.
    std::uint32_t last_part = 0;
    std::uint64_t last_part_bytes = 0, all_bytes = 0;
    std::string bytes;
    bool operator<(const File& other) const;
  };
  // By name, and by when the first of its recordings began: another job's may have the same name.
  std::map<std::pair<std::string, std::uint64_t>, File> files_;
};

// What of a file could be read.
struct ReadMerged {
  MergedSummaries summaries;
  std::size_t damaged = 0;  // of those in it that could not be; all behind damage of the file itself are one
};
// NotFound, PermissionDenied: no such file, it cannot be read. InvalidArgument: nothing in it is a summary.
absl::StatusOr<ReadMerged> ReadMergedSummaries(const std::string& path);

}  // namespace memoir

#endif  // TOOLS_READ_MERGED_SUMMARIES_H_
