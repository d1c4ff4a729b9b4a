// libtorch_sessions CASE FOLDER: what a program may do with memoir::Session. Prints what the values say, and at last
// "unharmed".
#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>
#include <sys/wait.h>
#include <unistd.h>
#include <memoir.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace {

void Work() {
  at::Tensor sum = at::ones({1000});
  for (int i = 0; i < 3; ++i) sum = at::add(sum, 1);
}

void Say(const char* what, const memoir::Status& status) {
  std::printf("%s: %s\n", what, status.ok() ? "ok" : status.message().c_str());
}

void One(const std::string& folder) {
  memoir::Session session(folder, {{"max_size", "1GiB"}});
  memoir::Step();
  {
    const memoir::Range range("validation");
    Work();
  }
  memoir::Step();
  Work();
  memoir::Mark("worked");
  if (!memoir::IsRecording() || !memoir::Pause() || !memoir::Resume()) std::printf("not recording\n");
  memoir::Flush();
}

void Twice(const std::string& folder) {
  memoir::Session session(folder);
  Say("first", session.status());
  memoir::Session other(folder + "-other");
  Say("second", other.status());
  Work();
  Say("end of the second", other.End());
  Say("end", session.End());
}

void EndedTwice(const std::string& folder) {
  memoir::Session session(folder);
  Work();
  Say("end", session.End());
  Say("again", session.End());
}

void OneAfterTheOther(const std::string& folder) {
  for (const char* name : {"-1", "-2"}) {
    memoir::Session session(folder + name);
    Work();
  }
}

void Option(const std::string& folder) {
  memoir::Session session(folder, {{"max_sise", "1GiB"}});
  Say("start", session.status());
  Work();
}

void Exception(const std::string& folder) {
  try {
    memoir::Session session(folder);
    Work();
    throw std::runtime_error("of the program");
  } catch (const std::runtime_error& failure) {
    std::printf("caught: %s\n", failure.what());
  }
}

void Uncaught(const std::string& folder) {
  memoir::Session session(folder);
  Work();
  memoir::Flush();
  throw std::runtime_error("of the program");
}

void Exit(const std::string& folder) {
  memoir::Session session(folder);
  Work();
  std::printf("unharmed\n");
  std::exit(0);  // NOLINT(concurrency-mt-unsafe): it is the case
}

void Fork(const std::string& folder) {
  memoir::Session session(folder);
  Work();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Work();
    Say("end in the child", session.End());
    {
      memoir::Session own(folder + "-child");
      Say("the child's own", own.status());
      Work();
    }
    std::fflush(stdout);
    _exit(0);
  }
  int state = 1;
  waitpid(child, &state, 0);
  std::printf("child: %d\n", state);
  Work();
  Say("end", session.End());
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, std::function<void(const std::string&)>> cases = {
      {"one", One},       {"twice", Twice},         {"ended-twice", EndedTwice}, {"in-turn", OneAfterTheOther},
      {"option", Option}, {"exception", Exception}, {"uncaught", Uncaught},      {"exit", Exit},
      {"fork", Fork}};
  const auto found = count > 2 ? cases.find(arguments[1]) : cases.end();
  if (found == cases.end()) return 2;
  found->second(arguments[2]);
  std::printf("unharmed\n");
  return 0;
}
