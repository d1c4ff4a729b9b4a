#include "tracker/writer/file/end_message.h"

#include <charconv>
#include <cstdint>
#include <string>

#include "tracker/writer/events/capture_fields.h"

namespace memoir {
namespace {

constexpr std::string_view kFrame = "\n\t";

// Removes the beginning of *text, up to and including `end`, and returns it without `end`.
std::string_view TakeUntil(std::string_view end, std::string_view* text) {
  const std::string_view taken = text->substr(0, text->find(end));
  text->remove_prefix(taken.size() == text->size() ? taken.size() : taken.size() + end.size());
  return taken;
}

// Adds a frame of the traceback. `frame`: "LINE\tFILE\tFUNCTION".
void AddFrame(std::string_view frame, protozero::pbf_writer* end) {
  const std::string_view number = TakeUntil("\t", &frame);
  std::uint32_t line = 0;
  std::from_chars(number.data(), number.data() + number.size(), line);
  const std::string_view file = TakeUntil("\t", &frame);
  if (file.empty() || frame.empty()) return;  // the text was cut inside of this frame
  protozero::pbf_writer message(*end, field::end::kTraceback);
  message.add_string(field::traceback_frame::kFile, std::string(file));
  message.add_string(field::traceback_frame::kFunction, std::string(frame));
  message.add_uint32(field::traceback_frame::kLine, line);
}

}  // namespace

void AddEndMessage(std::string_view text, protozero::pbf_writer* end) {
  const std::string_view message = TakeUntil(kFrame, &text);
  if (!message.empty()) end->add_string(field::end::kMessage, std::string(message));
  while (!text.empty()) AddFrame(TakeUntil(kFrame, &text), end);
}

}  // namespace memoir
