// CUDA calls, as JSON lines.
#include <iterator>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/view/events/event_json.h"

namespace memoir {

void EventJsonWriter::OnDeviceCall(const DeviceCallEvent& event) {
  Begin(event.is_launch ? "kernel_launch" : "device_call", event);
  AddText("call", ToString(event.call));
  AddText("device", ToString(state_->dictionary().device(event.device)));
  if (event.stream != 0) AddAddress("stream", event.stream);
  if (event.is_launch) AddLaunch(event);
  if (event.copy_kind != v1::COPY_KIND_UNKNOWN) AddText("kind", ToString(event.copy_kind));
  if (event.bytes != 0) AddNumber("bytes", event.bytes);
  if (event.graph != 0) AddAddress("graph", event.graph);
  if (event.graph_exec != 0) AddAddress("graph_exec", event.graph_exec);
  if (!event.is_launch) AddNumber("ticks", event.ticks);
  if (event.result != 0) AddNumber("error", event.result);
  if (event.correlation != 0) AddNumber("correlation", event.correlation);
  AddName("operator", event.operator_name);
  AddName("leaf", event.leaf_name);
  AddName("range", event.user_name);
  AddModule(event.module, event.phase);
  End();
}

void EventJsonWriter::OnKernelRun(const KernelRunEvent& event) {
  Begin("kernel_run", event);
  AddText("what", ToString(event.kind));
  AddText("device", ToString(state_->dictionary().device(event.device)));
  AddNumber("device_stream", event.stream);
  AddNumber("correlation", event.correlation);
  if (event.kernel.valid()) AddName("kernel", event.kernel);
  if (event.copy_kind != v1::COPY_KIND_UNKNOWN) AddText("kind", ToString(event.copy_kind));
  if (event.bytes != 0) AddNumber("bytes", event.bytes);
  AddNumber("begin", event.begin);
  AddNumber("ns", event.ns);
  End();
}

void EventJsonWriter::AddLaunch(const DeviceCallEvent& event) {
  if (event.kernel.valid()) {
    AddName("kernel", event.kernel);
  } else {
    lines_ += R"(,"kernel":null)";
  }
  if (event.grid[0] == 0) return;
  fmt::format_to(std::back_inserter(lines_), R"(,"grid":[{}],"block":[{}])", fmt::join(event.grid, ","),
                 fmt::join(event.block, ","));
}

}  // namespace memoir
