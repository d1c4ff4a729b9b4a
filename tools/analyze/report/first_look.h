// A first look at a recording, before what is kept of it can be chosen: from when to when each device has events, or
// the window is, where its peak is, and how large and long-lived a block must be to be among the N that are kept
// singly.
#ifndef TOOLS_ANALYZE_REPORT_FIRST_LOOK_H_
#define TOOLS_ANALYZE_REPORT_FIRST_LOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tools/analyze/pass/instant.h"
#include "tools/analyze/report/report.h"

namespace memoir {

// How much of the picture a block is: its bytes times its life. In steps of a sixteenth of a power of two.
std::uint32_t WeightOf(std::uint64_t bytes, std::uint64_t life_ns);

struct DeviceLook {
  ProcessId process;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_change = 0;  // its change with which that was first reached; 0: it never holds anything
  std::uint64_t changes = 0;
  std::uint64_t blocks = 0;
  std::uint32_t least_weight = 0;  // of a block that is kept; set by ChooseBlocks
};

class FirstLook : public ChangePass {
 public:
  static constexpr std::size_t kWeights = 128 * 16;
  using ChangePass::ChangePass;

  // `most`: of all devices together; each gets its share.
  std::map<DeviceId, DeviceLook> ChooseBlocks(std::size_t most);
  // How many windows each process has: the last one ends what is shown of it.
  const std::map<ProcessId, std::uint64_t>& window_counts() const { return windows_; }
  const ReportWhole& whole() const { return whole_; }

 protected:
  void WindowOpens(const Event& event) override;
  void WindowCloses(const Event& event) override;
  void Added(const Block& block, const Event& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void Removed(const Block& block) override;
  void Changed(const Event& event, DeviceId id, Device& device) override;
  void SeeProcessBegin(const ProcessEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  struct Look {
    DeviceLook shown;
    std::array<std::uint64_t, kWeights> weights{};
  };
  struct Begun {
    std::uint64_t ns = 0;
    std::uint64_t bytes = 0;
    DeviceId device;
  };
  void CountWeight(Begun begun, std::uint64_t end_ns);

  bool is_whole() const { return selection().window.kind == Window::Kind::kAll; }

  std::map<DeviceId, Look> looks_;
  std::map<ProcessId, std::uint64_t> windows_;
  ReportWhole whole_;
  std::vector<Begun> begun_;  // by slot
  Begun late_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t opened_ns_ = kNever, closed_ns_ = kNever;  // the first, the latest window of the process in hand
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_FIRST_LOOK_H_
