#include "tools/cli/attach/folder_facts.h"

#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "tools/cli/process/private_folder.h"

namespace memoir {
namespace {

// Returns the name of the network file system with the number `type`. "" if `type` is another file system. Some of the
// numbers are not in linux/magic.h.
const char* NetworkName(std::uint32_t type) {
  switch (type) {
    case 0x6969:
      return "NFS";
    case 0x517B:
      return "SMB";
    case 0xFE534D42:
      return "SMB2";
    case 0xFF534D42:
      return "CIFS";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    case 0x00C36400:
      return "Ceph";
    case 0x01021997:
      return "9p";
    case 0x19830326:
      return "BeeGFS";
    case 0x65735546:
      return "FUSE";
    default:
      return "";
  }
}

}  // namespace

FolderFacts ExamineFolder(const std::string& path) {
  FolderFacts facts;
  facts.path = path;
  struct statfs kind;
  struct statvfs room;
  if (statfs(path.c_str(), &kind) != 0 || statvfs(path.c_str(), &room) != 0) {
    facts.error = std::strerror(errno);
    return facts;
  }
  facts.room = std::uint64_t{room.f_bavail} * room.f_frsize;
  facts.network = NetworkName(static_cast<std::uint32_t>(kind.f_type));
  if (const std::error_code error = TryToWrite(path)) facts.error = error.message();
  return facts;
}

std::string NearestExisting(const std::string& path) {
  std::error_code error;
  std::filesystem::path at = std::filesystem::absolute(path, error).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();
  while (!std::filesystem::exists(at, error) && at != at.parent_path()) at = at.parent_path();
  return at.string();
}

}  // namespace memoir
