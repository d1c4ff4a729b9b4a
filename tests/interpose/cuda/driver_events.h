// A recording of a driver's calls, for tests: a fake driver, its runtime, and a library that uses both, loaded so that
// no other library sees them; and what the ring's records say.
#ifndef TESTS_INTERPOSE_CUDA_DRIVER_EVENTS_H_
#define TESTS_INTERPOSE_CUDA_DRIVER_EVENTS_H_

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "interpose/cuda/driver_watch.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
inline constexpr std::size_t kMiB = 1u << 20;

// The records as text, in order.
struct Event {
  RecordKind kind;
  int what = 0;  // the call, or the cause
  std::uint64_t address = 0, bytes = 0, serial = 0;
  int device = 0;
  std::string library;
};

template <class Record>
Record As(const std::uint8_t* at) {
  Record record;
  std::memcpy(&record, at, sizeof record);
  return record;
}

inline std::string Name(const char* library) { return {library, strnlen(library, kMaxLibraryName)}; }

inline Event EventAt(const std::uint8_t* at) {
  const auto header = As<RecordHeader>(at);
  if (header.kind == RecordKind::kDriverAllocate) {
    const auto block = As<DriverBlockRecord>(at);
    return {header.kind,  header.flags,       block.address,      block.bytes,
            block.serial, block.device_index, Name(block.library)};
  }
  if (header.kind == RecordKind::kDriverFree) {
    const auto freed = As<DeallocateRecord>(at);
    return {header.kind, 0, freed.address, 0, freed.serial, freed.device_index, ""};
  }
  if (header.kind == RecordKind::kDriverRefused) {
    const auto refused = As<DriverRefusedRecord>(at);
    return {header.kind,    header.flags,         refused.error,        refused.bytes,
            refused.serial, refused.device_index, Name(refused.library)};
  }
  const auto reading = As<DeviceReadingRecord>(at);
  return {header.kind, header.flags, reading.total_bytes, reading.free_bytes, reading.serial, reading.device_index, ""};
}

MATCHER_P3(Gave, call, bytes, library, "") {
  return arg.kind == RecordKind::kDriverAllocate && arg.what == static_cast<int>(call) && arg.bytes == bytes &&
         arg.library == library && arg.device == 3;
}
MATCHER_P(GotBack, address, "") { return arg.kind == RecordKind::kDriverFree && arg.address == address; }
MATCHER_P2(Read, cause, free, "") {
  return arg.kind == RecordKind::kDeviceReading && arg.what == static_cast<int>(cause) && arg.bytes == free;
}
MATCHER_P3(Refused, call, bytes, library, "") {
  return arg.kind == RecordKind::kDriverRefused && arg.what == static_cast<int>(call) && arg.bytes == bytes &&
         arg.library == library;
}

inline constexpr std::size_t kTotal = 1u << 30;
using Allocate = int (*)(void**, std::size_t);
using AllocateAt = int (*)(std::uint64_t*, std::size_t);
using Free = int (*)(void*);
using Find = void* (*)(const char*);

class DriverWatch : public RingTest {
 protected:
  void SetUp() override {
    Open(kMinRingBytes);
    WatchDriver();
    caller_ = dlopen(MEMOIR_CUDA_CALLER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(caller_, nullptr) << dlerror();
    WrapNewObjects();  // as the writer's thread does
  }
  template <class Function>
  Function Get(const char* name) {
    return reinterpret_cast<Function>(dlsym(caller_, name));
  }
  int AllocateOne(std::size_t bytes, void** pointer) { return Get<Allocate>("caller_allocate")(pointer, bytes); }
  int FreeOne(void* pointer) { return Get<Free>("caller_free")(pointer); }
  void* LookUp(const char* name) {
    return Get<void* (*)(void*, const char*)>("caller_find")(dlopen(MEMOIR_FAKE_DRIVER, RTLD_NOW), name);
  }

  // Since the last time.
  std::vector<Event> Events() {
    std::vector<Event> events;
    std::vector<RingExtentView> views(64);
    const std::size_t count = reader_->Scan(views.data(), views.size());
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t records = 0;
      for (const std::uint8_t* at = views[i].begin; at < views[i].end; ++records) {
        events.push_back(EventAt(at));
        at += std::size_t{As<RecordHeader>(at).words} * 8;
      }
      reader_->Consume(views[i], views[i].end, records);
    }
    reader_->ReleaseConsumed();
    return events;
  }
  static std::uint64_t Address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

  void* caller_ = nullptr;
};

}  // namespace memoir

#endif  // TESTS_INTERPOSE_CUDA_DRIVER_EVENTS_H_
