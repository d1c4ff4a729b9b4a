// The allocated bytes of a role's members in the same windows of steps, without DDP's buckets.
#ifndef TOOLS_ANALYZE_RANKS_ROLES_ROLE_WINDOWS_H_
#define TOOLS_ANALYZE_RANKS_ROLES_ROLE_WINDOWS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tools/analyze/ranks/roles/rank_book.h"

namespace memoir {

// With fewer windows, the steps of ranks are not compared.
inline constexpr std::size_t kFewestWindows = 4;

class RoleWindows {
 public:
  using Windows = std::map<std::uint64_t, std::uint64_t>;  // bytes, by first step / steps()

  // `members`: indices in `ranks`. Neither needs to outlive the object.
  RoleWindows(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members);

  std::uint64_t steps() const { return steps_; }                               // length of a window
  std::size_t count() const { return all_.size(); }                            // number of windows
  const Windows& of(std::size_t member) const { return of_members_[member]; }  // `member`: index in `members`
  // Returns the bytes of all members that reached a window.
  const std::vector<std::uint64_t>& all(std::uint64_t window) const { return all_.at(window); }
  // The distance from the median that only a few members exceed in any window. 0 unless the bytes of more than a
  // quarter of the members vary.
  std::uint64_t noise() const { return noise_; }
  // True if fewer than half of the members have equal bytes in most windows: each rank has its own data.
  bool has_unequal_members() const { return has_unequal_members_; }
  // Returns the largest distance from the median of any member except `member`, in any window.
  std::uint64_t FurthestOther(std::size_t member) const;

 private:
  std::size_t CountVarying() const;

  std::uint64_t steps_ = 1;
  std::vector<Windows> of_members_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> all_;  // bytes of the members, by window
  Windows usual_;                                            // medians of all_
  std::uint64_t noise_ = 0;
  bool has_unequal_members_ = false;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ROLES_ROLE_WINDOWS_H_
