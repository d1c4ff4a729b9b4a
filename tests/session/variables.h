// The environment of one test: variables of launchers and of Memoir's that it sets, taken away again at its end.
#ifndef TESTS_SESSION_VARIABLES_H_
#define TESTS_SESSION_VARIABLES_H_

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

namespace memoir {

class Variables {
 public:
  Variables(std::initializer_list<std::pair<const std::string, std::string>> variables) : variables_(variables) {
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  const std::map<std::string, std::string> variables_;
};

}  // namespace memoir

#endif  // TESTS_SESSION_VARIABLES_H_
