// Ring files that are not what they should be.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "interpose/records/record_check.h"
#include "interpose/ring/process_ring.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

// Puts some of every kind, with all their variable parts.
void PutRange(ThreadSlot* slot) {
  std::uint8_t bytes[96] = {};
  RangeBeginRecord begin{};
  begin.header = {12, RecordKind::kRangeBegin, kInlineName, 0, 5};
  begin.name = 20;
  begin.list_count = 2;
  begin.tensor_count = 1;
  std::memcpy(bytes, &begin, sizeof begin);
  std::memcpy(RingReserve(slot, sizeof bytes, OnEmptyPool::kWait), bytes, sizeof bytes);
  RingCommit(slot, sizeof bytes);

  std::uint8_t tensor_bytes[88] = {};
  TensorRecord tensor{};
  tensor.header = {11, RecordKind::kTensor, kHasStorage, 1, 0};
  tensor.ndim = 3;
  std::memcpy(tensor_bytes, &tensor, sizeof tensor);
  std::memcpy(RingReserve(slot, sizeof tensor_bytes, OnEmptyPool::kWait), tensor_bytes, sizeof tensor_bytes);
  RingCommit(slot, sizeof tensor_bytes);

  std::uint8_t mark_bytes[32] = {};
  MarkRecord mark{};
  mark.header = {4, RecordKind::kMark, 0, 1, 0};
  mark.length = 5;
  std::memcpy(mark_bytes, &mark, sizeof mark);
  std::memcpy(RingReserve(slot, sizeof mark_bytes, OnEmptyPool::kWait), mark_bytes, sizeof mark_bytes);
  RingCommit(slot, sizeof mark_bytes);
}

class DamageTest : public testing::Test {
 protected:
  // A copy of a ring in use, whose process is declared dead.
  void SetUp() override {
    ASSERT_EQ(OpenRingIn(folder_.path(), kMinRingBytes), "");
    SetRecordingEnabled(true);
    const std::uint8_t written[] = {1, 0};
    for (int name = 0; name < 50; ++name) RingDefineOperator("aten::add.Tensor", "(Tensor a, Tensor b)", written, 2);
    RingSetProcessInfo("process", 7);
    for (int index = 0; index < 2'000; ++index) PutRange(RingThread());
    std::ifstream file(RingPath(), std::ios::binary);
    image_.assign(std::istreambuf_iterator<char>(file), {});
    RingClose();
    reinterpret_cast<RingHeader*>(image_.data())->pid = 0;
    map_ = MapAt(image_.data(), kMinRingBytes / kSegmentBytes);
    path_ = folder_.path() + "/damaged.ring";
    Write(0, image_.size());
  }

  void Write(std::size_t offset, std::size_t bytes) {
    const int fd = open(path_.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(pwrite(fd, image_.data() + offset, bytes, static_cast<off_t>(offset)), static_cast<ssize_t>(bytes));
    ASSERT_EQ(ftruncate(fd, static_cast<off_t>(image_.size())), 0);
    close(fd);
  }

  RingReader* OpenIt() { return RingReader::OpenFile(path_.c_str(), error_, sizeof error_); }

  // Touches all that a reader can yield; true when it could be opened. Counts records.
  bool ReadAll() {
    std::unique_ptr<RingReader> reader(OpenIt());
    records_ = 0;
    if (reader == nullptr) {
      EXPECT_NE(error_[0], '\0');
      return false;
    }
    ReadSegments(reader.get());
    for (std::uint32_t id = 0; id < 60; ++id) ReadName(*reader, id);
    std::size_t size = 0;
    sum_ += Sum(reader->process_info(&size), 0);
    sum_ += Sum(reader->process_info(&size), size);
    sum_ += std::strlen(reader->capture_folder()) + std::strlen(reader->file_stem());
    sum_ += reader->last_clock().tick + reader->Counters().waits;
    return true;
  }

  std::string error() const { return error_; }

  TempFolder folder_;
  std::vector<char> image_;
  RingMap map_{};
  std::string path_;
  std::uint64_t records_ = 0;

 private:
  static std::uint64_t Sum(const void* bytes, std::size_t size) {
    std::uint64_t sum = 0;
    for (std::size_t index = 0; index < size; ++index) sum += static_cast<const std::uint8_t*>(bytes)[index];
    return sum;
  }

  void ReadSegments(RingReader* reader) {
    std::vector<RingExtentView> views(64);
    for (std::size_t count; (count = reader->Scan(views.data(), views.size())) != 0;) {
      for (std::size_t index = 0; index < count; ++index) ReadSegment(reader, views[index]);
      reader->ReleaseConsumed();
    }
  }

  void ReadSegment(RingReader* reader, const RingExtentView& view) {
    std::uint64_t records = 0;
    const std::uint8_t* at = view.begin;
    while (at < view.end) {
      const std::size_t bytes = CheckedRecordBytes(at, static_cast<std::size_t>(view.end - at));
      ASSERT_NE(bytes, 0u);
      sum_ += Sum(at, bytes);
      at += bytes;
      ++records;
    }
    ThreadView thread;
    if (reader->FindThread(view.thread, &thread)) sum_ += std::strlen(thread.name);
    reader->Consume(view, view.end, records);
    records_ += records;
  }

  void ReadName(const RingReader& reader, std::uint32_t id) {
    NameView name;
    if (!reader.FindName(id, &name)) return;
    sum_ += Sum(name.text, name.text_bytes) + Sum(name.schema, name.schema_bytes) + Sum(name.written, name.arguments);
  }

  char error_[512] = "";
  std::uint64_t sum_ = 0;
};

TEST_F(DamageTest, UndamagedItYieldsAll) {
  ASSERT_TRUE(ReadAll()) << error();
  EXPECT_EQ(records_, 6'000u);
}

TEST_F(DamageTest, RecordsBeforeADamagedOneAreYielded) {
  const std::uint32_t committed = map_.segment_headers[0].committed;
  std::uint64_t records = 0;  // in segment 0, the first that was taken
  for (std::size_t at = 0; at < committed; ++records)
    at += CheckedRecordBytes(map_.ExtentBytes(0) + at, committed - at);
  ASSERT_GT(records, 400u);
  std::memset(map_.ExtentBytes(0) + 2 * (96 + 88 + 32), 0, 2);  // the length of the seventh record
  Write(0, image_.size());
  ASSERT_TRUE(ReadAll()) << error();
  EXPECT_EQ(records_, 6'000 - records + 6);
}

TEST_F(DamageTest, LengthsInsideARecordAreChecked) {
  auto* begin = reinterpret_cast<RangeBeginRecord*>(map_.ExtentBytes(0));
  const auto good = [&] { return CheckedRecordBytes(map_.ExtentBytes(0), 96); };
  ASSERT_EQ(good(), 96u);
  begin->name = 41;  // 40 bytes of text are left behind the arguments
  EXPECT_EQ(good(), 0u);
  begin->header.flags = 0;  // now an id
  EXPECT_EQ(good(), 96u);
  begin->list_count = 0x4000'0000;
  EXPECT_EQ(good(), 0u);
  begin->list_count = 2;
  begin->header.count = 60;
  EXPECT_EQ(good(), 0u);
  begin->header.count = 5;
  begin->header.kind = static_cast<RecordKind>(200);
  EXPECT_EQ(good(), 0u);
}

#if defined(__SANITIZE_THREAD__)
constexpr int kMutations = 100;  // nothing to find for it here, and it is slow
#else
constexpr int kMutations = 2'000;
#endif

TEST_F(DamageTest, TwoThousandMutationsNeitherCrashNorHang) {
  std::mt19937 random(7);
  const RingOffsets offsets = OffsetsFor(map_.segment_count);
  struct Area {
    std::size_t begin;
    std::size_t bytes;
  };
  const Area areas[] = {{0, 64},
                        {offsetof(RingHeader, process_info_switch), 4},
                        {offsetof(RingHeader, name_count), 4 + 4 + 50 * 4},
                        {offsets.slots, 2 * sizeof(ThreadSlot)},
                        {offsets.names, 50 * 64},
                        {offsets.segment_headers, map_.segment_count * sizeof(SegmentHeader)},
                        {offsets.segments, 14 * kSegmentBytes},
                        {offsets.segments, 512}};
  int opened = 0;
  for (int mutation = 0; mutation < kMutations; ++mutation) {
    const Area& area = areas[random() % std::size(areas)];
    const std::size_t at = area.begin + random() % area.bytes;
    const std::size_t bytes = std::min<std::size_t>(1 + random() % 8, image_.size() - at);
    const std::vector<char> before(image_.begin() + static_cast<std::ptrdiff_t>(at),
                                   image_.begin() + static_cast<std::ptrdiff_t>(at + bytes));
    for (std::size_t index = 0; index < bytes; ++index) {
      const char values[] = {0, static_cast<char>(-1), 1, 127, static_cast<char>(random())};
      image_[at + index] = values[random() % std::size(values)];
    }
    Write(at, bytes);
    opened += ReadAll();
    ASSERT_FALSE(HasFatalFailure()) << "mutation " << mutation << " at " << at;
    std::copy(before.begin(), before.end(), image_.begin() + static_cast<std::ptrdiff_t>(at));
    Write(at, bytes);
  }
  EXPECT_GT(opened, kMutations * 3 / 4);  // only damage to the header's first lines makes it useless
  ASSERT_TRUE(ReadAll());
  EXPECT_EQ(records_, 6'000u);
}

TEST_F(DamageTest, ACutFileYieldsWhatIsLeft) {
  std::mt19937 random(11);
  for (int cut = 0; cut < 100; ++cut) {
    ASSERT_EQ(truncate(path_.c_str(), static_cast<off_t>(random() % image_.size())), 0);
    ReadAll();
    EXPECT_LE(records_, 6'000u);
    Write(0, image_.size());
  }
  ASSERT_EQ(truncate(path_.c_str(), static_cast<off_t>(OffsetsFor(map_.segment_count).segments + 4 * kSegmentBytes)),
            0);
  ASSERT_TRUE(ReadAll());
  EXPECT_GT(records_, 1'500u);
  EXPECT_LT(records_, 2'000u);
}

TEST_F(DamageTest, StrangersAreRefusedWithAReason) {
  const auto error_of = [&](const std::string& path) {
    path_ = path;
    EXPECT_FALSE(ReadAll());
    return error();
  };
  EXPECT_NE(error_of(folder_.path() + "/none").find("No such file"), std::string::npos);
  EXPECT_NE(error_of(folder_.path()).find("not a ring file"), std::string::npos);
  EXPECT_NE(error_of("/dev/null").find("not a ring file"), std::string::npos);
  const std::string fifo = folder_.path() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_NE(error_of(fifo).find("not a ring file"), std::string::npos);
  const std::string text = folder_.path() + "/text";
  std::ofstream(text) << "hello";
  EXPECT_NE(error_of(text).find("not a ring file"), std::string::npos);
}

TEST_F(DamageTest, AnotherVersionIsNamed) {
  map_.header->version = 77;
  Write(0, 64);
  EXPECT_FALSE(ReadAll());
  EXPECT_NE(error().find("version 77"), std::string::npos) << error();
}

}  // namespace
}  // namespace memoir
