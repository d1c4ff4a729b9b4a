// Events of a device with a caching allocator: from the ring to the file field by field, and into keyframes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "interpose/ring/ring.h"
#include "interpose/system/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/driver_model.h"
#include "tests/writer/random_stream.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"

namespace memoir::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint8_t kCuda = 1;
constexpr DevicePlace kPlace{0x77, 3, 4, kCuda, 1, 0, 0};
constexpr DevicePlace kDefaultPlace{0, 0, 0, kCuda, 1, 0, 0};

// Writes records as the hook does.
class Hook {
 public:
  template <class Record>
  void Write(RecordKind kind, Record record, std::uint8_t flags = 0) {
    ThreadSlot* slot = RingThread();
    std::uint8_t* at = RingReserve(slot, sizeof(Record), OnEmptyPool::kDrop);
    ASSERT_NE(at, nullptr);
    record.header = {sizeof(Record) / 8, kind, flags, 0, 0};
    record.tick = Tick();
    record.serial = ++serial_;
    std::memcpy(at, &record, sizeof record);
    RingCommit(slot, sizeof record);
  }
  void Segment(SegmentAction action, std::uint64_t address, std::uint64_t bytes) {
    Write(
        RecordKind::kSegment,
        SegmentRecord{.header = {}, .tick = 0, .address = address, .bytes = bytes, .serial = 0, .place = kDefaultPlace},
        static_cast<std::uint8_t>(action));
  }
  void Block(std::uint64_t address, std::uint64_t bytes, std::uint64_t requested,
             RecordKind kind = RecordKind::kBlockAllocate) {
    Write(kind, BlockRecord{.header = {},
                            .tick = 0,
                            .address = address,
                            .bytes = bytes,
                            .requested = requested,
                            .serial = 0,
                            .place = kPlace});
  }
  void Free(RecordKind kind, std::uint64_t address) {
    Write(kind, DeallocateRecord{.header = {},
                                 .tick = 0,
                                 .address = address,
                                 .serial = 0,
                                 .device_type = kCuda,
                                 .device_index = 1,
                                 .reserved0 = 0,
                                 .reserved1 = 0});
  }

  void set_serial(std::uint64_t last) { serial_ = last; }

 private:
  std::uint64_t serial_ = 0;
};

// Driver events: a block of a library whose name is cut, a host block that is freed, a refusal, readings. A block
// without a library, whose deallocation is recorded before it.
void ProduceDriver(Hook& hook) {
  const auto block = [](std::uint64_t address, std::uint64_t bytes, std::uint8_t device, const std::string& library) {
    DriverBlockRecord record{};
    record.address = address;
    record.bytes = bytes;
    record.device_type = device;
    record.device_index = device == kCuda ? std::int8_t{1} : std::int8_t{-1};
    library.copy(record.library, kMaxLibraryName);
    return record;
  };
  const auto flags = [](DriverCall call) { return static_cast<std::uint8_t>(call); };
  hook.Write(RecordKind::kDriverAllocate, block(0x70000, 37 * kMiB, kCuda, std::string(60, 'l')),
             flags(DriverCall::kMalloc));
  hook.Write(RecordKind::kDriverAllocate, block(0x80000, kMiB, 0, "libc10_cuda.so"), flags(DriverCall::kHostAllocate));
  DeallocateRecord free{};
  free.address = 0x80000;
  hook.Write(RecordKind::kDriverFree, free);
  DriverRefusedRecord refused{};
  refused.bytes = 5 * kMiB;
  refused.device_free = kNotKnown;
  refused.device_type = kCuda;
  refused.device_index = 1;
  refused.error = 2;
  std::string("libnccl.so.2").copy(refused.library, kMaxLibraryName);
  hook.Write(RecordKind::kDriverRefused, refused, flags(DriverCall::kCommunicator));
  for (const std::uint64_t free_bytes : {90, 20, 50, 60}) {
    DeviceReadingRecord reading{};
    reading.free_bytes = free_bytes;
    reading.total_bytes = 100;
    reading.process_bytes = kNotKnown;
    reading.other_processes_bytes = 0;
    reading.pool_bytes = 7;
    reading.device_type = kCuda;
    reading.device_index = 1;
    hook.Write(RecordKind::kDeviceReading, reading, static_cast<std::uint8_t>(ReadingCause::kRegular));
  }
  hook.set_serial(102);
  free.address = 0x90000;
  hook.Write(RecordKind::kDriverFree, free);
  hook.set_serial(100);
  hook.Write(RecordKind::kDriverAllocate, block(0x90000, 3, 0, ""), flags(DriverCall::kHostRegister));
}

// A block that lives, one that waits for its free, one found, one gone; of a mapped range the middle is unmapped.
void Produce(Hook& hook) {
  hook.Segment(SegmentAction::kAllocate, 0x1000000, 20 * kMiB);
  hook.Segment(SegmentAction::kFound, 0x9000000, 2 * kMiB);
  hook.Segment(SegmentAction::kMap, 0x20000000, 6 * kMiB);
  hook.Segment(SegmentAction::kUnmap, 0x20000000 + 2 * kMiB, 2 * kMiB);
  hook.Write(RecordKind::kDeviceStatistics, DeviceStatisticsRecord{.header = {},
                                                                   .tick = 0,
                                                                   .serial = 0,
                                                                   .allocated_bytes = 1,
                                                                   .active_bytes = 2,
                                                                   .reserved_bytes = 3,
                                                                   .alloc_retries = 5,
                                                                   .ooms = 6,
                                                                   .device_type = kCuda,
                                                                   .device_index = 1,
                                                                   .reserved0 = 0,
                                                                   .reserved1 = 0});
  hook.Block(0x1000000, 3 * kMiB, 3 * kMiB - 7);
  hook.Block(0x1400000, kMiB, 1000);
  hook.Free(RecordKind::kDeallocate, 0x1400000);
  hook.Block(0x1800000, 2 * kMiB, 2 * kMiB);
  hook.Free(RecordKind::kDeallocate, 0x1800000);
  hook.Free(RecordKind::kBlockFreeCompleted, 0x1800000);
  hook.Block(0x9000000, 512, 5, RecordKind::kBlockFound);
  hook.Write(RecordKind::kOutOfMemory, OutOfMemoryRecord{.header = {},
                                                         .tick = 0,
                                                         .requested = 99 * kMiB,
                                                         .device_free = 7,
                                                         .device_limit = 80 * kMiB,
                                                         .serial = 0,
                                                         .place = kPlace});
}

TEST(Devices, EveryFieldArrives) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  Hook hook;
  Produce(hook);
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_TRUE(capture.errors.empty()) << capture.errors.front();
  const auto threads = capture.EventsByThread();
  ASSERT_EQ(threads.size(), 1u);
  const std::vector<Event>& events = threads.begin()->second;
  ASSERT_EQ(events.size(), 13u);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].serial, i + 1);
    EXPECT_EQ(events[i].device, (DeviceName{"cuda", 1}));
  }
  EXPECT_EQ(events[0].kind, memoir::v1::SEGMENT_ALLOCATE);
  EXPECT_EQ(events[1].kind, memoir::v1::SEGMENT_FOUND);
  EXPECT_EQ(events[3].kind, memoir::v1::SEGMENT_UNMAP);
  EXPECT_EQ(events[3].bytes, 2 * kMiB);
  EXPECT_EQ(events[3].pool, (std::pair<std::uint32_t, std::uint32_t>{0, 0}));
  EXPECT_EQ(events[4].statistics, (std::vector<std::uint64_t>{1, 2, 3, 5, 6}));
  const Event& block = events[5];
  EXPECT_EQ(block.kind, memoir::v1::BLOCK_ALLOCATE);
  EXPECT_EQ(block.address, 0x1000000u);
  EXPECT_EQ(block.bytes, 3 * kMiB);
  EXPECT_EQ(block.requested, 3 * kMiB - 7);
  EXPECT_EQ(block.stream, 0x77u);
  EXPECT_EQ(block.pool, (std::pair<std::uint32_t, std::uint32_t>{3, 4}));
  EXPECT_EQ(events[10].kind, memoir::v1::DEALLOCATE_COMPLETED);
  EXPECT_EQ(events[10].address, 0x1800000u);
  EXPECT_EQ(events[11].kind, memoir::v1::BLOCK_FOUND);
  EXPECT_EQ(events[12].kind, memoir::v1::OUT_OF_MEMORY);
  EXPECT_EQ(events[12].bytes, 99 * kMiB);
  EXPECT_EQ(events[12].device_free, 7u);
  EXPECT_EQ(events[12].device_limit, 80 * kMiB);
}

TEST(Devices, EveryFieldOfTheDriverArrives) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  Hook hook;
  ProduceDriver(hook);
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_TRUE(capture.errors.empty()) << capture.errors.front();
  const auto threads = capture.EventsByThread();
  ASSERT_EQ(threads.size(), 1u);
  const std::vector<Event>& events = threads.begin()->second;
  ASSERT_EQ(events.size(), 10u);
  EXPECT_EQ(events[0].kind, memoir::v1::DRIVER_ALLOCATE);
  EXPECT_EQ(events[0].bytes, 37 * kMiB);
  EXPECT_EQ(events[0].address, 0x70000u);
  EXPECT_EQ(events[0].driver_call, static_cast<std::uint32_t>(memoir::v1::MALLOC));
  EXPECT_EQ(events[0].library, std::string(kMaxLibraryName, 'l'));
  EXPECT_EQ(events[0].device, (DeviceName{"cuda", 1}));
  EXPECT_EQ(events[1].driver_call, static_cast<std::uint32_t>(memoir::v1::HOST_ALLOCATE));
  EXPECT_EQ(events[1].library, "libc10_cuda.so");
  EXPECT_EQ(events[1].device, (DeviceName{"cpu", 0}));
  EXPECT_EQ(events[2].kind, memoir::v1::DRIVER_FREE);
  EXPECT_EQ(events[2].serial, 3u);
  EXPECT_EQ(events[3].kind, memoir::v1::DRIVER_REFUSED);
  EXPECT_EQ(events[3].bytes, 5 * kMiB);
  EXPECT_EQ(events[3].driver_error, 2u);
  EXPECT_EQ(events[3].device_free, kNotKnown);
  EXPECT_EQ(events[3].driver_call, static_cast<std::uint32_t>(memoir::v1::COMMUNICATOR));
  EXPECT_EQ(events[3].library, "libnccl.so.2");
  EXPECT_EQ(events[4].kind, memoir::v1::DEVICE_READING);
  EXPECT_EQ(events[4].reading_cause, static_cast<std::uint32_t>(memoir::v1::REGULAR));
  EXPECT_EQ(events[4].reading, (std::vector<std::uint64_t>{90, 100, kNotKnown, 0, 7}));
  EXPECT_EQ(events[9].library, "");
}

TEST(Devices, KeyframesKnowWhatTheDriverGave) {
  Recording::Options options;
  options.part_bytes = 1;
  Recording recording(options);
  ASSERT_TRUE(recording.ok()) << recording.error();
  Hook hook;
  ProduceDriver(hook);
  recording.writer().Flush();
  hook.Segment(SegmentAction::kFree, 0x40000000, kMiB);  // it makes the next part
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_TRUE(capture.errors.empty()) << capture.errors.front();
  const DecodedPart& part = capture.parts.back();
  const memoir::v1::Keyframe& keyframe = part.chunks.front().payload.keyframe();
  const auto name = [&](std::uint32_t id) { return part.names.at(id).text(); };
  const auto device = [&](std::uint32_t id) {
    return id == 0 ? DeviceName{"cpu", 0} : DeviceName{part.devices.at(id).type(), part.devices.at(id).index()};
  };
  const auto live = DriverBlocksOf(keyframe, name, device);
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live.begin()->first, (DriverModel::Where{{"cuda", 1}, 0x70000}));
  EXPECT_EQ(std::get<0>(live.begin()->second), 37 * kMiB);
  EXPECT_EQ(std::get<4>(live.begin()->second), std::string(kMaxLibraryName, 'l'));
  std::vector<std::uint64_t> free;
  for (const DriverModel::Reading& reading : ReadingsOf(keyframe, device)) free.push_back(std::get<3>(reading)[0]);
  EXPECT_EQ(free, (std::vector<std::uint64_t>{90, 20, 60}));
}

// As many as the hooks know (interpose/cuda/block_table.cc): a reader that begins there takes them for all that there
// are.
TEST(Devices, KeyframesHaveEveryBlockOfTheDrivers) {
  constexpr std::uint64_t kBlocks = 60'000;
  Recording recording({.capture = "", .ring_bytes = kMinRingBytes, .max_bytes = 0, .part_bytes = 4096});
  ASSERT_TRUE(recording.ok()) << recording.error();
  Hook hook;
  DriverBlockRecord block{};
  block.device_type = kCuda;
  block.bytes = 2 * kMiB;
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    block.address = 0x100000 + i * block.bytes;
    hook.Write(RecordKind::kDriverAllocate, block, static_cast<std::uint8_t>(DriverCall::kMalloc));
    if (i % 5000 == 0) recording.writer().Flush();
  }
  recording.writer().Flush();
  hook.Free(RecordKind::kDeallocate, 1);
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  ASSERT_TRUE(capture.errors.empty()) << capture.errors.front();
  int most = 0;
  for (const DecodedPart& part : capture.parts) {
    const memoir::v1::Keyframe& keyframe = part.chunks.front().payload.keyframe();
    most = std::max(most, keyframe.driver().bytes_size());
    EXPECT_FALSE(keyframe.incomplete());
  }
  EXPECT_EQ(most, static_cast<int>(kBlocks));
}

TEST(Devices, KeyframesKnowThem) {
  Recording::Options options;
  options.part_bytes = 1;  // a part, and with it a keyframe, for nearly every chunk
  Recording recording(options);
  ASSERT_TRUE(recording.ok()) << recording.error();
  Hook hook;
  Produce(hook);
  recording.writer().Flush();
  hook.Segment(SegmentAction::kFree, 0x40000000, kMiB);  // of nothing that is known; it makes the next part
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_TRUE(capture.errors.empty()) << capture.errors.front();
  ASSERT_GE(capture.parts.size(), 2u);
  const memoir::v1::Keyframe& keyframe = capture.parts.back().chunks.front().payload.keyframe();
  ASSERT_EQ(keyframe.devices_size(), 2);
  const memoir::v1::DeviceTotals& totals = keyframe.devices(1);
  EXPECT_EQ(totals.live_bytes(), 3 * kMiB + 512);
  EXPECT_EQ(totals.active_bytes(), 4 * kMiB + 512);
  EXPECT_EQ(totals.peak_active_bytes(), 6 * kMiB);
  EXPECT_EQ(totals.reserved_bytes(), 26 * kMiB);
  EXPECT_EQ(totals.peak_reserved_bytes(), 28 * kMiB);
  EXPECT_EQ(totals.alloc_retries(), 5u);
  EXPECT_EQ(totals.ooms(), 7u);
  EXPECT_EQ(totals.allocations(), 3u) << "one was found, not allocated";
  EXPECT_EQ(keyframe.live().bytes_size(), 2);
  EXPECT_EQ(keyframe.live().requested_bytes_size(), 2);
  ASSERT_EQ(keyframe.freeing().bytes_size(), 1);
  EXPECT_EQ(keyframe.freeing().bytes(0), kMiB);
  EXPECT_EQ(keyframe.freeing().address_delta(0), 0x1400000);
  std::uint64_t address = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> segments;
  for (int i = 0; i < keyframe.segments().bytes_size(); ++i) {
    address += static_cast<std::uint64_t>(keyframe.segments().address_delta(i));
    segments.emplace_back(address, keyframe.segments().bytes(i));
  }
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> wanted = {
      {0x1000000, 20 * kMiB}, {0x9000000, 2 * kMiB}, {0x20000000, 2 * kMiB}, {0x20000000 + 4 * kMiB, 2 * kMiB}};
  EXPECT_EQ(segments, wanted);
}

std::uint64_t FolderBytes(const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

// Peak and error stand in early parts, which would be evicted long since.
TEST(Devices, ASizeCapKeepsThePartsWithThePeakAndWithOutOfMemoryErrors) {
  constexpr std::uint64_t kCap = 400'000, kAsked = 77, kPeakBytes = std::uint64_t{1} << 60;
  Recording recording({.capture = "", .ring_bytes = kMinRingBytes, .max_bytes = kCap, .part_bytes = kDefaultPartBytes});
  RandomHeap heap(11);
  RingProducer producer;
  RandomStream stream(11, &heap);
  std::uint64_t produced = 0;
  const auto produce = [&](int events) {
    for (int i = 0; i < events; ++i, ++produced) {
      Event event = stream.Next();
      event.tick = Tick();
      ASSERT_TRUE(producer.Record(event));
      if (i % 100 != 0) continue;
      recording.writer().Flush();
      ASSERT_LE(FolderBytes(recording.folder()), kCap);
    }
  };
  produce(4000);
  Hook hook;
  hook.Segment(SegmentAction::kAllocate, 0x1000000, kPeakBytes);
  hook.Block(0x1000000, kPeakBytes, kPeakBytes);
  hook.Free(RecordKind::kDeallocate, 0x1000000);
  hook.Free(RecordKind::kBlockFreeCompleted, 0x1000000);
  produce(6000);
  hook.Write(RecordKind::kOutOfMemory, OutOfMemoryRecord{.header = {},
                                                         .tick = 0,
                                                         .requested = kAsked,
                                                         .device_free = 7,
                                                         .device_limit = 80 * kMiB,
                                                         .serial = 0,
                                                         .place = kPlace});
  produce(15'000);
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_EQ(capture.errors, std::vector<std::string>());
  EXPECT_GT(capture.counters().folded_parts(), 3u);
  EXPECT_EQ(capture.events() + capture.counters().folded_events(), produced + 5);
  std::uint64_t peaks = 0, errors = 0;
  for (const auto& [id, events] : capture.EventsByThread()) {
    for (const Event& event : events) {
      peaks += event.kind == memoir::v1::BLOCK_ALLOCATE && event.bytes == kPeakBytes;
      errors += event.kind == memoir::v1::OUT_OF_MEMORY && event.bytes == kAsked;
    }
  }
  EXPECT_EQ(peaks, 1u);
  EXPECT_EQ(errors, 1u);
}

}  // namespace
}  // namespace memoir::test
