// Random programs: nested ranges, tensors, blocks that one thread allocates and another frees. Seeded.
#ifndef TESTS_WRITER_RANDOM_STREAM_H_
#define TESTS_WRITER_RANDOM_STREAM_H_

#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "tests/writer/event_model.h"

namespace memoir::test {

// Hands out addresses and takes them back, on any thread: an address is reused at once, and each has its serials in
// order.
class RandomHeap {
 public:
  explicit RandomHeap(std::uint64_t seed) : random_(seed) {}
  // Fills address, serial, device; bytes when it allocates.
  void Allocate(Event* event);
  bool Deallocate(Event* event);  // false: nothing is live
  // Of the driver: a block, its free, a refusal or a reading.
  void Driver(Event* event);
  // To be held over the event's tick and its record, so that the program's order is one that can be.
  std::mutex& lock() { return lock_; }

 private:
  std::mutex lock_;
  std::mt19937_64 random_;
  std::uint64_t serial_ = 0;
  std::vector<Event> live_;
  std::vector<Event> free_;
  std::vector<Event> driver_;
};

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, RandomHeap* heap) : random_(seed), heap_(*heap) {}

  // The next event, without its tick. Blocks come from the heap, whose lock the caller holds.
  Event Next();

 private:
  std::uint64_t Below(std::uint64_t limit) { return random_() % limit; }
  bool Chance(std::uint64_t percent) { return Below(100) < percent; }
  Event Begin();
  Event End();
  Event Mark();
  Event Holds();
  Event Stack();
  Event Call();
  Event DeviceCallKind();
  Event KernelRun(Event event);
  void Module(Event* event);
  void AddList(std::uint64_t length, Event* event);
  void NameHeld(Event* event);
  void Arguments(Event* event);
  TensorSeen Tensor();
  std::int64_t Size();

  std::mt19937_64 random_;
  RandomHeap& heap_;
  std::size_t depth_ = 0;
  std::uint32_t calls_ = 0;
  std::vector<FrameSeen> stack_;
  std::vector<TensorSeen> recent_;
};

// 64 bits of every length.
std::uint64_t AnyNumber(std::mt19937_64& random);

}  // namespace memoir::test

#endif  // TESTS_WRITER_RANDOM_STREAM_H_
