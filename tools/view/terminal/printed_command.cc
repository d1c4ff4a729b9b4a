#include "tools/view/terminal/printed_command.h"

#include <utility>

namespace memoir {
namespace {

std::string& Program() {
  static std::string program = "memoir";
  return program;
}

}  // namespace

void SetPrintedProgram(std::string program) { Program() = std::move(program); }

std::string PrintedCommand(std::string_view words) { return Program() + " " + std::string(words); }

}  // namespace memoir
