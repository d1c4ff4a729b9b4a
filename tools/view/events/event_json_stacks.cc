// Python stacks and calls, as JSON lines.
#include <iterator>

#include "fmt/format.h"
#include "tools/view/events/event_json.h"
#include "tools/view/json/json.h"

namespace memoir {

const std::string& EventJsonWriter::QuotedCode(CodeId id) {
  if (codes_.size() <= id.value) codes_.resize(id.value + 1);
  std::string& quoted = codes_[id.value];
  const Code& code = state_->dictionary().code(id);
  if (quoted.empty()) quoted = fmt::format(R"("file":{},"function":{})", Quoted(code.file), Quoted(code.function));
  return quoted;
}

// Writes the frames of each stack only once, because they are long and stacks recur.
void EventJsonWriter::OnStack(const StackEvent& event) {
  Begin("stack", event);
  AddNumber("stack", event.stack.valid() ? event.stack.value + 1 : 0);
  if (event.stack.valid() && stacks_shown_.insert(event.stack).second) AddFrames(event.stack);
  if (event.before) lines_ += R"(,"before":true)";
  End();
}

void EventJsonWriter::OnCallBegin(const CallEvent& event) {
  Begin("call_begin", event);
  lines_ += "," + (event.code.valid() ? QuotedCode(event.code) : R"("file":null,"function":null)");
  AddNumber("around", event.around);
  End();
}

void EventJsonWriter::OnCallEnd(const CallEvent& event) {
  Begin("call_end", event);
  AddNumber("around", event.around);
  End();
}

void EventJsonWriter::AddFrames(StackId stack) {
  lines_ += R"(,"frames":[)";
  bool first = true;
  for (const Frame& frame : state_->dictionary().Frames(stack)) {
    fmt::format_to(std::back_inserter(lines_), R"({}{{{},"line":)", first ? "" : ",", QuotedCode(frame.code));
    lines_ += frame.line == 0 ? "null}" : fmt::format("{}}}", frame.line);
    first = false;
  }
  lines_ += ']';
}

}  // namespace memoir
