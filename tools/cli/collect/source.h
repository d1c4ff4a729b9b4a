// Where ranks left their recordings, and how their files come from there.
#ifndef TOOLS_CLI_COLLECT_SOURCE_H_
#define TOOLS_CLI_COLLECT_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

enum class SourceKind : std::uint8_t {
  kFolder,   // of this host
  kHost,     // node0:/scratch/run7
  kAddress,  // s3://bucket/run7, what fsspec knows
};

struct Source {
  std::string text;  // as given
  SourceKind kind = SourceKind::kFolder;
  std::string host, folder;  // of kHost both; of the others `folder` is `text`
};

Source SourceOf(const std::string& text);

// The command that brings files from a host where none is given.
extern const char kDefaultCommand[];

// What a command line may name in braces.
struct Transfer {
  std::string patterns;            // a file with a pattern of names in each line
  std::vector<std::string> names;  // the same patterns
  std::string into;                // a folder for the files
  std::string job;                 // absolute; where those lie that were collected before
};

// `command` with {source}, {host}, {folder}, {patterns}, {names}, {into} and {job} replaced, each quoted for a shell.
// The error names a word in braces that is none of them.
absl::StatusOr<std::string> Filled(const std::string& command, const Source& source, const Transfer& transfer);

}  // namespace memoir

#endif  // TOOLS_CLI_COLLECT_SOURCE_H_
