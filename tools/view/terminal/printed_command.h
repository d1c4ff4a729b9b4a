// Commands of this program in texts that users paste into a shell.
//
// The program's name is global in the process. main sets it before it starts a thread.
#ifndef TOOLS_VIEW_TERMINAL_PRINTED_COMMAND_H_
#define TOOLS_VIEW_TERMINAL_PRINTED_COMMAND_H_

#include <string>
#include <string_view>

namespace memoir {

// `program`: how a shell in this folder starts the program: "memoir", or a path, quoted and escaped.
void SetPrintedProgram(std::string program);

// Returns "memoir show run7" for "show run7"; "/opt/memoir/bin/memoir show run7" if a shell does not find the program.
std::string PrintedCommand(std::string_view words);

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_PRINTED_COMMAND_H_
