// A set of bytes of device memory, as ranges.
//
// Contents (contents.h) has the set of known bytes, which hold the values that a real GPU would have there. A captured
// graph (graph_capture.h) has the set of bytes that it writes.
//
// Not locked; the owner locks.
#ifndef SIMCUDA_CONTENTS_BYTE_RANGES_H_
#define SIMCUDA_CONTENTS_BYTE_RANGES_H_

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
  // Whether the set contains all of the bytes. True if `bytes` is 0.
  bool Contains(std::uint64_t address, std::uint64_t bytes) const;

  std::size_t ranges() const { return ranges_.size(); }
  std::vector<ByteRange> List() const;  // sorted by address

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first -> end; neighbours are merged
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_CONTENTS_BYTE_RANGES_H_
