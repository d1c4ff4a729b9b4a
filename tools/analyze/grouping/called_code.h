// Classifies the code that a Python call runs, by the file and the name of the code: for example, whether the code
// belongs to the user. Also finds the name that torch.profiler gives to the code.
#ifndef TOOLS_ANALYZE_GROUPING_CALLED_CODE_H_
#define TOOLS_ANALYZE_GROUPING_CALLED_CODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/grouping/own_code.h"
#include "tools/model/event/dictionary.h"

namespace memoir {

// Facts about the code of a call.
struct CalledCode {
  bool of_memoir = false;     // code of Memoir's Python package
  bool is_builtin = false;    // a function in C
  bool of_library = false;    // code of a library, or unknown code
  bool calls_module = false;  // Module.__call__, which calls forward()
  bool is_forward = false;    // a method or a function with the name "forward"
  bool enters = false;        // __enter__: it may begin a range, and returns before the range ends
};

// Caches the facts about each code, so the dictionary must stay the same.
class CalledCodes {
 public:
  // `own`: the value of --own.
  explicit CalledCodes(std::string_view own = "") : own_(own) {}
  const CalledCode& FactsOf(CodeId code, const Dictionary& dictionary);  // of_library is true if `code` is invalid

 private:
  const OwnCode own_;
  const CalledCode unknown_{.of_library = true};
  std::vector<std::optional<CalledCode>> known_;  // by CodeId
};

// Returns torch.profiler's name: "torch/_tensor.py(0): __torch_function__", "<built-in method add of type object at
// 0x0>". File names omit the folder from which Python imported the file, if this folder is known. The line is always 0,
// because it is not recorded.
std::string TorchCallName(const Code& code, std::string_view program_folder);

// Returns the folder of the program's main file. torch.profiler omits this folder from names. `program`: the name of
// the main file. Empty if no recorded call shows the folder.
std::string ProgramFolder(const Dictionary& dictionary, std::string_view program);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_CALLED_CODE_H_
