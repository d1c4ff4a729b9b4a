// The control file is obeyed where only the process's own user and root can have written it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "tests/interpose/numbered_records.h"
#include "tracker/session/control/control_file.h"
#include "tracker/session/settings.h"

namespace memoir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uid_t kStranger = 4321;

class ControlFileTest : public testing::Test {
 protected:
  // The file says "off", and is looked at first by a recording that runs already.
  ControlWord Look() {
    std::ofstream(path_) << "off";
    EXPECT_EQ(chmod(path_.c_str(), mode_), 0);
    EXPECT_TRUE(!owner_ || chown(path_.c_str(), *owner_, *owner_) == 0);
    return file_.Look().word;
  }

  const TempFolder folder_;
  const std::string path_ = folder_.path() + "/control";
  ControlFile file_{path_};
  mode_t mode_ = 0600;
  std::optional<uid_t> owner_;
};

TEST_F(ControlFileTest, OnesOwnIsObeyed) {
  EXPECT_EQ(Look(), ControlWord::kOff);
  EXPECT_EQ(file_.TakeRefusal(), "");
}

TEST_F(ControlFileTest, OneThatOthersMayWriteIsNot) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  mode_ = 0666;
  EXPECT_EQ(Look(), ControlWord::kNone);
  EXPECT_EQ(file_.TakeRefusal(), path_ + " is not obeyed: other users may write it: chmod go-w, then write it again");
  EXPECT_EQ(file_.TakeRefusal(), "") << "said once";
  EXPECT_EQ(ControlFile(path_).ReadFirst().word, ControlWord::kNone) << "from before the recording, likewise";
}

TEST_F(ControlFileTest, InAPrivateFolderItsModeDoesNotMatter) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0700), 0);
  mode_ = 0666;
  EXPECT_EQ(Look(), ControlWord::kOff);
}

class ControlFileOfAnotherUserTest : public ControlFileTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  }
};

TEST_F(ControlFileOfAnotherUserTest, TheFileIsNotObeyed) {
  owner_ = kStranger;
  EXPECT_EQ(Look(), ControlWord::kNone);
  EXPECT_THAT(file_.TakeRefusal(), HasSubstr("it belongs to another user (uid 4321)"));
}

TEST_F(ControlFileOfAnotherUserTest, NorIsAFileOfOnesOwnThatTheirLinkLeadsTo) {
  const std::string own = folder_.path() + "/notes";
  std::ofstream(own) << "off";
  ASSERT_EQ(symlink(own.c_str(), path_.c_str()), 0);
  ASSERT_EQ(lchown(path_.c_str(), kStranger, kStranger), 0);
  EXPECT_EQ(file_.Look().word, ControlWord::kNone);
  EXPECT_THAT(file_.TakeRefusal(), HasSubstr("it belongs to another user (uid 4321)"));
}

TEST_F(ControlFileOfAnotherUserTest, NothingInTheirFolderIsAndTheStartSaysSo) {
  ASSERT_EQ(chown(folder_.path().c_str(), kStranger, kStranger), 0);
  EXPECT_EQ(Look(), ControlWord::kNone);
  EXPECT_THAT(file_.TakeRefusal(), HasSubstr("its folder belongs to another user (uid 4321)"));
  const std::string output = "output=" + folder_.path();
  const char* const given[] = {output.c_str(), nullptr};
  std::string error;
  const std::optional<Settings> settings = ReadSettings(given, &error);
  ASSERT_TRUE(settings) << error;
  EXPECT_THAT(settings->warnings, ElementsAre(HasSubstr(" belongs to another user (uid 4321), who can read, change")));
  ASSERT_EQ(chown(folder_.path().c_str(), 0, 0), 0);
  EXPECT_THAT(ReadSettings(given, &error)->warnings, IsEmpty());
}

}  // namespace
}  // namespace memoir
