#include "tests/agreement/recorded_steps.h"

#include <deque>
#include <iterator>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "interpose/ring/write_record.h"
#include "tests/writer/recording.h"

namespace memoir::test {
namespace {

constexpr std::uint8_t kCuda = 1;
constexpr std::uint64_t kGpuBase = 0x7f0000000000;

Recording::Options Repeating() {
  Recording::Options options;
  options.ring_bytes = 64u << 20;
  options.repeats = true;
  return options;
}

// A program with three kinds of steps, each with nearly the same allocations every time.
class Program {
 public:
  Program(std::uint32_t seed, Recording& recording, Course course)
      : random_(seed),
        recording_(recording),
        course_(course),
        longest_turn_(1 + seed % 12),
        actions_of_chunk_(ActionsOfChunk(seed, course)) {
    for (std::vector<Action>& kind : kinds_) {
      const std::size_t actions = 20 + random_() % 200;
      for (std::size_t i = 0; i < actions; ++i)
        kind.push_back({static_cast<int>(random_() % 10), 64 + 64 * (random_() % 50), random_() % 8});
    }
    WriteRecord<SwitchRecord>(RecordKind::kPause, SwitchFlags(RecordingLevel::kMemory, RecordingLevel::kAll),
                              [](SwitchRecord&) {});
    WriteRecord<SegmentRecord>(RecordKind::kSegment, static_cast<std::uint8_t>(SegmentAction::kAllocate),
                               [&](SegmentRecord& record) {
                                 record.address = kGpuBase;
                                 record.bytes = std::uint64_t{1} << 40;
                                 record.serial = NextGpuSerial();
                                 record.place.device_type = kCuda;
                               });
  }

  void Run(int steps) {
    for (int step = 0; step < steps; ++step) {
      WriteRecord<StepRecord>(RecordKind::kStep, 0, [&](StepRecord& record) {
        record.step = static_cast<std::uint64_t>(step);
        expected_.step_ticks.push_back(record.tick);
      });
      expected_.events.push_back(absl::StrCat("step ", step));
      const bool calm = IsCalm();
      if (course_ == Course::kLeaks && step % 40 == 0) Leak();
      const unsigned rarely = calm ? 50 : 1;
      const std::size_t in_turn = static_cast<std::size_t>(step) % longest_turn_ == 0 ? 1 : 0;
      const std::size_t kind = calm ? in_turn : random_() % 10 < 9 ? 0 : random_() % std::size(kinds_);
      const bool deviates = random_() % (16 * rarely) == 0;
      const std::size_t where = random_() % kinds_[kind].size();
      for (std::size_t i = 0; i < kinds_[kind].size(); ++i) {
        Do(kinds_[kind][i]);
        if (deviates && i == where) Do({0, 48, 0});
        if (random_() % actions_of_chunk_ == 0) recording_.writer().Flush();
        if (random_() % (400 * rarely) == 0) OnOtherThread([this] { Other(); });
      }
      // Blocks that outlive their step are freed in the next one, with a few exceptions.
      while (survivors_.size() > 3) FreeHost(survivors_, 0);
      for (; !host_.empty(); host_.pop_front()) survivors_.push_back(host_.front());
      while (gpu_.size() > 2) FreeGpu(gpu_.size() - 1);
    }
  }

  Steps Finish() {
    for (const auto& blocks : {host_, survivors_, others_, kept_}) {
      for (const Host& block : blocks) expected_.live.emplace(block.name, block.address);
    }
    for (const Gpu& block : gpu_) expected_.live.emplace(block.name, block.address);
    return expected_;
  }

 private:
  struct Action {
    int kind;
    std::uint64_t bytes;
    std::size_t which;
  };
  struct Host {
    std::uint64_t address;
    std::size_t number;
    std::string name;
  };
  struct Gpu {
    std::uint64_t address, bytes;
    std::size_t number;
    std::string name;
  };

  // Of calm programs one in three has one chunk in all, and one has chunks that are shorter than most of its steps.
  static unsigned ActionsOfChunk(std::uint32_t seed, Course course) {
    constexpr unsigned kOfCalm[] = {100'000, 60, 1000};
    return course == Course::kCalm || course == Course::kLeaks ? kOfCalm[seed % 3] : 2000;
  }

  template <class Work>
  static void OnOtherThread(Work work) {
    std::thread(work).join();
  }

  void Do(const Action& action) {
    if (action.kind < 4) return AllocateHost(host_, action.bytes);
    if (action.kind < 6) return FreeHost(host_, action.which);
    if (action.kind < 8) return AllocateGpu(action.bytes);
    if (action.kind < 9) return gpu_.empty() ? void() : FreeGpu(action.which % gpu_.size());
    SetStack(static_cast<std::uint32_t>(1 + action.which));
  }

  void Leak() {
    constexpr std::uint32_t kLine = 99;
    const std::uint32_t line = line_;
    SetStack(kLine);
    AllocateHost(kept_, 4096);
    SetStack(line);
  }

  // A thread of a data loader, and one that frees what the step has made.
  void Other() {
    if (random_() % 2 == 0) return AllocateHost(others_, 32);
    FreeHost(random_() % 2 == 0 || host_.empty() ? others_ : host_, 0);
    WriteRecord<HostReadingRecord>(RecordKind::kHostReading, 0, [](HostReadingRecord&) {});
  }

  // At a line of one function. Some are recorded although they are as before, as in each ring extent.
  void SetStack(std::uint32_t line) {
    struct Record : StackRecord {
      StackFrame frame;
    };
    WriteRecord<Record>(RecordKind::kStack, 0, [&](Record& record) {
      record.header.count = 1;
      record.frame.line = line;
    });
    if (std::exchange(line_, line) != line) expected_.events.push_back(absl::StrCat("stack ", line));
  }

  void AllocateHost(std::deque<Host>& blocks, std::uint64_t bytes) {
    std::uint64_t address = 0x550000000000 + (random_() % (1u << 30) << 12) + ++allocations_ % 4096;
    if (std::exchange(lost_, 0) != 0) {
      address = last_lost_;
    } else if (freed_ != 0 && random_() % 2 == 0) {
      address = std::exchange(freed_, 0);  // as malloc does
    }
    WriteRecord<AllocateRecord>(RecordKind::kAllocate, 0, [&](AllocateRecord& record) {
      record.address = address;
      record.bytes = bytes;
      record.serial = ++serial_;
      record.device_index = -1;
    });
    live_["cpu"] += bytes;
    const std::string name = absl::StrCat("cpu ", bytes);
    expected_.events.push_back(absl::StrCat("allocate ", name, " live ", live_["cpu"]));
    blocks.push_back({address, numbers_++, name});
    bytes_[address] = bytes;
  }

  void FreeHost(std::deque<Host>& blocks, std::size_t which) {
    if (blocks.empty()) return;
    const auto block = blocks.begin() + static_cast<std::ptrdiff_t>(which % blocks.size());
    if (course_ == Course::kLosesFrees && random_() % 50 == 0) {
      lost_ = last_lost_ = block->address;
      blocks.erase(block);
      return;
    }
    WriteRecord<DeallocateRecord>(RecordKind::kDeallocate, 0, [&](DeallocateRecord& record) {
      record.address = block->address;
      record.serial = ++serial_;
      record.device_index = -1;
    });
    freed_ = block->address;
    live_["cpu"] -= bytes_[block->address];
    expected_.events.push_back(absl::StrCat("free ", block->number, " 0"));
    blocks.erase(block);
  }

  void AllocateGpu(std::uint64_t bytes) {
    std::vector<std::uint64_t>& free = free_[bytes];
    std::uint64_t address = kGpuBase + next_gpu_;
    if (free.empty()) {
      next_gpu_ += 1u << 20;
    } else {
      address = free.back();
      free.pop_back();
    }
    WriteRecord<BlockRecord>(RecordKind::kBlockAllocate, 0, [&](BlockRecord& record) {
      record.address = address;
      record.bytes = record.requested = bytes;
      record.serial = NextGpuSerial();
      record.place.device_type = kCuda;
      record.place.stream = bytes % 3;
    });
    live_["cuda"] += bytes;
    const std::string name = absl::StrCat("cuda:0 ", bytes);
    expected_.events.push_back(absl::StrCat("allocate ", name, " at ", address, " live ", live_["cuda"]));
    gpu_.push_back({address, bytes, numbers_++, name});
  }

  void FreeGpu(std::size_t which) {
    const Gpu block = gpu_[which];
    for (const RecordKind kind : {RecordKind::kDeallocate, RecordKind::kBlockFreeCompleted}) {
      WriteRecord<DeallocateRecord>(kind, 0, [&](DeallocateRecord& record) {
        record.address = block.address;
        record.serial = NextGpuSerial();
        record.device_type = kCuda;
      });
    }
    live_["cuda"] -= block.bytes;
    expected_.events.push_back(absl::StrCat("free ", block.number, " 0"));
    expected_.events.push_back(absl::StrCat("completed ", block.address, " of ", block.bytes));
    free_[block.bytes].push_back(block.address);
    gpu_.erase(gpu_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  // Most rows end at each of the host's events where these count with the GPU's.
  std::uint64_t NextGpuSerial() { return IsCalm() ? ++gpu_serial_ : ++serial_; }
  bool IsCalm() const { return course_ == Course::kCalm || course_ == Course::kLeaks; }

  std::mt19937 random_;
  Recording& recording_;
  std::vector<Action> kinds_[3];
  Steps expected_;
  std::deque<Host> host_, survivors_, others_, kept_;
  std::deque<Gpu> gpu_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> free_;  // by size
  std::map<std::uint64_t, std::uint64_t> bytes_;              // by host address
  std::map<std::string, std::uint64_t> live_;
  std::size_t numbers_ = 0;
  std::uint32_t line_ = 0;
  const Course course_;
  const std::size_t longest_turn_;          // in steps, until another kind comes
  const unsigned actions_of_chunk_;         // on average
  std::uint64_t freed_ = 0;                 // the address that was freed last, if nothing lives there
  std::uint64_t lost_ = 0, last_lost_ = 0;  // addresses of blocks whose frees were not recorded
  std::uint64_t serial_ = 0, gpu_serial_ = 0, next_gpu_ = 0, allocations_ = 0;
};

}  // namespace

struct RecordedSteps::Parts {
  Recording recording{Repeating()};
};

RecordedSteps::RecordedSteps(std::uint32_t seed, int steps, Course course) : parts_(std::make_unique<Parts>()) {
  if (!parts_->recording.ok()) return;
  Program program(seed, parts_->recording, course);
  program.Run(steps);
  parts_->recording.Stop();
  expected_ = program.Finish();
}

RecordedSteps::~RecordedSteps() = default;
const std::string& RecordedSteps::folder() const { return parts_->recording.folder(); }
const std::string& RecordedSteps::error() const { return parts_->recording.error(); }

}  // namespace memoir::test
