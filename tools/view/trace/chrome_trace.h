// Trace events as JSON, which chrome://tracing and https://ui.perfetto.dev open: "Trace Event Format" of Chromium.
#ifndef TOOLS_VIEW_TRACE_CHROME_TRACE_H_
#define TOOLS_VIEW_TRACE_CHROME_TRACE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "tools/view/trace/trace_feed.h"

namespace memoir {

class ChromeTrace : public TraceSink {
 public:
  // `write` gets the file's bytes in order.
  explicit ChromeTrace(std::function<void(std::string_view)> write);

  void AddProcess(std::uint64_t pid, std::string_view name) override;
  void AddThread(const TraceThread& thread, std::string_view name) override;
  void Begin(const TraceThread& thread, std::uint64_t ns, const TraceSlice& slice) override;
  void End(const TraceThread& thread, std::uint64_t ns) override;
  void Instant(const TraceThread& thread, std::uint64_t ns, std::string_view name, std::uint64_t bytes) override;
  void Count(std::uint64_t pid, std::uint64_t ns, std::string_view name, std::uint64_t bytes) override;
  void Finish() override;

 private:
  void BeginEvent(char phase, const TraceThread& thread, std::uint64_t ns);
  void EndEvent();
  const std::string& QuotedName(std::string_view name);

  std::function<void(std::string_view)> write_;
  std::string text_;
  bool first_ = true;
  absl::flat_hash_map<std::string, std::string> quoted_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_CHROME_TRACE_H_
