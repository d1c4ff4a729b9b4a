// Properties of a folder: whether files can be created in it, its free bytes, and whether it is on a network.
#ifndef TOOLS_CLI_ATTACH_FOLDER_FACTS_H_
#define TOOLS_CLI_ATTACH_FOLDER_FACTS_H_

#include <cstdint>
#include <string>

namespace memoir {

struct FolderFacts {
  std::string path;
  std::string error;       // why no file can be created in the folder; "" if files can be created
  std::uint64_t room = 0;  // free bytes
  std::string network;     // "NFS", ...; "" when local
};

FolderFacts ExamineFolder(const std::string& path);

// Returns `path`, or its nearest parent that exists.
std::string NearestExisting(const std::string& path);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_FOLDER_FACTS_H_
