// Which bytes of device memory hold the values that a real GPU would have there: what copies, fills and computed
// operators wrote. Everything else is unknown, and reads as zero: never written, or written by a kernel that was not
// computed.
//
// Not locked: contents.h holds its lock.
#ifndef INTERPOSE_SIMCUDA_KNOWN_BYTES_H_
#define INTERPOSE_SIMCUDA_KNOWN_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <map>

namespace memoir::simcuda {

class KnownBytes {
 public:
  void Add(std::uint64_t address, std::uint64_t bytes);
  void Remove(std::uint64_t address, std::uint64_t bytes);
  // All of them; true for none.
  bool Contains(std::uint64_t address, std::uint64_t bytes) const;

  std::size_t ranges() const { return ranges_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first -> end; neighbours are merged
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_KNOWN_BYTES_H_
