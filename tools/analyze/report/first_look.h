// A first look at a recording, before what is kept of it can be chosen: from when to when each device has events, where
// its peak is, and how large and long-lived a block must be to be among the N that are kept singly.
#ifndef TOOLS_ANALYZE_REPORT_FIRST_LOOK_H_
#define TOOLS_ANALYZE_REPORT_FIRST_LOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tools/analyze/pass/instant.h"

namespace memoir {

// How much of the picture a block is: its bytes times its life. In steps of a sixteenth of a power of two.
std::uint32_t WeightOf(std::uint64_t bytes, std::uint64_t life_ns);

struct DeviceLook {
  ProcessId process;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_change = 0;  // its change with which that was first reached
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

 protected:
  void Added(const Block& block, const Event& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void Removed(const Block& block) override;
  void Changed(const Event& event, DeviceId id, Device& device) override;
  void SeeProcessEnd(const ProcessEvent& event) override;

 private:
  struct Look {
    DeviceLook shown;
    std::array<std::uint64_t, kWeights> weights{};
  };
  struct Begun {
    std::uint64_t ns = 0;
    std::uint64_t bytes = 0;
    DeviceId device;
  };
  void CountWeight(const Begun& begun, std::uint64_t end_ns);

  std::map<DeviceId, Look> looks_;
  std::vector<Begun> begun_;  // by slot
  Begun late_;
  std::uint64_t now_ns_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_FIRST_LOOK_H_
