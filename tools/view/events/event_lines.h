// Builds JSON lines, one for each event, from fields that several kinds of events share. Each name, module, shape and
// source file is quoted once, and the quoted text is kept for the next use.
#ifndef TOOLS_VIEW_EVENTS_EVENT_LINES_H_
#define TOOLS_VIEW_EVENTS_EVENT_LINES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tools/model/event/event.h"

namespace memoir {

// Call Begin, then the Add functions in the order of the fields, then End. An Add function appends nothing for an id
// that is not valid, unless its comment states another rule.
class EventLines {
 public:
  explicit EventLines(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

  // Call before the first line. `state` must stay valid until the last line ends.
  void SetState(const ReplayState& state) { state_ = &state; }
  void Begin(std::string_view kind, const Event& event);  // with the process, the thread and the time
  void End();
  void Flush();  // passes the lines that are not written yet to `write`

  void AddText(std::string_view key, std::string_view text);
  void AddNumber(std::string_view key, std::uint64_t number);
  void AddNumberOrNull(std::string_view key, const std::optional<std::uint64_t>& number);  // null: unknown
  void AddNumbers(std::string_view key, absl::Span<const std::uint32_t> numbers);
  void AddAddress(std::string_view key, std::uint64_t address);
  void AddBool(std::string_view key, bool value);
  void AddNull(std::string_view key);

  void AddDevice(DeviceId device);  // must be valid
  void AddName(std::string_view key, NameId name);
  void AddNames(absl::Span<const NameId> names);
  void AddModule(ModuleId id);
  void AddModuleAndPhase(ModuleId module, Phase phase);
  void AddCode(CodeId code);  // null for file and function if the code is not valid
  void AddFrames(StackId stack);
  void AddWritten(SchemaId schema);  // for each argument, whether the operator writes to it
  void AddSignature(SignatureId id);
  void AddTensor(std::string_view key, const Tensor& tensor);
  void AddTensors(absl::Span<const Tensor> tensors);
  void AddBlock(const Block& block);
  void AddPlace(const Block& block);    // stream and pool
  void AddContext(const Block& block);  // operator, range, module and phase
  void AddDriverBlock(const DriverBlock& block);

 private:
  void AppendTensor(const Tensor& tensor);
  const std::string& QuotedName(NameId name);
  const std::string& QuotedLayout(LayoutId layout);
  const std::string& QuotedCode(CodeId code);

  std::function<void(std::string_view)> write_;
  const ReplayState* state_ = nullptr;
  std::string lines_;                 // not written yet
  std::vector<std::string> names_;    // by id, as JSON
  std::vector<std::string> modules_;  // by id: ,"module":...
  std::vector<std::string> layouts_;  // by id: ,"dtype":...
  std::vector<std::string> codes_;    // by id: "file":...,"function":...
};

}  // namespace memoir

#endif  // TOOLS_VIEW_EVENTS_EVENT_LINES_H_
