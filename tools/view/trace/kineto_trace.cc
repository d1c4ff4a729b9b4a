#include "tools/view/trace/kineto_trace.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tools/view/json/gzip.h"

namespace memoir {
namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 30;
// Times from this value on are since 1970, because the value is a time in 2001. torch 2.2 and earlier write such times,
// without a base.
constexpr double kLeastEpochUs = 1e15;

// An iterator over the text for the parser. It stores how far the parser has read.
class CountedText {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedText(const char* at, const char** read) : at_(at), read_(read) {}
  reference operator*() const { return *at_; }
  CountedText& operator++() {
    *read_ = ++at_;
    return *this;
  }
  CountedText operator++(int) {
    CountedText before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedText& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** read_;
};

// The structure of a trace, in the order of the text:
//     {"baseTimeNanoseconds": 1, "traceEvents": [{"ph": "X", "pid": 7, "ts": 1.5, "dur": 2, "args": {...}}, ...], ...}
//     depth 1                                    depth 3
class TraceHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  TraceHandler(KinetoTrace& trace, const char* const& read) : trace_(trace), read_(read) {}
  bool found() const { return found_; }
  bool has_base() const { return has_base_; }
  double first_us() const { return first_us_; }
  double last_us() const { return last_us_; }
  const std::string& error() const { return error_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return Number(static_cast<double>(value), value); }
  bool number_unsigned(number_unsigned_t value) override {
    return Number(static_cast<double>(value), static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return Number(value, 0); }
  bool string(string_t& value) override {
    if (in_event() && key_ == "ph") is_metadata_ = value == "M";
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    if (in_events_ && depth_ == kEvents) BeginEvent();
    ++depth_;
    return true;
  }
  bool key(string_t& value) override {
    if (depth_ <= kEvent) key_ = value;
    return true;
  }
  bool end_object() override {
    if (--depth_ == kEvents && in_events_) EndEvent();
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 1 && key_ == "traceEvents" && !found_) in_events_ = true;
    ++depth_;
    return true;
  }
  bool end_array() override {
    if (--depth_ != 1 || !in_events_) return true;
    in_events_ = false;
    found_ = true;
    trace_.events_end = static_cast<std::size_t>(read_ - trace_.text.data()) - 1;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    error_ = absl::StrCat("invalid JSON at byte ", position);
    return false;
  }

 private:
  static constexpr std::size_t kEvents = 2;  // depth inside the array
  static constexpr std::size_t kEvent = 3;

  bool in_event() const { return in_events_ && depth_ == kEvent; }
  bool Number(double value, std::int64_t whole) {
    if (depth_ == 1 && key_ == "baseTimeNanoseconds") {
      trace_.base_ns = whole;
      has_base_ = true;
    }
    if (!in_event()) return true;
    if (key_ == "pid" && whole > 0) pid_ = static_cast<std::uint64_t>(whole);
    if (key_ == "ts") ts_ = value;
    if (key_ == "dur") duration_ = value;
    return true;
  }
  void BeginEvent() {
    trace_.has_events = true;
    is_metadata_ = false;
    pid_ = 0;
    ts_ = std::numeric_limits<double>::quiet_NaN();
    duration_ = 0;
  }
  void EndEvent() {
    if (pid_ != 0) trace_.pids.insert(pid_);
    if (is_metadata_ || pid_ == 0 || std::isnan(ts_)) return;
    first_us_ = std::min(first_us_, ts_);
    last_us_ = std::max(last_us_, ts_ + std::max(0.0, duration_));
  }

  KinetoTrace& trace_;
  const char* const& read_;
  std::string key_;  // the last key at an event's depth or above
  std::size_t depth_ = 0;
  bool in_events_ = false, found_ = false, has_base_ = false, is_metadata_ = false;
  std::uint64_t pid_ = 0;
  double ts_ = 0, duration_ = 0;
  double first_us_ = std::numeric_limits<double>::infinity(), last_us_ = -first_us_;
  std::string error_;
};

absl::Status NoTrace(const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a trace of torch.profiler (export_chrome_trace writes one): ", why));
}

// Returns the time since 1970. 0 if it does not fit into 64 bits, which is impossible in a trace.
std::uint64_t Since1970(double us, std::int64_t base_ns) {
  const double ns = us * 1000 + static_cast<double>(base_ns);
  return ns > 0 && ns < 9e18 ? static_cast<std::uint64_t>(ns) : 0;
}

}  // namespace

absl::StatusOr<KinetoTrace> ReadKinetoTrace(std::string text) {
  if (IsGzip(text)) {
    absl::StatusOr<std::string> unpacked = Gunzip(text, kMostBytes);
    if (!unpacked.ok()) return unpacked.status();
    text = *std::move(unpacked);
  }
  KinetoTrace trace;
  trace.text = std::move(text);
  const char* read = trace.text.data();
  TraceHandler handler(trace, read);
  const char* const end = trace.text.data() + trace.text.size();
  const char* unused = nullptr;
  if (!nlohmann::json::sax_parse(CountedText(trace.text.data(), &read), CountedText(end, &unused), &handler))
    return NoTrace(handler.error());
  if (!handler.found()) return NoTrace("it has no \"traceEvents\"");
  if (handler.first_us() > handler.last_us()) return NoTrace("it has no event with a time");
  if (!handler.has_base() && handler.first_us() < kLeastEpochUs)
    return NoTrace(
        "it does not contain the time at which it was made (\"baseTimeNanoseconds\"), so it cannot be merged with a "
        "capture");
  trace.begin_ns = Since1970(handler.first_us(), trace.base_ns);
  trace.end_ns = Since1970(handler.last_us(), trace.base_ns);
  return trace;
}

}  // namespace memoir
