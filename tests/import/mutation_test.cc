// Damages a snapshot, and a trace, in thousands of ways: no crash, no hang, bounded memory, and errors of one line that
// name the file.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>

#include "tests/import/random_history.h"
#include "tests/import/traces.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using testing::MakeRandomHistory;
using testing::PickleFile;

#if defined(__SANITIZE_ADDRESS__)
constexpr int kMutations = 500;
constexpr bool kLimitMemory = false;
#else
constexpr int kMutations = 2000;
constexpr bool kLimitMemory = true;
#endif
constexpr rlim_t kMaxAddressSpace = rlim_t{3} << 30;
constexpr unsigned kHangSeconds = 240;  // all of them; one takes milliseconds

void Mutate(std::mt19937_64& random, std::string& bytes) {
  for (std::uint64_t i = 0; i <= random() % 2 && !bytes.empty(); ++i) {
    const std::size_t at = random() % bytes.size();
    const std::size_t length = std::min<std::size_t>(1 + random() % 64, bytes.size() - at);
    switch (random() % 6) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(random() % bytes.size(), length));
        break;
      case 4:  // a number that is as large as can be
        for (std::size_t j = at; j < std::min(at + 8, bytes.size()); ++j) bytes[j] = random() % 2 == 0 ? '\xff' : '\0';
        break;
      default:
        bytes.resize(std::max<std::size_t>(at, 2));
    }
  }
}

// Numbers, words and brackets of JSON in the place of others.
void MutateText(std::mt19937_64& random, std::string& text) {
  constexpr std::string_view kWords[] = {"-1",
                                         "1e300",
                                         "18446744073709551615",
                                         "9223372036854775807",
                                         "0.5",
                                         "null",
                                         "true",
                                         "{}",
                                         "[",
                                         "]",
                                         "}",
                                         "\"",
                                         "\\u0000",
                                         "\\ud800",
                                         "1E-400",
                                         "-0"};
  for (std::uint64_t i = 0; i <= random() % 3; ++i) {
    std::size_t at = text.find_first_of("0123456789", random() % text.size());
    if (at == text.npos || random() % 4 == 0) at = random() % text.size();
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    text.replace(at, std::max<std::size_t>(end - at, 1), kWords[random() % std::size(kWords)]);
  }
}

void LimitAddressSpace() {
  if (!kLimitMemory) return;
  const rlimit limit{kMaxAddressSpace, kMaxAddressSpace};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

// Each of many files opens, or is refused in one line with its name.
void OpenAll(const std::function<std::string(std::uint64_t seed)>& make, GroupBy by) {
  LimitAddressSpace();
  alarm(kHangSeconds);
  const PickleFile file("");
  int opened = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= kMutations; ++seed) {
    file.Write(make(seed));
    const absl::StatusOr<Capture> capture = Capture::Open(file.path());
    if (!capture.ok()) {
      ++refused;
      const std::string message(capture.status().message());
      ASSERT_NE(message.find(file.path()), message.npos) << seed << ": " << message;
      ASSERT_EQ(message.find('\n'), message.npos) << seed << ": " << message;
      continue;
    }
    ++opened;
    SummaryOptions options;
    options.by = by;
    const auto summary = AnalyzeSummary(*capture, options);
    ASSERT_TRUE(summary.ok()) << seed << ": " << summary.status();
    ASSERT_TRUE(summary->report.damage.empty()) << seed << ": a capture that its own reader calls damaged";
  }
  alarm(0);
  EXPECT_GT(opened, kMutations / 20);
  EXPECT_GT(refused, kMutations / 10);
}

TEST(MutatedSnapshots, NeverCrash) {
  const auto make = [](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string bytes = MakeRandomHistory(random, 40).pickle;
    Mutate(random, bytes);
    return bytes;
  };
  OpenAll(make, GroupBy::kLine);
}

TEST(MutatedTraces, NeverCrash) {
  const auto make = [](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text = testing::MakeRandomTrace(random, 40, 5, 10).json;
    if (seed % 2 == 0) {
      MutateText(random, text);
    } else {
      Mutate(random, text);
    }
    return text;
  };
  OpenAll(make, GroupBy::kModule);
}

}  // namespace
}  // namespace memoir
