#include "tools/cli/doctor/dead_ring_checks.h"

#include <string>

#include "fmt/format.h"
#include "tools/cli/attach/listed_rings.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

using Level = DoctorCheck::Level;

DoctorCheck CheckOf(const ListedRing& ring) {
  const std::string what =
      fmt::format("{} ({}) of process {}, which is gone", ring.path, FormatBytes(ring.bytes), ring.pid);
  if (ring.state == "merge") {
    return {Level::kNote, "dead ring", what + ": its newest events are not yet in " + ring.text,
            "memoir doctor --clean puts them there"};
  }
  if (ring.state == "gone")
    return {Level::kNote, "dead ring", what + " as its capture is: " + ring.text, "memoir doctor --clean removes it"};
  if (ring.state == "merged") return {Level::kFine, "dead ring", ring.path + " was merged into " + ring.text, ""};
  if (ring.state == "removed")
    return {Level::kFine, "dead ring", ring.path + " was removed: its capture is gone, " + ring.text, ""};
  if (ring.state == "kept")
    return {Level::kWrong, "dead ring", ring.text, "correct that and run memoir doctor --clean again"};
  return {Level::kNote, "dead ring", what + ": from another version of Memoir, or cut short",
          "open its capture with the Memoir that recorded it, or remove the file"};
}

}  // namespace

std::vector<DoctorCheck> CheckDeadRings(const InstallTree& tree, bool clean) {
  std::vector<DoctorCheck> checks;
  for (const ListedRing& ring : ListDeadRings(tree, clean)) checks.push_back(CheckOf(ring));
  return checks;
}

}  // namespace memoir
