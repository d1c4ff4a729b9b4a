// The sources of `memoir collect`: folders, hosts and addresses where ranks wrote their recordings. Also makes the
// command line that copies files from a source.
#ifndef TOOLS_CLI_COLLECT_COLLECT_SOURCE_H_
#define TOOLS_CLI_COLLECT_COLLECT_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

enum class CollectSourceKind : std::uint8_t {
  kFolder,   // on this host
  kHost,     // node0:/scratch/run7
  kAddress,  // s3://bucket/run7, any address that fsspec can read
};

struct CollectSource {
  std::string text;  // as given
  CollectSourceKind kind = CollectSourceKind::kFolder;
  std::string host, folder;  // for kHost; for other kinds `host` is empty and `folder` is `text`
};

CollectSource ParseCollectSource(const std::string& text);

// The default command that copies files from a host.
extern const char kDefaultCommand[];

// The values that replace the words in braces of a command line.
struct Transfer {
  std::string patterns;            // path of a file with one pattern of file names in each line
  std::vector<std::string> names;  // the patterns in this file
  std::string into;                // the folder into which the files are copied
  std::string job;                 // absolute path of the folder with the files that were collected before
};

// Returns `command` with {source}, {host}, {folder}, {patterns}, {names}, {into} and {job} replaced, each quoted for a
// shell. The error names an unknown word in braces.
absl::StatusOr<std::string> FillCommand(const std::string& command, const CollectSource& source,
                                        const Transfer& transfer);

}  // namespace memoir

#endif  // TOOLS_CLI_COLLECT_COLLECT_SOURCE_H_
