// The files of summaries beside the parts of a capture, and which parts of a folder each of them is about.
//
//     r00003.a0.host.123.p0000.memoir, .p0001.memoir    a recording's parts (several recordings, where one process made
//     r00003.a0.host.123.memoir-summary                 them one after another)
//
// A summary is a convenience: whoever finds it wanting reads the parts.
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
// Of a file; a larger one is neither written nor read.
inline constexpr std::uint64_t kMostSummaryBytes = 64u << 10;

// Errors are one line without the path. NotFound: there is none. Unimplemented: of another version. InvalidArgument:
// damaged, too large, or no summary at all.
absl::StatusOr<v1::RecordingSummaries> ReadSummaryFile(const std::string& path);
// The file whole, which may be damaged: errors likewise.
absl::StatusOr<std::string> ReadSummaryBytes(const std::string& path);
// As ReadSummaryFile, of its bytes.
absl::StatusOr<v1::RecordingSummaries> ParseSummaryFile(std::string_view bytes);
absl::StatusOr<std::string> SummaryFileBytes(const v1::RecordingSummaries& summaries);
absl::Status WriteSummaryFile(const std::string& path, const v1::RecordingSummaries& summaries);

// What the names of a rank's files begin with, of all its restarts: "r00003.a".
std::string BeginningOf(std::uint32_t rank);

// What stands in a folder under one name.
struct NamedFiles {
  std::string name;                       // "r00003.a0.host.123"
  std::vector<v1::SummarizedPart> parts;  // by number; empty: a summary alone
  std::uint64_t newest_ns = 0;            // when the newest part was written to, by the file system's clock
  bool has_summary = false;
  bool has_partial = false;      // a summary that is being written, or was when its writer was killed
  std::uint64_t summary_ns = 0;  // as newest_ns, of the summary
  std::string summary;           // its bytes, where it stands in a file with others (merged_summaries.h)
};
struct JobFiles {
  std::string folder;
  std::vector<NamedFiles> named;  // by name
  std::uint64_t symbol_bytes = 0;
};
std::string SummaryPathOf(const JobFiles& job, const NamedFiles& files);
// What OpenFolder takes for the parts of one name alone.
std::string PathOf(const JobFiles& job, const NamedFiles& files);

// Reads the folder's names, and of each file its size and time. NotFound, PermissionDenied; a folder without any of
// these files is none of both.
// `wanted`: asked of each file's name; of others not even the size is looked up, which is much in a shared folder.
absl::StatusOr<JobFiles> ListJobFiles(const std::string& folder,
                                      const std::function<bool(const std::string& file)>& wanted = {});

enum class SummaryAge {
  kFresh,   // of these very parts
  kBehind,  // of a recording that has no end, written to at most kMostBehindNs since
  kOlder,   // all else
};
inline constexpr std::uint64_t kMostBehindNs = 30'000'000'000;
// Both times are the file system's: the clocks of hosts may be hours apart.
SummaryAge AgeOf(const v1::RecordingSummaries& summaries, const NamedFiles& files, std::uint64_t symbol_bytes);

}  // namespace memoir

#endif  // TOOLS_READ_SUMMARY_FILE_H_
