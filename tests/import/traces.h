// Traces of torch.profiler for tests: events as texts of JSON, and random ones with what a reader must find in them.
#ifndef TESTS_IMPORT_TRACES_H_
#define TESTS_IMPORT_TRACES_H_

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memoir::testing {

inline std::string TraceOf(const std::vector<std::string>& events, std::string_view head = "") {
  return absl::StrCat("{", std::string(head), R"("baseTimeNanoseconds": 1790857026000000000, "traceEvents": [)",
                      absl::StrJoin(events, ",\n"), R"(], "traceName": "trace.json"})");
}

struct MemoryChange {
  std::int64_t us = 0, bytes = 0;
  std::uint64_t address = 0;
  std::int64_t allocated = 0, reserved = 0;  // in all, behind it
  int thread = 11;
  int type = 1, device = 0;  // of c10; the CPU is 0, -1
};
inline std::string MemoryEvent(const MemoryChange& moved) {
  return absl::StrCat(R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": )",
                      moved.thread, R"(, "ts": )", moved.us, R"(, "args": {"Total Reserved": )", moved.reserved,
                      R"(, "Total Allocated": )", moved.allocated, R"(, "Bytes": )", moved.bytes, R"(, "Device Id": )",
                      moved.device, R"(, "Device Type": )", moved.type, R"(, "Addr": )", moved.address, "}}");
}
inline std::string SpanEvent(std::string_view category, std::string_view name, std::int64_t us, std::int64_t duration,
                             std::string_view arguments = "", int thread = 11) {
  return absl::StrCat(R"({"ph": "X", "cat": ")", std::string(category), R"(", "name": ")", std::string(name),
                      R"(", "pid": 7, "tid": )", thread, R"(, "ts": )", us, R"(, "dur": )", duration, R"(, "args": {)",
                      std::string(arguments), "}}");
}

struct RandomTrace {
  struct Device {
    std::uint64_t peak = 0, end = 0, reserved = 0;
  };
  std::string json;
  std::map<std::string, Device> devices;  // "cpu", "cuda:0"
};

// Blocks of a device, of which some are moved by threads that the profiler does not follow.
class RandomDevice {
 public:
  RandomDevice(std::mt19937_64& random, int type, int index) : random_(random), type_(type), index_(index) {}

  // An event of the trace, or "".
  std::string Step(std::int64_t us, bool traced) {
    MemoryChange moved{.us = us, .thread = static_cast<int>(11 + random_() % 3), .type = type_, .device = index_};
    if (live_.empty() || random_() % 7 < 4) {
      moved.address = 0x1000 * (1 + random_() % 40);
      if (live_.contains(moved.address)) return "";
      moved.bytes = static_cast<std::int64_t>(1 + random_() % 5000);
      live_[moved.address] = moved.bytes;
    } else {
      auto block = live_.begin();
      std::advance(block, static_cast<std::ptrdiff_t>(random_() % live_.size()));
      moved.address = block->first;
      moved.bytes = -block->second;
      live_.erase(block);
    }
    sum_ += moved.bytes;
    reserved_ = std::max(reserved_, sum_ + 100);
    if (random_() % 30 == 0) reserved_ = sum_ + 1;
    moved.allocated = sum_;
    moved.reserved = type_ == 0 ? 0 : reserved_;
    if (!traced) return "";
    if (!any_) found_.peak = static_cast<std::uint64_t>(std::max<std::int64_t>(0, sum_ - moved.bytes));
    any_ = true;
    found_.peak = std::max(found_.peak, static_cast<std::uint64_t>(sum_));
    found_.end = static_cast<std::uint64_t>(sum_);
    found_.reserved = std::max(found_.reserved, static_cast<std::uint64_t>(moved.reserved));
    return MemoryEvent(moved);
  }
  bool any() const { return any_; }
  const RandomTrace::Device& found() const { return found_; }

 private:
  std::mt19937_64& random_;
  const int type_, index_;
  std::map<std::uint64_t, std::int64_t> live_;
  std::int64_t sum_ = 0, reserved_ = 0;
  bool any_ = false;
  RandomTrace::Device found_;
};

// `untraced`: how many of a hundred allocations have no event. The first `before` allocations have no event.
inline RandomTrace MakeRandomTrace(std::mt19937_64& random, int steps, int before, unsigned untraced) {
  std::map<std::string, RandomDevice> devices;
  devices.try_emplace("cpu", random, 0, -1);
  devices.try_emplace("cuda:0", random, 1, 0);
  devices.try_emplace("cuda:1", random, 1, 1);
  const std::vector<std::string> names = {"cpu", "cuda:0", "cuda:1"};
  constexpr std::string_view kSpans[][2] = {{"cpu_op", "aten::mm"},
                                            {"cpu_op", "autograd::engine::evaluate_function: MmBackward0"},
                                            {"user_annotation", "ProfilerStep#3"},
                                            {"python_function", "nn.Module: Linear_0"},
                                            {"python_function", "train.py(12): forward"},
                                            {"python_function", "<built-in function len>"},
                                            {"kernel", "void gemm()"}};
  std::vector<std::string> events;
  for (int i = 0; i < steps; ++i) {
    const std::int64_t us = 1000 + 10 * i;
    const bool traced = i >= before && random() % 100 >= untraced;
    const std::string event = devices.at(names[random() % 3]).Step(us, traced);
    if (!event.empty()) events.push_back(event);
    const auto& span = kSpans[random() % std::size(kSpans)];
    events.push_back(SpanEvent(span[0], span[1], us - 3, static_cast<std::int64_t>(random() % 200),
                               random() % 2 == 0 ? R"("Sequence number": 3, "Fwd thread id": 1)" : "",
                               static_cast<int>(11 + random() % 3)));
  }
  std::ranges::shuffle(events, random);
  RandomTrace trace{.json = TraceOf(events), .devices = {}};
  for (const auto& [name, device] : devices) {
    if (device.any()) trace.devices[name] = device.found();
  }
  return trace;
}

}  // namespace memoir::testing

#endif  // TESTS_IMPORT_TRACES_H_
