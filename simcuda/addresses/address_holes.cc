#include "simcuda/addresses/address_holes.h"

#include <algorithm>
#include <iterator>

namespace memoir::simcuda {

void AddressHoles::Give(std::uint64_t address, std::uint64_t bytes) {
  const auto here = holes_.emplace(address, bytes).first;
  const auto next = std::next(here);
  if (next != holes_.end() && address + here->second == next->first) {
    here->second += next->second;
    holes_.erase(next);
  }
  if (here == holes_.begin()) return;
  const auto before = std::prev(here);
  if (before->first + before->second != address) return;
  before->second += here->second;
  holes_.erase(here);
}

void AddressHoles::Cut(Map::const_iterator hole, std::uint64_t address, std::uint64_t bytes) {
  const auto [begin, size] = *hole;
  const std::uint64_t end = begin + size;
  holes_.erase(hole);
  if (address > begin) holes_[begin] = address - begin;
  if (end > address + bytes) holes_[address + bytes] = end - address - bytes;
}

std::uint64_t AddressHoles::Largest() const {
  std::uint64_t largest = 0;
  for (const auto& [address, bytes] : holes_) largest = std::max(largest, bytes);
  return largest;
}

}  // namespace memoir::simcuda
