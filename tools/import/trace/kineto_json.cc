#include "tools/import/trace/kineto_json.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tools/import/trace/json_feed.h"

namespace memoir {
namespace {

constexpr std::size_t kMostDepth = 500;
constexpr std::size_t kMostName = 4000;  // longer names are cut
constexpr std::size_t kMostProducts = 1024;

// A number as a double, and as a signed and an unsigned integer. The integers are limited to their range, and are 0 if
// the number has a fraction or an exponent.
struct JsonNumber {
  double value = 0;
  std::int64_t whole = 0;
  std::uint64_t positive = 0;
  bool is_whole = false;
};

// Returns the number at the begin of `text`, because older traces have texts such as "4711 (python)" for numbers.
std::optional<std::int64_t> NumberIn(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// The structure of a trace:
//     {"baseTimeNanoseconds": 1, "distributedInfo": {"rank": 0, ...}, "traceEvents": [{"ph": "X", "args": {...}}, ...]}
//     depth 1                                        2                               3              4
class TraceHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  TraceHandler(JsonFeed& feed, KinetoVisitor& visitor, KinetoHead& head)
      : feed_(feed), visitor_(visitor), head_(head) {}
  bool has_events() const { return has_events_; }
  const absl::Status& error() const { return error_; }

  bool null() override { return Noted(); }
  bool boolean(bool) override { return Noted(); }
  bool number_integer(number_integer_t value) override {
    return TakeNumber(
        {static_cast<double>(value), value, static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)), true});
  }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    return TakeNumber({static_cast<double>(value), static_cast<std::int64_t>(std::min(value, kMost)), value, true});
  }
  bool number_float(number_float_t value, const string_t&) override { return TakeNumber({value, 0, 0, false}); }
  bool string(string_t& value) override;
  bool binary(binary_t&) override { return Noted(); }
  bool start_object(std::size_t) override;
  bool key(string_t& value) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    error_ = feed_.ParseError();
    return false;
  }

 private:
  static constexpr std::size_t kEvent = 3, kArguments = 4;

  bool Noted() {
    feed_.NoteToken();
    return true;
  }
  bool Fail(absl::Status status) {
    error_ = std::move(status);
    return false;
  }
  bool Deeper();
  bool in_event() const { return in_events_ && depth_ == kEvent; }
  bool in_arguments() const { return in_events_ && depth_ == kArguments && event_key_ == "args"; }
  bool TakeNumber(const JsonNumber& number);
  void TakeOfEvent(const JsonNumber& number);
  void TakeOfArguments(const JsonNumber& number);
  void TakeOfTrace(const JsonNumber& number);
  bool EndEvent();

  JsonFeed& feed_;
  KinetoVisitor& visitor_;
  KinetoHead& head_;
  absl::Status error_;
  std::size_t depth_ = 0;
  std::string key_, event_key_, argument_;  // the newest keys: at depth 1, of an event, of its args
  bool in_events_ = false, has_events_ = false, is_object_ = false;
  KinetoEvent event_;
  std::int64_t product_of_ = KinetoEvent::kUnknown;
};

bool TraceHandler::Deeper() {
  if (++depth_ > kMostDepth) return Fail(absl::InvalidArgumentError("JSON that nests more than 500 deep"));
  return Noted();
}

bool TraceHandler::start_object(std::size_t) {
  if (depth_ == 0) is_object_ = true;
  if (in_events_ && depth_ == kEvent - 1) event_ = KinetoEvent();
  return Deeper();
}

bool TraceHandler::start_array(std::size_t) {
  if (depth_ == 1 && is_object_ && key_ == "traceEvents") in_events_ = has_events_ = true;
  return Deeper();
}

bool TraceHandler::end_array() {
  if (--depth_ == 1) in_events_ = false;
  return Noted();
}

bool TraceHandler::end_object() {
  --depth_;
  feed_.NoteToken();
  return in_events_ && depth_ == kEvent - 1 ? EndEvent() : true;
}

bool TraceHandler::key(string_t& value) {
  if (depth_ == 1) key_ = value;
  if (in_event() || depth_ == kEvent) event_key_ = value;
  if (in_arguments()) argument_ = value;
  if (depth_ == 2) event_key_ = value;
  return Noted();
}

bool TraceHandler::string(string_t& value) {
  feed_.NoteToken();
  if (in_event()) {
    if (event_key_ == "ph" && !value.empty()) event_.phase = value[0];
    if (event_key_ == "cat") event_.category = ShortenedName(value);
    if (event_key_ == "name") event_.name = ShortenedName(value);
    if (event_key_ == "tid") event_.thread = NumberIn(value).value_or(0);
  } else if (in_arguments()) {
    if (argument_ == "name") event_.given_name = ShortenedName(value);
  } else if (depth_ == kEvent && key_ == "deviceProperties" && event_key_ == "name") {
    if (head_.products.size() < kMostProducts) head_.products[product_of_] = ShortenedName(value);
  }
  return true;
}

bool TraceHandler::TakeNumber(const JsonNumber& number) {
  feed_.NoteToken();
  if (in_event()) {
    TakeOfEvent(number);
  } else if (in_arguments()) {
    TakeOfArguments(number);
  } else if (!in_events_) {
    TakeOfTrace(number);
  }
  return true;
}

void TraceHandler::TakeOfEvent(const JsonNumber& number) {
  if (event_key_ == "pid") event_.pid = number.whole;
  if (event_key_ == "tid") event_.thread = number.whole;
  if (event_key_ == "ts") event_.us = number.value;
  if (event_key_ == "dur") event_.duration = number.value;
}

void TraceHandler::TakeOfArguments(const JsonNumber& number) {
  if (argument_ == "Bytes") {
    event_.bytes = number.whole;
    event_.has_bytes = number.is_whole;
  }
  if (!number.is_whole) return;
  if (argument_ == "Device Type") event_.device_type = number.whole;
  if (argument_ == "Device Id") event_.device = number.whole;
  if (argument_ == "Addr") event_.address = number.positive;
  if (argument_ == "Total Allocated") event_.total_allocated = number.whole;
  if (argument_ == "Total Reserved") event_.reserved = number.whole;
  if (argument_ == "Sequence number") event_.sequence = number.whole;
  if (argument_ == "Fwd thread id") event_.forward_thread = number.whole;
}

void TraceHandler::TakeOfTrace(const JsonNumber& number) {
  constexpr std::int64_t kMostRank = std::numeric_limits<std::int32_t>::max();
  if (depth_ == 1 && key_ == "baseTimeNanoseconds" && number.whole > 0) head_.base_ns = number.whole;
  const bool is_rank = number.is_whole && number.whole >= 0 && number.whole <= kMostRank;
  if (depth_ == 2 && key_ == "distributedInfo" && is_rank) {
    if (event_key_ == "rank") head_.rank = static_cast<std::uint32_t>(number.whole);
    if (event_key_ == "world_size") head_.world_size = static_cast<std::uint32_t>(number.whole);
  }
  if (depth_ == kEvent && key_ == "deviceProperties" && event_key_ == "id") product_of_ = number.whole;
}

bool TraceHandler::EndEvent() {
  absl::Status status = visitor_.OnEvent(event_);
  return status.ok() ? true : Fail(std::move(status));
}

}  // namespace

std::string_view ShortenedName(std::string_view name) {
  if (name.size() <= kMostName) return name;
  std::size_t size = kMostName;
  while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xc0) == 0x80) --size;
  return name.substr(0, size);
}

absl::Status ReadKinetoJson(ByteSource& source, KinetoVisitor& visitor, KinetoHead& head) {
  JsonFeed feed(source);
  TraceHandler handler(feed, visitor, head);
  if (!nlohmann::json::sax_parse(feed.begin(), JsonFeed::Iterator(), &handler)) return handler.error();
  if (handler.has_events()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "JSON, but no trace of torch.profiler (export_chrome_trace writes one): it has no \"traceEvents\"");
}

}  // namespace memoir
