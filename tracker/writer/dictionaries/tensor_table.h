// The tensors of one chunk, each stored once, with their layouts and devices. An event refers to a tensor by the
// tensor's row number plus 1.
//
// Many operators of a chunk have the same tensors as arguments. So an event contains only a small number for each
// tensor, and the tensor's 40 bytes are stored once per chunk. One thread.
#ifndef TRACKER_WRITER_DICTIONARIES_TENSOR_TABLE_H_
#define TRACKER_WRITER_DICTIONARIES_TENSOR_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "interpose/records/ring_record.h"
#include "tracker/writer/dictionaries/content_ids.h"
#include "tracker/writer/events/varint_column.h"

namespace memoir {

// Assigns ids to devices (type, index), and defines the ids once per part. The id of the CPU is 0 whatever its index
// is, and needs no definition.
class Devices {
 public:
  std::uint32_t Find(std::uint8_t type, std::int8_t index, std::uint32_t part, std::string* payload);
  // Appends the DeviceDef, unless this part has it already; for keyframes.
  void Define(std::uint32_t id, std::uint32_t part, std::string* payload);

 private:
  struct Device {
    std::uint8_t type;
    std::int8_t index;
    std::uint32_t part;
  };
  std::vector<Device> devices_;  // index: id - 1
};

class TensorTable {
 public:
  explicit TensorTable(Devices* devices) : devices_(*devices), slots_(kFirstSlots), recent_(kRecentTensors) {}

  // Returns the reference to a tensor: its row number plus 1; 0 for an undefined tensor. Appends the LayoutDef and the
  // DeviceDef to `definitions`, if this part lacks them.
  std::uint32_t FindReference(const TensorRecord& tensor, std::uint32_t part, std::string* definitions);

  // Returns the encoded size, in bytes, of the tensors so far.
  std::size_t bytes() const;
  void AddTo(std::string* payload) const;  // adds nothing if there are no rows
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

  // An entry of recent_: the most recent tensor record whose hash selects this entry, and its reference. Most tensors
  // are used again before another tensor replaces them here, and then their layout need not be hashed. The first word
  // of the record is stored without the depth, because the depth is not a property of the tensor.
  static constexpr std::size_t kRecentTensors = 512;
  static constexpr std::size_t kRecentTensorWords = 10;  // larger records are looked up each time
  struct RecentTensor {
    std::uint32_t chunk = 0;  // an entry of an earlier chunk is invalid
    std::uint32_t reference = 0;
    std::uint64_t record[kRecentTensorWords];
  };
  static bool IsSame(const TensorRecord& tensor, const RecentTensor& seen);

  std::uint32_t AddReference(const TensorRecord& tensor, std::uint32_t part, std::string* definitions);
  std::uint32_t FindLayout(const TensorRecord& tensor, std::uint32_t part, std::string* definitions);
  Slot& FindSlot(const Row& row);
  void Append(const Row& row);
  void Grow();

  Devices& devices_;
  ContentIds layouts_;
  std::vector<Row> rows_;
  std::vector<Slot> slots_;
  std::vector<RecentTensor> recent_;
  std::uint32_t chunk_ = 1;
  bool any_device_ = false, any_traits_ = false;
  VarintColumn impl_delta_, storage_delta_, storage_bytes_, layout_, device_, traits_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_DICTIONARIES_TENSOR_TABLE_H_
