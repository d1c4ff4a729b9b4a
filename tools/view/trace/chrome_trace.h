// Writes trace events as JSON ("Trace Event Format" of Chromium), which chrome://tracing and https://ui.perfetto.dev
// open.
#ifndef TOOLS_VIEW_TRACE_CHROME_TRACE_H_
#define TOOLS_VIEW_TRACE_CHROME_TRACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "tools/view/trace/trace_sink.h"

namespace memoir {

// The text around the events: a new document, or a trace of torch.profiler (kineto_trace.h).
struct ChromeFrame {
  std::string_view before = R"({"displayTimeUnit":"ns","traceEvents":[)";
  std::string_view after = "\n]}\n";
  bool has_events = false;    // true: `before` ends with an event
  std::int64_t shift_ns = 0;  // added to all times
};

class ChromeTrace : public TraceSink {
 public:
  // `write` receives the file's bytes in order. The texts of `frame` must outlive the object.
  explicit ChromeTrace(std::function<void(std::string_view)> write, const ChromeFrame& frame = {});

  void AddProcess(std::uint64_t pid, std::string_view name) override;
  void AddThread(const TraceThread& thread, std::string_view name) override;
  void Begin(const TraceThread& thread, std::uint64_t ns, const TraceSlice& slice) override;
  void End(const TraceThread& thread, std::uint64_t ns) override;
  void Instant(const TraceThread& thread, std::uint64_t ns, std::string_view name,
               std::optional<std::uint64_t> bytes) override;
  void Count(std::uint64_t pid, std::uint64_t ns, std::string_view name, std::uint64_t bytes) override;
  void Finish() override;

 private:
  void BeginEvent(char phase, const TraceThread& thread, std::uint64_t ns);
  void EndEvent();
  const std::string& QuotedName(std::string_view name);

  std::function<void(std::string_view)> write_;
  std::string text_;
  std::string_view after_;
  std::int64_t shift_ns_;
  bool first_;
  absl::flat_hash_map<std::string, std::string> quoted_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_CHROME_TRACE_H_
