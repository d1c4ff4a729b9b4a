// Blocks that the choice of a report leaves out, of CUDA devices: where they lie, so that the map of segments does not
// show them as free. Of one process; of very many those that are live at the exact instants.
#ifndef TOOLS_ANALYZE_REPORT_OTHER_BLOCKS_H_
#define TOOLS_ANALYZE_REPORT_OTHER_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tools/analyze/report/report.h"
#include "tools/model/event.h"

namespace memoir {

class OtherBlocks {
 public:
  // `most`: of each device that are not live at an exact instant.
  explicit OtherBlocks(std::size_t most) : most_(most) {}

  void Allocated(const Block& block, std::uint64_t ns);
  // `in_part`: what ends before the window is of no report.
  void Deallocated(const Block& block, std::uint64_t ns, bool in_part);
  // Every one that is live now stays, whatever comes.
  void Keep(DeviceId device);
  // Those that were live at some time from `begin_ns` to `end_ns`, cut to it.
  void Take(DeviceId device, std::uint64_t begin_ns, std::uint64_t end_ns, ReportDevice& shown);

 private:
  struct Live {
    ReportOtherBlock block;
    DeviceId device;
    bool kept = false;
  };
  struct Ended {
    std::vector<ReportOtherBlock> kept, others;
    bool all = true;
  };
  void Add(const Live& live);

  std::size_t most_;
  std::vector<Live> live_;  // by slot
  std::map<DeviceId, Ended> ended_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_OTHER_BLOCKS_H_
