#include "tools/analyze/grouping/pools.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace memoir {
namespace {

constexpr std::uint64_t kMostSmall = 1u << 20;  // torch's kSmallSize

}  // namespace

std::uint32_t Pools::NumberOf(const Block& block) {
  const Pool pool = {block.stream, block.pool_graph, block.pool_user, block.bytes <= kMostSmall};
  if (last_ < pools_.size() && pools_[last_] == pool) return last_;
  const auto [known, added] = numbers_.try_emplace(pool, static_cast<std::uint32_t>(pools_.size()));
  if (added) pools_.push_back(pool);
  return last_ = known->second;
}

std::string Pools::LabelOf(std::uint32_t number) const {
  const Pool& pool = pools_[number];
  const bool is_private = pool.graph != 0 || pool.user != 0;
  return absl::StrCat(
      is_private ? absl::StrFormat("%s (%d, %d)", pool.user == 0 ? "graph pool" : "MemPool", pool.graph, pool.user)
                 : "default pool",
      pool.small ? ", up to 1 MiB" : ", over 1 MiB",
      pool.stream == 0 ? "" : absl::StrFormat(", stream 0x%x", pool.stream));
}

}  // namespace memoir
