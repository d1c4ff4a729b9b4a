// Records with an index, a ring in a temporary folder for them, and the check that all came out again.
#ifndef TESTS_INTERPOSE_NUMBERED_RECORDS_H_
#define TESTS_INTERPOSE_NUMBERED_RECORDS_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interpose/ring/ring.h"
#include "interpose/ring/ring_reader.h"

namespace memoir {

inline constexpr std::size_t kNumberBytes = sizeof(AllocateRecord);

// Records `number`; with more `bytes` than it needs the record is merely longer. False: dropped.
inline bool PutNumber(ThreadSlot* slot, std::uint64_t number, OnEmptyPool on_empty, std::size_t bytes = kNumberBytes) {
  std::uint8_t* place = RingReserve(slot, bytes, on_empty);
  if (place == nullptr) return false;
  AllocateRecord record{};
  record.header.words = static_cast<std::uint16_t>(bytes / 8);
  record.header.kind = RecordKind::kAllocate;
  record.address = number;
  record.serial = ~number;
  std::memcpy(place, &record, sizeof record);
  if (bytes > sizeof record) std::memset(place + sizeof record, 0x5a, bytes - sizeof record);
  RingCommit(slot, bytes);
  return true;
}

// As a hook does: the flag first, then the thread, then the record.
inline bool HookNumber(std::uint64_t number, OnEmptyPool on_empty = OnEmptyPool::kWait) {
  if (!RecordingEnabled()) return false;
  ThreadSlot* slot = RingThread();
  return slot != nullptr && PutNumber(slot, number, on_empty);
}

class TempFolder {
 public:
  TempFolder() {
    char name[] = "/tmp/memoir-ring-test-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  bool IsEmpty() const { return std::filesystem::is_empty(path_); }

 private:
  std::string path_;
};

// A tmpfs of a given size, or none where that is not allowed.
class SmallFolder : public TempFolder {
 public:
  explicit SmallFolder(const std::string& size)
      : mounted_(mount("tmpfs", path().c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0) {}
  ~SmallFolder() {
    if (mounted_) umount2(path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  bool mounted_;
};

inline std::string OpenRingIn(const std::string& folder, std::size_t bytes) {
  char error[1024] = "";
  const RingOptions options{folder.c_str(), bytes, "/captures/here", "r00000.a0.host.1"};
  return RingOpen(options, error, sizeof error) ? "" : error;
}

class RingTest : public testing::Test {
 protected:
  void Open(std::size_t bytes) {
    ASSERT_EQ(OpenRingIn(folder_.path(), bytes), "");
    SetRecordingEnabled(true);
    reader_.reset(RingReader::OpenLive());
    ASSERT_NE(reader_, nullptr);
  }
  void TearDown() override {
    reader_.reset();
    RingClose();
  }

  TempFolder folder_;
  std::unique_ptr<RingReader> reader_;
};

// Checks the records read from a ring: by thread, the next expected index; anything out of order is an error at once.
class Collected {
 public:
  // Consumes all that is there now. Indices must continue, or jump ahead when `gaps` are allowed.
  std::size_t Drain(RingReader* reader, bool gaps = false) {
    std::vector<RingExtentView> views(4096);
    const std::size_t count = reader->Scan(views.data(), views.size());
    for (std::size_t index = 0; index < count; ++index) {
      const std::uint64_t records = Take(views[index], gaps);
      reader->Consume(views[index], views[index].end, records);
    }
    reader->ReleaseConsumed();
    return count;
  }

  std::uint64_t Take(const RingExtentView& view, bool gaps) {
    std::uint64_t index = view.first_record;
    std::uint64_t& next = next_[view.thread];
    if (gaps) {
      EXPECT_GE(index, next) << "thread " << view.thread;
    } else {
      EXPECT_EQ(index, next) << "thread " << view.thread;
    }
    const std::uint8_t* at = view.begin;
    while (at < view.end) {
      AllocateRecord record;
      std::memcpy(&record, at, sizeof record);
      EXPECT_EQ(record.address, index) << "thread " << view.thread;
      EXPECT_EQ(record.serial, ~index);
      if (record.header.words == 0) break;
      at += std::size_t{record.header.words} * 8;
      ++index;
    }
    EXPECT_EQ(at, view.end);
    total_ += index - view.first_record;
    next = index;
    return index - view.first_record;
  }

  std::uint64_t total() const { return total_; }
  const std::map<std::uint32_t, std::uint64_t>& next() const { return next_; }

 private:
  std::map<std::uint32_t, std::uint64_t> next_;
  std::uint64_t total_ = 0;
};

}  // namespace memoir

#endif  // TESTS_INTERPOSE_NUMBERED_RECORDS_H_
