// Compares keyframes with the live blocks, stacks and sums that the test computes from the events of earlier chunks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "interpose/system/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/driver_model.h"
#include "tests/writer/random_stream.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"

namespace memoir::test {
namespace {

using testing::IsEmpty;

struct Block {
  std::uint64_t bytes = 0, serial = 0, tick = 0;
  std::uint32_t thread = 0;
  std::string operator_name, leaf_name;
  auto operator<=>(const Block&) const = default;
};

struct Range {
  int kind = 0;
  std::string name;
  bool is_operator = false;
  std::uint64_t tick = 0;
};

struct Sums {
  std::uint64_t count = 0, outermost = 0, allocations = 0, allocated = 0, deallocated = 0;
  auto operator<=>(const Sums&) const = default;
};

struct DeviceState {
  std::uint64_t live = 0, blocks = 0, peak = 0, peak_tick = 0, allocated = 0, allocations = 0, deallocations = 0;
  auto operator<=>(const DeviceState&) const = default;
};

// A simple model of the recorded state: maps, with every name as text.
class Model {
 public:
  void Apply(std::uint32_t thread, const Event& event) {
    auto& stack = open[thread];
    if (event.kind <= memoir::v1::RANGE_BEGIN_DISPATCH) {
      const bool is_operator = !event.schema.empty();
      if (is_operator) {
        ++operators[event.name].count;
        if (Outermost(stack).empty()) ++operators[event.name].outermost;
      }
      stack.push_back({event.kind, event.name, is_operator, event.tick});
    } else if (event.kind == memoir::v1::RANGE_END) {
      stack.pop_back();
    } else if (event.kind == memoir::v1::ALLOCATE) {
      Allocate(thread, event, stack);
    } else if (event.kind == memoir::v1::DEALLOCATE) {
      Deallocate(event);
    }
    driver.Apply(event);
    ++events;
  }

  std::map<std::pair<DeviceName, std::uint64_t>, Block> live;
  std::map<std::uint32_t, std::vector<Range>> open;
  std::map<std::string, Sums> operators;
  std::map<DeviceName, DeviceState> devices;
  DriverModel driver;
  std::uint64_t events = 0;

 private:
  static std::string Outermost(const std::vector<Range>& stack) {
    for (const Range& range : stack) {
      if (range.is_operator) return range.name;
    }
    return "";
  }
  void Allocate(std::uint32_t thread, const Event& event, const std::vector<Range>& stack) {
    const std::string operator_name = Outermost(stack);
    live[{event.device, event.address}] = {event.bytes, event.serial,  event.tick,
                                           thread,      operator_name, stack.empty() ? "" : stack.back().name};
    DeviceState& device = devices[event.device];
    device.live += event.bytes;
    device.allocated += event.bytes;
    ++device.blocks;
    ++device.allocations;
    if (device.live > device.peak) {
      device.peak = device.live;
      device.peak_tick = event.tick;
    }
    ++operators[operator_name].allocations;
    operators[operator_name].allocated += event.bytes;
  }
  void Deallocate(const Event& event) {
    DeviceState& device = devices[event.device];
    ++device.deallocations;
    const auto found = live.find({event.device, event.address});
    if (found == live.end()) return;
    device.live -= found->second.bytes;
    --device.blocks;
    operators[found->second.operator_name].deallocated += found->second.bytes;
    live.erase(found);
  }
};

class KeyframeCheck {
 public:
  KeyframeCheck(const DecodedPart& part, const DecodedChunk& chunk) : part_(part), frame_(chunk.payload.keyframe()) {}

  void Against(const Model& model) {
    EXPECT_EQ(frame_.events_before(), model.events);
    EXPECT_FALSE(frame_.incomplete());
    CheckLive(model);
    CheckOpen(model);
    CheckOperators(model);
    CheckDevices(model);
    CheckDriver(model.driver);
  }

 private:
  std::string Name(std::uint32_t id) {
    if (id == 0) return "";
    EXPECT_TRUE(part_.names.contains(id)) << "a keyframe's name is not defined in its part";
    return part_.names.contains(id) ? part_.names.at(id).text() : "?";
  }
  DeviceName Device(std::uint32_t id) {
    if (id == 0) return {"cpu", 0};
    EXPECT_TRUE(part_.devices.contains(id));
    return {part_.devices.at(id).type(), part_.devices.at(id).index()};
  }
  void CheckLive(const Model& model) {
    const memoir::v1::LiveBlocks& blocks = frame_.live();
    std::map<std::pair<DeviceName, std::uint64_t>, Block> live;
    std::uint64_t address = 0, serial = 0, tick = 0;
    for (int i = 0; i < blocks.bytes_size(); ++i) {
      address += static_cast<std::uint64_t>(blocks.address_delta(i));
      serial += static_cast<std::uint64_t>(blocks.serial_delta(i));
      tick += static_cast<std::uint64_t>(blocks.tick_delta(i));
      EXPECT_TRUE(part_.threads.contains(blocks.thread(i)));
      live[{Device(blocks.device_size() == 0 ? 0 : blocks.device(i)), address}] = {
          blocks.bytes(i), serial, tick, blocks.thread(i), Name(blocks.operator_name(i)), Name(blocks.leaf_name(i))};
    }
    EXPECT_EQ(live, model.live);
  }
  void CheckOpen(const Model& model) {
    std::map<std::uint32_t, std::vector<std::tuple<int, std::string, std::uint64_t>>> got, expected;
    for (const memoir::v1::OpenRanges& open : frame_.open()) {
      for (int i = 0; i < open.name_size(); ++i) {
        got[open.thread()].emplace_back(open.kind()[static_cast<std::size_t>(i)], Name(open.name(i)),
                                        open.begin_tick(i));
      }
    }
    for (const auto& [thread, stack] : model.open) {
      for (const Range& range : stack) expected[thread].emplace_back(range.kind, range.name, range.tick);
    }
    EXPECT_EQ(got, expected);
  }
  void CheckOperators(const Model& model) {
    std::map<std::string, Sums> got;
    for (const memoir::v1::OperatorTotals& totals : frame_.operators()) {
      Sums& sums = got[Name(totals.name())];  // an operator that two threads define at the same time has two ids
      sums.count += totals.count();
      sums.outermost += totals.outermost_count();
      sums.allocations += totals.allocations();
      sums.allocated += totals.allocated_bytes();
      sums.deallocated += totals.deallocated_bytes();
    }
    EXPECT_EQ(got, model.operators);
  }
  void CheckDevices(const Model& model) {
    std::map<DeviceName, DeviceState> got;
    for (const memoir::v1::DeviceTotals& totals : frame_.devices()) {
      if (totals.allocations() == 0) continue;
      got[Device(totals.device())] = {totals.live_bytes(),   totals.live_blocks(),     totals.peak_bytes(),
                                      totals.peak_tick(),    totals.allocated_bytes(), totals.allocations(),
                                      totals.deallocations()};
    }
    EXPECT_EQ(got, model.devices);
  }
  void CheckDriver(const DriverModel& model) {
    const auto device = [this](std::uint32_t id) { return Device(id); };
    EXPECT_EQ(DriverBlocksOf(frame_, [this](std::uint32_t id) { return Name(id); }, device), model.live);
    EXPECT_THAT(ReadingsOf(frame_, device), testing::UnorderedElementsAreArray(model.Readings()));
  }

  const DecodedPart& part_;
  const memoir::v1::Keyframe& frame_;
};

// Returns the events of a chunk with their threads, sorted by tick. Events of one thread keep their order.
std::vector<std::pair<std::uint32_t, const Event*>> InOrder(const DecodedChunk& chunk) {
  std::vector<std::pair<std::uint32_t, const Event*>> events;
  for (const DecodedRun& run : chunk.runs) {
    for (const Event& event : run.events) events.emplace_back(run.thread, &event);
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.second->tick < b.second->tick; });
  return events;
}

int CheckKeyframes(const DecodedCapture& capture) {
  Model model;
  int keyframes = 0;
  for (const DecodedPart& part : capture.parts) {
    EXPECT_TRUE(part.chunks.front().header.has_keyframe()) << "a part starts with a keyframe";
    for (const DecodedChunk& chunk : part.chunks) {
      SCOPED_TRACE(part.path + " sequence " + std::to_string(chunk.header.sequence()));
      if (chunk.payload.has_keyframe()) {
        KeyframeCheck(part, chunk).Against(model);
        ++keyframes;
      }
      for (const auto& [thread, event] : InOrder(chunk)) model.Apply(thread, *event);
    }
  }
  return keyframes;
}

void Produce(std::uint64_t seed, int events, RandomHeap* heap, Recording* recording) {
  RingProducer producer;
  RandomStream stream(seed, heap);
  for (int i = 0; i < events; ++i) {
    const std::lock_guard<std::mutex> lock(heap->lock());
    Event event = stream.Next();
    event.tick = Tick();
    ASSERT_TRUE(producer.Record(event));
    if (i % 97 == 0) recording->writer().Flush();
  }
}

// Returns the number of keyframes.
int RunAndCheck(std::uint64_t seed, int threads, int events) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Recording recording({.capture = "", .ring_bytes = kMinRingBytes, .max_bytes = 0, .part_bytes = 50'000});
  EXPECT_TRUE(recording.ok()) << recording.error();
  RandomHeap heap(seed);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back(Produce, seed * 100 + static_cast<std::uint64_t>(i), events, &heap, &recording);
  }
  for (std::thread& thread : running) thread.join();
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  EXPECT_EQ(capture.events(), static_cast<std::uint64_t>(events * threads));
  return CheckKeyframes(capture);
}

// Returns the state after the first `events` events of a capture that has one thread.
Model ModelAfter(const DecodedCapture& capture, std::uint64_t events) {
  Model model;
  for (const DecodedChunk* chunk : capture.chunks()) {
    for (const auto& [thread, event] : InOrder(*chunk)) {
      if (model.events < events) model.Apply(thread, *event);
    }
  }
  return model;
}

TEST(Keyframes, SnapshotsAreTheStateAtTheirInstant) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Recording recording({.capture = "", .ring_bytes = kMinRingBytes, .max_bytes = 0, .part_bytes = 50'000});
    ASSERT_TRUE(recording.ok()) << recording.error();
    const TemporaryFolder folder;
    RandomHeap heap(seed);
    RandomStream stream(seed, &heap);
    RingProducer producer;
    std::vector<std::string> snapshots;
    for (int i = 1; i <= 2000; ++i) {
      Event event = stream.Next();
      event.tick = Tick();
      ASSERT_TRUE(producer.Record(event));
      if (i % 251 != 0) continue;
      snapshots.push_back(folder.path() + "/" + std::to_string(i));
      ASSERT_EQ(recording.writer().WriteSnapshot({snapshots.back(), "test", false}), "");
    }
    recording.Stop();
    const DecodedCapture capture = DecodeFolder(recording.folder());
    EXPECT_THAT(capture.errors, IsEmpty());
    EXPECT_EQ(capture.events(), 2000u);
    EXPECT_GT(CheckKeyframes(capture), 0) << "the recording went on as if there were none";
    for (const std::string& path : snapshots) {
      SCOPED_TRACE(path);
      const DecodedCapture snapshot = DecodeFolder(path);
      EXPECT_THAT(snapshot.errors, IsEmpty());
      ASSERT_EQ(snapshot.parts.size(), 1u);
      const DecodedChunk& chunk = snapshot.parts.front().chunks.front();
      const std::uint64_t before = chunk.payload.keyframe().events_before();
      EXPECT_EQ(path, folder.path() + "/" + std::to_string(before)) << "all that was recorded, and no more";
      KeyframeCheck(snapshot.parts.front(), chunk).Against(ModelAfter(capture, before));
    }
  }
}

TEST(Keyframes, EqualAnIndependentLiveSet) {
  int keyframes = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) keyframes += RunAndCheck(seed, 1, 2000);
  EXPECT_GT(keyframes, 100);
}

// Threads free blocks that other threads allocated.
TEST(Keyframes, EqualAnIndependentLiveSetOfManyThreads) {
  int keyframes = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) keyframes += RunAndCheck(seed, 4, 800);
  EXPECT_GT(keyframes, 60);
}

TEST(Keyframes, EachPartDecodesAlone) {
  Recording recording({.capture = "", .ring_bytes = kMinRingBytes, .max_bytes = 0, .part_bytes = 50'000});
  RandomHeap heap(5);
  Produce(5, 3000, &heap, &recording);
  recording.Stop();
  const DecodedCapture all = DecodeFolder(recording.folder());
  ASSERT_GT(all.parts.size(), 5u);
  std::uint64_t events = 0;
  for (const DecodedPart& part : all.parts) {
    std::vector<std::string> errors;  // an undefined name, layout, signature, thread or device is an error
    const DecodedPart alone = DecodePart(part.path, &errors);
    EXPECT_THAT(errors, IsEmpty());
    EXPECT_EQ(alone.process.part(), static_cast<std::uint32_t>(&part - all.parts.data()));
    for (const DecodedChunk& chunk : alone.chunks) events += chunk.header.event_count();
  }
  EXPECT_EQ(events, 3000u);
}

std::uint64_t FolderBytes(const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

TEST(MaxSize, KeepsTheNewestPartsUnderTheCap) {
  constexpr std::uint64_t kCap = 400'000;
  Recording recording({.capture = "", .ring_bytes = kMinRingBytes, .max_bytes = kCap, .part_bytes = kDefaultPartBytes});
  RandomHeap heap(9);
  RingProducer producer;
  RandomStream stream(9, &heap);
  Model model;
  const std::uint32_t thread = RingProducer::Thread();
  for (int i = 0; i < 20'000; ++i) {
    Event event = stream.Next();
    event.tick = Tick();
    ASSERT_TRUE(producer.Record(event));
    model.Apply(thread, event);
    if (i % 100 != 0) continue;
    recording.writer().Flush();
    ASSERT_LE(FolderBytes(recording.folder()), kCap);
  }
  recording.Stop();
  DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  EXPECT_LE(FolderBytes(recording.folder()), kCap);
  EXPECT_GT(FolderBytes(recording.folder()), kCap / 2);
  EXPECT_GT(capture.counters().folded_parts(), 3u);
  EXPECT_EQ(capture.events() + capture.counters().folded_events(), 20'000u);

  // The events after the pinned parts, replayed from their first keyframe, end in the program's state.
  capture.ForgetBeforeGaps();
  const memoir::v1::Keyframe& start = capture.parts.front().chunks.front().payload.keyframe();
  std::map<DeviceName, std::uint64_t> allocated;
  for (const memoir::v1::DeviceTotals& totals : start.devices()) {
    const auto& devices = capture.parts.front().devices;
    const DeviceName name = totals.device() == 0
                                ? DeviceName{"cpu", 0}
                                : DeviceName{devices.at(totals.device()).type(), devices.at(totals.device()).index()};
    allocated[name] = totals.allocated_bytes();
  }
  for (const auto& [id, events] : capture.EventsByThread()) {
    for (const Event& event : events) {
      if (event.kind == memoir::v1::ALLOCATE) allocated[event.device] += event.bytes;
    }
  }
  for (const auto& [device, state] : model.devices) EXPECT_EQ(allocated[device], state.allocated);
}

}  // namespace
}  // namespace memoir::test
