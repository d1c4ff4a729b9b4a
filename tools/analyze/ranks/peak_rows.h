// The rows of the peaks of a role's members, compared with their usual bytes.
#ifndef TOOLS_ANALYZE_RANKS_PEAK_ROWS_H_
#define TOOLS_ANALYZE_RANKS_PEAK_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/ranks/odd_rank.h"
#include "tools/analyze/ranks/roles/rank_book.h"
#include "tools/analyze/ranks/roles/usual_value.h"

namespace memoir {

class PeakRows {
 public:
  PeakRows(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members, const RankBook& book);

  // Returns for each grouping the row that exceeds its usual bytes most; if `more` is false, the row that falls short
  // of them most. A row with a name is preferred to a larger row without one, such as "(no module)", if the difference
  // of the named row is at least a fourth of the other row's difference.
  std::vector<OddRow> LargestDifferences(const RankFacts& member, bool more) const;

  // Returns true if the sizes of the member's shards explain why it has `value` bytes instead of `usual`. With FSDP,
  // the last ranks may have smaller parts of parameters, gradients and optimizer state. A program that divides its
  // parameters itself may give the last rank fewer of them, or the first ranks more: 7, 7, 6, 6 and 6 of 32 heads. With
  // a sharded optimizer, the member may keep the state of larger parameters. False if the rows of its peak are unknown.
  bool HasOtherShards(const RankFacts& member, std::uint64_t value, const UsualValue& usual) const;

  // Returns true if the buffers of FSDP's collectives explain why the member's peak is `value` instead of `usual`.
  // Threads of NCCL or gloo hold the buffer of an all-gather or a reduce-scatter until it has ended, so some peaks
  // include one more buffer. Buffers explain at most as many bytes as they usually have. False if the rows of the peak
  // are unknown.
  bool HasOtherBuffers(const RankFacts& member, std::uint64_t value, const UsualValue& usual) const;

  // Returns true if the member's peak has no more bytes than usual in all categories but *temporary*, *parameter
  // (copy)* and *parameter (second copy)*. False if the rows of the peak are unknown.
  bool ExceedsInCopies(const RankFacts& member) const;

 private:
  struct MemberAndUsual {
    std::uint64_t bytes = 0, usual = 0;
  };
  std::map<std::string, MemberAndUsual> CategoriesOf(const RankFacts& member) const;  // by category
  // Sets last_larger_rank_ if the first members have equal bytes of parameters, and all others have equal and fewer
  // bytes. If only the first member has more, it must have more in two modules and be no replica of DDP. Sets
  // has_unequal_parameters_ if fewer than half of the members have equal bytes.
  void FindUnevenDivision(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members);
  static bool HasOtherOptimizer(const std::map<std::string, MemberAndUsual>& categories, bool is_padded);

  const RankBook& book_;
  std::uint32_t last_rank_ = 0;                    // the last rank among the members
  std::optional<std::uint32_t> last_larger_rank_;  // see FindUnevenDivision
  bool has_unequal_parameters_ = false;  // the members divide parameters into unequal parts, such as whole tables
  std::array<std::map<std::uint32_t, std::uint64_t>, kHeldBy.size()> usual_;  // usual bytes, by grouping and name
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_PEAK_ROWS_H_
