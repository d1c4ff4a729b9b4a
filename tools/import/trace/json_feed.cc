#include "tools/import/trace/json_feed.h"

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

constexpr std::uint64_t kMostText = 16u << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30;

}  // namespace

bool JsonFeed::Refill() {
  if (ended_ != End::kNone) return false;
  const auto taken = static_cast<std::size_t>(end_ - begin_);
  source_.Skip(taken);
  before_ += taken;
  const std::size_t there = source_.Fill(1);
  begin_ = at_ = source_.data();
  end_ = begin_ + there;
  if (there == 0) {
    ended_ = End::kOfFile;
  } else if (before_ - token_ > kMostText) {
    ended_ = End::kOfText;
  } else if (before_ > kMostBytes) {
    ended_ = End::kTooLarge;
  }
  if (ended_ != End::kNone) end_ = begin_;
  return ended_ == End::kNone;
}

absl::Status JsonFeed::ParseError() const {
  if (!source_.status().ok()) return source_.status();
  switch (ended_) {
    case End::kOfFile:
      return absl::DataLossError(absl::StrCat("JSON that was cut: it ends at byte ", offset(),
                                              ", in the middle; copy it again, or export it again"));
    case End::kOfText:
      return absl::InvalidArgumentError(
          absl::StrCat("JSON with a text, or a gap, of more than 16 MiB behind byte ", token_));
    case End::kTooLarge:
      return absl::ResourceExhaustedError("JSON of more than 64 GiB");
    case End::kNone:
      break;
  }
  return absl::DataLossError(absl::StrCat("invalid JSON at byte ", offset() == 0 ? 0 : offset() - 1));
}

}  // namespace memoir
