#include "tools/read/process_info_rules.h"

#include "absl/strings/str_cat.h"

namespace memoir {

std::string NewerFormatError(const v1::ProcessInfo& process) {
  if (process.format_version() <= kFormatVersion) return "";
  return absl::StrCat("written in capture format ", process.format_version(), " by Memoir ", process.memoir_version(),
                      ", this Memoir reads up to format ", kFormatVersion, " (at offset 0): install a newer Memoir");
}

void UpdateProcessInfo(const v1::ProcessInfo& newer, v1::ProcessInfo* process) {
  process->set_rank(newer.rank());
  process->set_world_size(newer.world_size());
  process->set_restart(newer.restart());
  process->set_rank_source(newer.rank_source());
  process->set_rank_conflict(newer.rank_conflict());
  *process->mutable_sources() = newer.sources();
  *process->mutable_unrecorded() = newer.unrecorded();
  *process->mutable_coordinates() = newer.coordinates();
}

}  // namespace memoir
