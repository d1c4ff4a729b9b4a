// The recorder and the tools accept the same texts for windows, schedules and signals, and refuse the same texts: both
// get them here. Sizes have one parser (proto/memoir/byte_size.h).
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/pass/window/selection.h"
#include "tools/cli/arguments/option_values.h"
#include "tools/cli/attach/record_options.h"
#include "tracker/session/control/control_signals.h"
#include "tracker/session/control/recording_windows.h"
#include "tracker/session/recording_snapshots.h"
#include "tracker/session/settings.h"

namespace memoir {
namespace {

// Numbers as people and scripts write them, well and badly.
const std::vector<std::string> kNumbers = {
    "0",  "1",  "7",   "12",  "007", "999999999", "1000000000", "1000000001", "18446744073709551615",
    "-1", "+1", "1.5", "0x1", "1 ",  " 1",        "",           "a",          "18446744073709551616"};

TEST(Agreement, Ranges) {
  std::vector<std::string> texts = {"", "#", "##", "forward", "a#b", "Optimizer.step#AdamW.step", "\xff#1", "a b#3"};
  for (const std::string& number : kNumbers) {
    for (const char* name : {"forward", "", "a#2", "#"}) texts.push_back(name + std::string("#") + number);
  }
  std::size_t numbered = 0;
  for (const std::string& text : texts) {
    const WindowOptions::Range recorded = ParseRange(text);
    const SelectionWindow shown = ParseRangeWindow(text);
    EXPECT_EQ(recorded.name, shown.range) << text;
    EXPECT_EQ(recorded.occurrence, shown.occurrence) << text;
    numbered += recorded.occurrence.has_value();
  }
  EXPECT_GT(numbered, 20u);
}

TEST(Agreement, Steps) {
  std::vector<std::string> texts = {"", ":", "1", "1:2:3", "1-2", "1::2"};
  for (const std::string& first : kNumbers) {
    for (const std::string& last : kNumbers) texts.push_back(first + ":" + last);
  }
  std::size_t steps = 0;
  for (const std::string& text : texts) {
    const std::optional<WindowOptions::Steps> recorded = ParseSteps(text);
    const std::optional<SelectionWindow> shown = ParseStepsWindow(text);
    ASSERT_EQ(recorded.has_value(), shown.has_value()) << text;
    EXPECT_EQ(recorded.has_value(), IsSteps(text)) << text;
    if (!recorded) continue;
    EXPECT_EQ(recorded->first, shown->first_step) << text;
    EXPECT_EQ(recorded->last, shown->last_step) << text;
    ++steps;
  }
  EXPECT_GT(steps, 20u);
}

TEST(Agreement, Snapshots) {
  for (const char* text : {"", "oom", "exception", "exit", "oom,exception,exit", "exit,oom,oom", "oom,", ",oom",
                           "oom,,exit", "oom, exit", "Oom", "exits", ",", "oom;exit"}) {
    EXPECT_EQ(ParseSnapshotTriggers(text).has_value(), IsSnapshots(text)) << text;
  }
  EXPECT_TRUE(IsSnapshots("oom,exception") && !IsSnapshots("never"));
}

TEST(Agreement, Schedules) {
  std::vector<std::string> texts = {"",
                                    ",",
                                    "active=1,",
                                    ",active=1",
                                    "wait=1,active=3",
                                    "active=0,active=2",
                                    "active=2,active=0",
                                    "skip_first=5,wait=1,warmup=1,active=3,repeat=2",
                                    "Active=1",
                                    "active=1,,wait=2",
                                    "active",
                                    "active==1",
                                    "wait=1",
                                    "active=1;wait=2",
                                    "active=1, wait=2"};
  for (const std::string& number : kNumbers) {
    for (const char* field : {"active=", "active=1,wait=", "active=1,repeat=", "active=1,later="})
      texts.push_back(field + number);
  }
  std::size_t schedules = 0;
  for (const std::string& text : texts) {
    EXPECT_EQ(ParseSchedule(text).has_value(), IsSchedule(text)) << text;
    schedules += IsSchedule(text);
  }
  EXPECT_GT(schedules, 10u);
}

TEST(Agreement, Signals) {
  std::vector<std::string> texts = {"SIG", "SIGSIGUSR2", "usr2", "sigusr2", "RTMIN", "SIGRTMIN+1", "34", "64", "65"};
  for (int number = 0; number < 70; ++number) texts.push_back(std::to_string(number));
  for (const char* name : {"HUP",  "INT",  "QUIT", "ILL",  "TRAP", "ABRT", "BUS",  "FPE",   "KILL", "USR1",
                           "SEGV", "USR2", "PIPE", "ALRM", "TERM", "CHLD", "CONT", "STOP",  "TSTP", "TTIN",
                           "TTOU", "URG",  "XCPU", "XFSZ", "PROF", "IO",   "PWR",  "WINCH", "SYS",  "VTALRM"}) {
    texts.push_back(name);
    texts.push_back(std::string("SIG") + name);
  }
  texts.insert(texts.end(), kNumbers.begin(), kNumbers.end());
  std::size_t signals = 0;
  for (const std::string& text : texts) {
    EXPECT_EQ(ParseSignal(text).has_value(), IsSignal(text)) << text;
    signals += IsSignal(text);
  }
  EXPECT_GT(signals, 20u);
}

}  // namespace
}  // namespace memoir
