// The distinct tensors of one chunk, their layouts and devices. A reference is a row number plus 1.
//
// A program shows the same few tensors again and again (arguments of neighbouring operators), so an event holds a small
// number and the 40 bytes stand once per chunk. One thread.
#ifndef TRACKER_WRITER_TENSOR_TABLE_H_
#define TRACKER_WRITER_TENSOR_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "interpose/ring_record.h"
#include "tracker/writer/content_ids.h"
#include "tracker/writer/varint_column.h"

namespace memoir {

// Number of (type, index), definitions per part. The CPU is 0 whatever its index and needs no definition.
class Devices {
 public:
  std::uint32_t Find(std::uint8_t type, std::int8_t index, std::uint32_t part, std::string* payload);
  // Appends the DeviceDef unless this part has it; for keyframes.
  void Define(std::uint32_t id, std::uint32_t part, std::string* payload);

 private:
  struct Device {
    std::uint8_t type;
    std::int8_t index;
    std::uint32_t part;
  };
  std::vector<Device> devices_;  // id - 1
};

class TensorTable {
 public:
  explicit TensorTable(Devices* devices) : devices_(*devices), slots_(kFirstSlots), seen_(kSeen) {}

  // The reference of a tensor; appends LayoutDef and DeviceDef to `definitions` where this part lacks them. 0:
  // undefined.
  std::uint32_t Reference(const TensorRecord& tensor, std::uint32_t part, std::string* definitions);

  // Encoded size so far.
  std::size_t bytes() const;
  void AddTo(std::string* payload) const;  // nothing when there are no rows
  void Clear();                            // for the next chunk

 private:
  static constexpr std::size_t kFirstSlots = 4096;
  struct Row {
    std::uint64_t impl;
    std::uint64_t storage;
    std::uint64_t storage_bytes;
    std::uint32_t layout;
    std::uint32_t device;
    std::uint32_t traits;
    bool operator==(const Row&) const = default;
  };
  struct Slot {
    std::uint32_t chunk = 0;  // a slot of an earlier chunk is free
    std::uint32_t row = 0;
  };

  // A record as it came last, and its row: most tensors come again before their place here is taken by another one, and
  // need no hash of their layout then. In words; the first without the depth, which says nothing of the tensor.
  static constexpr std::size_t kSeen = 512;
  static constexpr std::size_t kSeenWords = 10;  // larger records are looked up each time
  struct Seen {
    std::uint32_t chunk = 0;  // of an earlier chunk: nothing
    std::uint32_t reference = 0;
    std::uint64_t record[kSeenWords];
  };
  static bool IsSame(const TensorRecord& tensor, const Seen& seen);

  std::uint32_t NewReference(const TensorRecord& tensor, std::uint32_t part, std::string* definitions);
  std::uint32_t Layout(const TensorRecord& tensor, std::uint32_t part, std::string* definitions);
  Slot& FindSlot(const Row& row);
  void Append(const Row& row);
  void Grow();

  Devices& devices_;
  ContentIds layouts_;
  std::vector<Row> rows_;
  std::vector<Slot> slots_;
  std::vector<Seen> seen_;
  std::uint32_t chunk_ = 1;
  bool any_device_ = false, any_traits_ = false;
  VarintColumn impl_delta_, storage_delta_, storage_bytes_, layout_, device_, traits_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_TENSOR_TABLE_H_
