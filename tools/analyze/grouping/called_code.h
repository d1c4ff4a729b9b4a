// What a call of Python is to a reader, by the file and the name of its code: whose it is, and how torch.profiler
// writes it. Remembers what it was asked; the dictionary is always the same.
#ifndef TOOLS_ANALYZE_GROUPING_CALLED_CODE_H_
#define TOOLS_ANALYZE_GROUPING_CALLED_CODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/grouping/own_code.h"
#include "tools/model/dictionary.h"

namespace memoir {

struct CalledCode {
  bool of_memoir = false;     // its package, which works in the program
  bool is_builtin = false;    // a function in C
  bool of_library = false;    // or unknown
  bool calls_module = false;  // Module.__call__
  bool is_forward = false;    // "forward", of a class or not
  bool enters = false;        // __enter__, which returns before what it begins is over
};

class CalledCodes {
 public:
  // `own`: of --own.
  explicit CalledCodes(std::string_view own = "") : own_(own) {}
  const CalledCode& Of(CodeId code, const Dictionary& dictionary);  // of an invalid one: of_library

 private:
  const OwnCode own_;
  const CalledCode unknown_{.of_library = true};
  std::vector<std::optional<CalledCode>> known_;  // by CodeId
};

// "torch/_tensor.py(0): __torch_function__", "<built-in method add of type object at 0x0>": file names without the
// folder that Python imported them from, as far as they tell it, and no line, which is not recorded.
std::string TorchCallName(const Code& code, std::string_view program_folder);

// Of the program's main file, "" where no call shows it: what torch.profiler leaves out, too.
std::string ProgramFolder(const Dictionary& dictionary, std::string_view program);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_CALLED_CODE_H_
