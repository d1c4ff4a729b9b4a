// The first pass of a report. It finds the time span and the peak of each device. It also finds the least weight (bytes
// times life) of the blocks that the report lists individually.
#ifndef TOOLS_ANALYZE_REPORT_REPORT_FIRST_PASS_H_
#define TOOLS_ANALYZE_REPORT_REPORT_FIRST_PASS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tools/analyze/pass/instant.h"
#include "tools/analyze/report/report_content.h"

namespace memoir {

// Returns the weight of a block: bytes times life, on a logarithmic scale with 16 units for each power of two. Blocks
// with more weight are kept first.
std::uint32_t WeightOf(std::uint64_t bytes, std::uint64_t life_ns);

struct DeviceOutline {
  ProcessId process;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t peak_bytes = 0;
  // Number of the device's change that first reached the peak; 0: the device never has live bytes.
  std::uint64_t peak_change = 0;
  std::uint64_t changes = 0;
  std::uint64_t blocks = 0;
  std::uint32_t least_weight = 0;  // least weight of a kept block; set by ChooseBlocks
};

class ReportFirstPass : public ChangePass {
 public:
  static constexpr std::size_t kWeights = 128 * 16;
  using ChangePass::ChangePass;

  // Returns the figures of each device. Sets least_weight so that at most `most` blocks of all devices are kept; each
  // device gets a share in proportion to its number of blocks.
  std::map<DeviceId, DeviceOutline> ChooseBlocks(std::size_t most);
  // Returns the number of windows of each process. The report of a process ends with its last window.
  const std::map<ProcessId, std::uint64_t>& window_counts() const { return windows_; }
  const ReportWhole& whole() const { return whole_; }

 protected:
  void SeeWindowOpen(const Event& event) override;
  void SeeWindowClose(const Event& event) override;
  void SeeBlockAdded(const Block& block, const Event& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeBlockRemoved(const Block& block) override;
  void SeeChange(const Event& event, DeviceId id, Device& device) override;
  void SeeProcessBegin(const ProcessEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  struct WeighedDevice {
    DeviceOutline shown;
    std::array<std::uint64_t, kWeights> weights{};  // number of blocks, by weight
  };
  struct BlockBegin {
    std::uint64_t ns = 0;
    std::uint64_t bytes = 0;
    DeviceId device;
  };
  void CountWeight(BlockBegin begun, std::uint64_t end_ns);

  bool is_whole() const { return selection().window.kind == SelectionWindow::Kind::kAll; }

  std::map<DeviceId, WeighedDevice> weighed_;
  std::map<ProcessId, std::uint64_t> windows_;
  ReportWhole whole_;
  std::vector<BlockBegin> begun_;  // by slot
  BlockBegin late_;                // begin of the newest block without a slot
  std::uint64_t now_ns_ = 0;
  std::uint64_t opened_ns_ = kNever, closed_ns_ = kNever;  // begin and end of the selected time in the current process
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_REPORT_FIRST_PASS_H_
