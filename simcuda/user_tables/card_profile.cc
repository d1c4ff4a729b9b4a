#include "simcuda/user_tables/card_profile.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "proto/memoir/byte_size.h"
#include "simcuda/user_tables/table_lines.h"

namespace memoir::simcuda {
namespace {

bool ParseCount(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value > 0;
}

// Parses "9.0" as 90 and "10.0" as 100.
bool ParseVersion(std::string_view text, int& version) {
  const auto point = text.find('.');
  if (point == std::string_view::npos) return false;
  int major = 0;
  const std::string_view minor = text.substr(point + 1);
  if (!ParseCount(text.substr(0, point), major) || minor.size() != 1 || minor[0] < '0' || minor[0] > '9') return false;
  version = major * 10 + (minor[0] - '0');
  return major < 100;
}

bool SetSize(std::string_view text, std::uint64_t& field) { return (field = ParseSize(text).value_or(0)) != 0; }

// Sets a field. False if the field or the value is invalid.
bool SetField(CardProfile& profile, std::string_view field, std::string_view value) {
  if (field == "name") return !(profile.name = value).empty();
  if (field == "compute_capability") {
    int version = 0;
    if (!ParseVersion(value, version)) return false;
    profile.compute_major = version / 10;
    profile.compute_minor = version % 10;
    return true;
  }
  if (field == "binary_version") return ParseVersion(value, profile.binary_version);
  if (field == "common") return profile.common = value == "yes";
  if (field == "memory") return SetSize(value, profile.memory);
  if (field == "memory_most") return SetSize(value, profile.memory_most);
  if (field == "context") return SetSize(value, profile.context);
  if (field == "unowned") return SetSize(value, profile.unowned);
  if (field == "cublas_handle") return SetSize(value, profile.cublas_handle);
  if (field == "cudnn") return SetSize(value, profile.cudnn);
  if (field == "multiprocessors") return ParseCount(value, profile.multiprocessors);
  if (field == "threads_per_multiprocessor") return ParseCount(value, profile.threads_per_multiprocessor);
  if (field == "blocks_per_multiprocessor") return ParseCount(value, profile.blocks_per_multiprocessor);
  if (field == "shared_memory") return SetSize(value, profile.shared_memory);
  if (field == "shared_memory_per_block") return SetSize(value, profile.shared_memory_per_block);
  if (field == "l2_cache") return SetSize(value, profile.l2_cache);
  if (field == "clock_mhz") return ParseCount(value, profile.clock_mhz);
  if (field == "memory_bus_bits") return ParseCount(value, profile.memory_bus_bits);
  if (field == "nccl_pair") return SetSize(value, profile.nccl_pair);
  if (field == "nccl_group") return SetSize(value, profile.nccl_group);
  if (field == "nccl_peer") return SetSize(value, profile.nccl_peer);
  return false;
}

// Copies the fields of another card. False if no earlier card has this key, or if a field of this card is set already.
bool BeLike(CardProfile& profile, std::string_view key, const std::vector<CardProfile>& profiles) {
  const auto found = std::ranges::find(profiles, key, &CardProfile::key);
  const std::string own = profile.key;
  CardProfile fresh;
  fresh.key = own;
  if (found == profiles.end() || profile != fresh) return false;
  profile = *found;
  profile.key = own;
  profile.common = false;
  profile.cublas_handle = profile.cudnn = 0;  // the other card's context may include these bytes
  return true;
}

// Returns a required field that the card lacks. "" if it is complete.
std::string_view MissingField(const CardProfile& profile) {
  if (profile.name.empty()) return "name";
  if (profile.compute_major == 0) return "compute_capability";
  if (profile.binary_version == 0) return "binary_version";
  if (profile.memory == 0) return "memory";
  if (profile.context == 0) return "context";
  if (profile.multiprocessors == 0) return "multiprocessors";
  if (profile.threads_per_multiprocessor == 0) return "threads_per_multiprocessor";
  if (profile.blocks_per_multiprocessor == 0) return "blocks_per_multiprocessor";
  if (profile.shared_memory == 0) return "shared_memory";
  if (profile.shared_memory_per_block == 0) return "shared_memory_per_block";
  if (profile.l2_cache == 0) return "l2_cache";
  if (profile.clock_mhz == 0) return "clock_mhz";
  if (profile.memory_bus_bits == 0) return "memory_bus_bits";
  return {};
}

// A card whose fields are being read.
struct OpenCard {
  CardProfile profile;
  int line = 0;                  // line at which the card begins
  bool most_of_another = false;  // memory_most was copied from a card whose memory may differ
};

bool SetFieldOf(OpenCard& card, std::string_view field, std::string_view value,
                const std::vector<CardProfile>& profiles) {
  if (field == "like") return card.most_of_another = BeLike(card.profile, value, profiles);
  if (field == "memory" && card.most_of_another) card.profile.memory_most = 0;
  if (field == "memory" || field == "memory_most") card.most_of_another = false;
  return SetField(card.profile, field, value);
}

// Returns "" or an error that can be found only when all fields of the card are read.
std::string Contradiction(const CardProfile& profile) {
  if (const std::string_view field = MissingField(profile); !field.empty()) return "lacks " + std::string(field);
  if (profile.context + profile.unowned >= profile.memory) return "has a context that is larger than its memory";
  if (profile.memory_most > 0 && profile.memory_most < profile.memory)
    return "has a memory_most that is less than its memory";
  return "";
}

std::string AddProfile(OpenCard& card, std::vector<CardProfile>& profiles) {
  CardProfile& profile = card.profile;
  if (profile.key.empty()) return "";
  if (const std::string wrong = Contradiction(profile); !wrong.empty())
    return TableLines::ErrorAt(card.line, "[" + profile.key + "] " + wrong);
  std::erase_if(profiles, [&](const CardProfile& other) { return other.key == profile.key; });
  profiles.push_back(std::move(profile));
  return "";
}

}  // namespace

std::string ParseProfiles(std::string_view text, std::vector<CardProfile>& profiles) {
  OpenCard open;
  TableLines lines(text);
  while (lines.Next()) {
    const std::string_view line = lines.line();
    if (line.front() == '[' && line.back() == ']' && line.size() > 2) {
      if (std::string error = AddProfile(open, profiles); !error.empty()) return error;
      open = OpenCard{.profile = {}, .line = lines.number()};
      open.profile.key = line.substr(1, line.size() - 2);
      continue;
    }
    std::string_view field, value;
    if (open.profile.key.empty() || !lines.Split(field, value))
      return lines.Error("expected [card], or below one: field = value");
    if (!SetFieldOf(open, field, value, profiles))
      return lines.Error(std::string(field) + " = " + std::string(value) + ": no such field or value");
  }
  return AddProfile(open, profiles);
}

}  // namespace memoir::simcuda
