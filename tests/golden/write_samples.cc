// write_samples FOLDER: every sample capture, each in a folder of its name. For tests that run the program.
#include "tests/golden/sample_captures.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const std::string& name : memoir::testing::SampleNames()) {
    memoir::testing::WriteSample(name, std::string(argv[1]) + "/" + name);
  }
  return 0;
}
