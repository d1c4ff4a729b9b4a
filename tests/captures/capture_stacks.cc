// The part of the builder that makes Python stacks and calls.
#include <utility>

#include "tests/captures/capture_builder.h"
#include "tests/captures/capture_encoding.h"

namespace memoir::testing {

std::uint32_t ProcessBuilder::CodeIdOf(const PythonFrame& frame) {
  const std::string key = frame.file + std::string(1, '\0') + frame.function;
  const auto next = static_cast<std::uint32_t>(names_.size() + 1);
  const std::uint32_t id = names_.try_emplace({false, "\3" + key}, next).first->second;
  if (std::exchange(defined_[{kName, id}], true)) return id;
  v1::NameDef* name = payload_.add_names();
  name->set_id(id);
  name->set_hash(Hash("\3" + key));
  name->set_kind(v1::NameDef::CODE);
  name->set_text(frame.function);
  name->set_code_file(frame.file);
  return id;
}

std::uint32_t ProcessBuilder::StackIdOf(const std::vector<PythonFrame>& frames) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> key;
  std::uint32_t parent = 0;
  for (const PythonFrame& frame : frames) {
    key.emplace_back(CodeIdOf(frame), frame.line);
    const std::uint32_t id = stacks_.try_emplace(key, static_cast<std::uint32_t>(stacks_.size() + 1)).first->second;
    if (!std::exchange(defined_[{kStack, id}], true)) {
      v1::StackDef* stack = payload_.add_stacks();
      stack->set_id(id);
      stack->set_parent(parent);
      stack->set_code(key.back().first);
      stack->set_line(frame.line);
    }
    parent = id;
  }
  return parent;
}

ProcessBuilder& ProcessBuilder::Stack(const std::vector<PythonFrame>& frames) {
  v1::ThreadRun& run = AddEvent(v1::STACK);
  thread().python = frames;
  run.add_stack(StackIdOf(frames));
  tick_ += options_.tick_step;
  return *this;
}

ProcessBuilder& ProcessBuilder::Call(const std::string& file, const std::string& function) {
  v1::ThreadRun& run = AddEvent(v1::CALL_BEGIN);
  run.add_code(function.empty() ? 0 : CodeIdOf({file, function, 0}));
  run.add_calls_around(thread().calls++);
  tick_ += options_.tick_step;
  return *this;
}

ProcessBuilder& ProcessBuilder::Return(std::uint32_t calls) {
  thread().calls -= calls;
  AddEvent(v1::CALL_END).add_calls_around(thread().calls);
  tick_ += options_.tick_step;
  return *this;
}

}  // namespace memoir::testing
