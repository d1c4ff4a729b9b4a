// A set of bytes of device memory, as the ranges that it consists of.
//
// Contents (contents.h) has one of the bytes that are known: that hold the values which a real GPU would have there. A
// captured graph (capture.h) has one of those that it writes.
//
// Not locked: whoever has one does that.
#ifndef INTERPOSE_SIMCUDA_BYTE_RANGES_H_
#define INTERPOSE_SIMCUDA_BYTE_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace memoir::simcuda {

struct ByteRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

class ByteRanges {
 public:
  void Add(std::uint64_t address, std::uint64_t bytes);
  void Remove(std::uint64_t address, std::uint64_t bytes);
  // All of them; true for none.
  bool Contains(std::uint64_t address, std::uint64_t bytes) const;

  std::size_t ranges() const { return ranges_.size(); }
  std::vector<ByteRange> List() const;  // by address

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first -> end; neighbours are merged
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_BYTE_RANGES_H_
