// Writes pprof's format. Field numbers are from the public profile.proto. Functions have no system name, because pprof
// would show it as the name of a C++ function, and would remove parts such as "<module>" as template arguments.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "protozero/pbf_writer.hpp"
#include "tools/view/flame/flame_files.h"
#include "tools/view/json/gzip.h"

namespace memoir {
namespace {

enum ProfileField : std::uint32_t {
  kSampleType = 1,
  kSample = 2,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kComment = 13,
  kDefaultSampleType = 14,
};
enum ValueTypeField : std::uint32_t { kType = 1, kUnit = 2 };
enum SampleField : std::uint32_t { kLocationId = 1, kValue = 2 };
enum LocationField : std::uint32_t { kId = 1, kLine = 4 };
enum LineField : std::uint32_t { kFunctionId = 1, kLineNumber = 2 };
enum FunctionField : std::uint32_t { kFunctionNumber = 1, kName = 2, kFileName = 4 };

class ProfileWriter {
 public:
  explicit ProfileWriter(const FlameSamples& samples) : samples_(samples) { Text(""); }

  std::string Write(const FlameMeasure& first, std::string_view comment) {
    AddSampleTypes();
    for (std::size_t i = 0; i < samples_.frames.size(); ++i) AddLocation(i + 1, samples_.frames[i]);
    for (const FlameSample& sample : samples_.samples) AddSample(sample);
    profile_.add_int64(kComment, Text(comment));
    profile_.add_int64(kDefaultSampleType, Text(first.in_pprof));
    for (const std::string& text : texts_) profile_.add_string(kStringTable, text);
    return std::move(bytes_);
  }

 private:
  std::int64_t Text(std::string_view text) {
    const auto [known, added] = numbers_.try_emplace(std::string(text), static_cast<std::int64_t>(texts_.size()));
    if (added) texts_.emplace_back(text);
    return known->second;
  }

  void AddSampleType(std::string_view type, std::string_view unit) {
    const std::int64_t type_number = Text(type), unit_number = Text(unit);
    protozero::pbf_writer value_type(profile_, kSampleType);
    value_type.add_int64(kType, type_number);
    value_type.add_int64(kUnit, unit_number);
  }

  // Counts come first, by pprof's convention.
  void AddSampleTypes() {
    AddSampleType("peak_objects", "count");
    AddSampleType("alloc_objects", "count");
    for (const FlameMeasure& measure : kFlameMeasures) AddSampleType(measure.in_pprof, "bytes");
  }

  void AddLocation(std::uint64_t id, const FlameFrame& frame) {
    const auto [known, added] = functions_.try_emplace({frame.file, frame.function}, functions_.size() + 1);
    if (added) {
      const std::int64_t name = Text(frame.function), file = Text(frame.file);
      protozero::pbf_writer function(profile_, kFunction);
      function.add_uint64(kFunctionNumber, known->second);
      function.add_int64(kName, name);
      function.add_int64(kFileName, file);
    }
    protozero::pbf_writer location(profile_, kLocation);
    location.add_uint64(kId, id);
    protozero::pbf_writer line(location, kLine);
    line.add_uint64(kFunctionId, known->second);
    line.add_int64(kLineNumber, frame.line);
  }

  void AddSample(const FlameSample& shown) {
    std::vector<std::uint64_t> locations;  // the innermost first
    for (auto frame = shown.frames.rbegin(); frame != shown.frames.rend(); ++frame)
      locations.push_back(std::uint64_t{*frame} + 1);
    std::vector<std::int64_t> values = {static_cast<std::int64_t>(shown.sums.blocks_at_peak),
                                        static_cast<std::int64_t>(shown.sums.allocations)};
    for (const FlameMeasure& measure : kFlameMeasures)
      values.push_back(static_cast<std::int64_t>(shown.sums.*measure.bytes));
    protozero::pbf_writer sample(profile_, kSample);
    sample.add_packed_uint64(kLocationId, locations.begin(), locations.end());
    sample.add_packed_int64(kValue, values.begin(), values.end());
  }

  const FlameSamples& samples_;
  std::string bytes_;
  protozero::pbf_writer profile_{bytes_};
  std::vector<std::string> texts_;
  absl::flat_hash_map<std::string, std::int64_t> numbers_;
  absl::flat_hash_map<std::pair<std::string, std::string>, std::uint64_t> functions_;
};

}  // namespace

std::string PprofProfile(const FlameSamples& samples, const FlameMeasure& first, std::string_view comment) {
  return Gzip(ProfileWriter(samples).Write(first, comment));
}

}  // namespace memoir
