// Reads and writes summary files in a capture folder, and finds the parts that belong to each summary.
//
//     r00003.a0.host.123.p0000.memoir, .p0001.memoir    a recording's parts (or several recordings, if one process made
//     r00003.a0.host.123.memoir-summary                 them one after another)
//
// A summary only saves time: a reader that cannot use it reads the parts.
#ifndef TOOLS_READ_SUMMARY_FILE_H_
#define TOOLS_READ_SUMMARY_FILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "memoir/v1/summary.pb.h"

namespace memoir {

inline constexpr char kSummarySuffix[] = ".memoir-summary";
inline constexpr std::uint32_t kSummaryVersion = 1;
// The size limit of a file. A larger file is neither written nor read.
inline constexpr std::uint64_t kMostSummaryBytes = 64u << 10;

// Error messages are one line without the path. NotFound: the file does not exist. Unimplemented: another version.
// InvalidArgument: damaged, too large, or not a summary.
absl::StatusOr<v1::RecordingSummaries> ReadSummaryFile(const std::string& path);
// Returns the whole file, which may be damaged. Returns the errors of ReadSummaryFile.
absl::StatusOr<std::string> ReadSummaryBytes(const std::string& path);
// Parses the bytes of a file. Returns the errors of ReadSummaryFile.
absl::StatusOr<v1::RecordingSummaries> ParseSummaryFile(std::string_view bytes);
absl::StatusOr<std::string> SummaryFileBytes(const v1::RecordingSummaries& summaries);
absl::Status WriteSummaryFile(const std::string& path, const v1::RecordingSummaries& summaries);

// Returns the begin of the file names of a rank, for all of its restarts: "r00003.a".
std::string RankFilePrefix(std::uint32_t rank);

// The files in a folder that share a name.
struct NamedFiles {
  std::string name;                       // "r00003.a0.host.123"
  std::vector<v1::SummarizedPart> parts;  // by number; empty if only a summary exists
  std::uint64_t newest_ns = 0;            // time of the newest part's last write, by the file system's clock
  bool has_summary = false;
  bool has_partial = false;      // a summary is being written, or its writer was killed
  std::uint64_t summary_ns = 0;  // time of the summary's last write, like newest_ns
  std::string summary;           // bytes of a summary from a file of merged summaries; otherwise empty
};
struct JobFiles {
  std::string folder;
  std::vector<NamedFiles> named;  // by name
  std::uint64_t symbol_bytes = 0;
};
std::string SummaryPathOf(const JobFiles& job, const NamedFiles& files);
// Returns a path with which OpenFolder opens only these parts.
std::string PartsPathOf(const JobFiles& job, const NamedFiles& files);

// Lists the summaries and parts of the folder, with sizes and times. A folder without such files is not an error.
// Errors: NotFound, PermissionDenied. `wanted` selects files by name; the sizes of other files are not read, which
// saves time in a shared folder.
absl::StatusOr<JobFiles> ListJobFiles(const std::string& folder,
                                      const std::function<bool(const std::string& file)>& wanted = {});

enum class SummaryAge {
  kFresh,   // the summary covers exactly these parts, or no part exists any more
  kBehind,  // the recording has not ended, and its last part grew at most kMostBehindNs after the summary
  kOlder,   // all other summaries
};
inline constexpr std::uint64_t kMostBehindNs = 30'000'000'000;
// Compares times of the file system only, because the clocks of hosts may differ by hours.
SummaryAge SummaryAgeOf(const v1::RecordingSummaries& summaries, const NamedFiles& files, std::uint64_t symbol_bytes);

}  // namespace memoir

#endif  // TOOLS_READ_SUMMARY_FILE_H_
