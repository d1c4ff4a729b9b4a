// Collects, for one process, the blocks on CUDA devices that a report leaves out because of their module or size. The
// report contains the addresses of these blocks, so that its map of segments does not show their memory as free. If
// there are very many, only blocks that are live at the exact instants (ReportInstant) are kept.
#ifndef TOOLS_ANALYZE_REPORT_OMITTED_BLOCKS_H_
#define TOOLS_ANALYZE_REPORT_OMITTED_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tools/analyze/report/report_content.h"
#include "tools/model/event/event.h"

namespace memoir {

class OmittedBlocks {
 public:
  // `most`: the largest number of blocks for each device, not counting blocks that are live at an exact instant. If
  // there are more, only the blocks that are live at an exact instant are kept.
  explicit OmittedBlocks(std::size_t most) : most_(most) {}

  void NoteAllocation(const Block& block, std::uint64_t ns);
  // `in_part`: false if the block ends before the selection begins. The report does not contain such a block.
  void NoteDeallocation(const Block& block, std::uint64_t ns, bool in_part);
  // Keeps every block of the device that is live now, even if there are more than `most`.
  void Keep(DeviceId device);
  // Moves to `shown` the blocks that were live between `begin_ns` and `end_ns`, with the begin and end of their lives
  // limited to this time.
  void Take(DeviceId device, std::uint64_t begin_ns, std::uint64_t end_ns, ReportDevice& shown);

 private:
  struct LiveBlock {
    ReportOmittedBlock block;
    DeviceId device;
    bool kept = false;  // it was live at an exact instant
  };
  struct EndedBlocks {
    std::vector<ReportOmittedBlock> kept, others;
    bool all = true;  // false: `others` became too large, and was cleared
  };
  void Add(const LiveBlock& live);

  std::size_t most_;
  std::vector<LiveBlock> live_;  // by slot
  std::map<DeviceId, EndedBlocks> ended_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_OMITTED_BLOCKS_H_
