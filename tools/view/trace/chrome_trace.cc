#include "tools/view/trace/chrome_trace.h"

#include <iterator>
#include <utility>

#include "fmt/format.h"
#include "tools/view/json/json.h"

namespace memoir {
namespace {

constexpr std::size_t kWriteAt = std::size_t{1} << 20;

}  // namespace

ChromeTrace::ChromeTrace(std::function<void(std::string_view)> write, const ChromeFrame& frame)
    : write_(std::move(write)), after_(frame.after), shift_ns_(frame.shift_ns), first_(!frame.has_events) {
  write_(frame.before);
}

// Writes times in microseconds.
void ChromeTrace::BeginEvent(char phase, const TraceThread& thread, std::uint64_t ns) {
  const std::int64_t shown_ns = static_cast<std::int64_t>(ns) + shift_ns_;
  const std::uint64_t size_ns =
      shown_ns < 0 ? ~static_cast<std::uint64_t>(shown_ns) + 1 : static_cast<std::uint64_t>(shown_ns);
  fmt::format_to(std::back_inserter(text_), R"({}{{"ph":"{}","pid":{},"tid":{},"ts":{}{}.{:03})",
                 std::exchange(first_, false) ? "\n" : ",\n", phase, thread.pid, thread.tid, shown_ns < 0 ? "-" : "",
                 size_ns / 1000, size_ns % 1000);
}

void ChromeTrace::EndEvent() {
  text_ += '}';
  if (text_.size() < kWriteAt) return;
  write_(text_);
  text_.clear();
}

const std::string& ChromeTrace::QuotedName(std::string_view name) {
  const auto [known, added] = quoted_.try_emplace(std::string(name));
  if (added) known->second = Quoted(name);
  return known->second;
}

void ChromeTrace::AddProcess(std::uint64_t pid, std::string_view name) {
  BeginEvent('M', {pid, 0}, 0);
  fmt::format_to(std::back_inserter(text_), R"(,"name":"process_name","args":{{"name":{}}})", Quoted(name));
  EndEvent();
}

void ChromeTrace::AddThread(const TraceThread& thread, std::string_view name) {
  BeginEvent('M', thread, 0);
  fmt::format_to(std::back_inserter(text_), R"(,"name":"thread_name","args":{{"name":{}}})", Quoted(name));
  EndEvent();
}

void ChromeTrace::Begin(const TraceThread& thread, std::uint64_t ns, const TraceSlice& slice) {
  BeginEvent('B', thread, ns);
  const auto out = std::back_inserter(text_);
  fmt::format_to(out, R"(,"name":{},"cat":"{}","args":{{"phase":"{}")", QuotedName(slice.name), slice.category,
                 slice.phase);
  if (slice.device.empty()) {
    fmt::format_to(out, R"(,"allocated_bytes":{},"freed_bytes":{})", slice.allocated, slice.freed);
  } else {
    fmt::format_to(out, R"(,"device":"{}","stream":"{:#x}","bytes":{})", slice.device, slice.stream, slice.bytes);
  }
  if (!slice.module.empty()) fmt::format_to(out, R"(,"module":{})", QuotedName(slice.module));
  text_ += '}';
  EndEvent();
}

void ChromeTrace::End(const TraceThread& thread, std::uint64_t ns) {
  BeginEvent('E', thread, ns);
  EndEvent();
}

void ChromeTrace::Instant(const TraceThread& thread, std::uint64_t ns, std::string_view name,
                          std::optional<std::uint64_t> bytes) {
  BeginEvent('i', thread, ns);
  const auto out = std::back_inserter(text_);
  fmt::format_to(out, R"(,"s":"t","name":{})", QuotedName(name));
  if (bytes) fmt::format_to(out, R"(,"args":{{"bytes":{}}})", *bytes);
  EndEvent();
}

// Writes one value per counter, because viewers stack the values of one counter.
void ChromeTrace::Count(std::uint64_t pid, std::uint64_t ns, std::string_view name, std::uint64_t bytes) {
  BeginEvent('C', {pid, 0}, ns);
  fmt::format_to(std::back_inserter(text_), R"(,"name":{},"args":{{"bytes":{}}})", QuotedName(name), bytes);
  EndEvent();
}

void ChromeTrace::Finish() {
  write_(text_);
  write_(after_);
  text_.clear();
}

}  // namespace memoir
