// proto/memoir/events.def and proto/memoir/v1/capture.proto agree.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "memoir/v1/capture.pb.h"
#include "proto/memoir/run_schema.h"

namespace memoir {
namespace {

TEST(EventSchema, ColumnsAreTheRepeatedFieldsOfARun) {
  std::map<std::string, int> in_table, in_message;
  for (const ColumnSchema& column : kRunColumns) in_table[column.name] = static_cast<int>(column.field);
  const google::protobuf::Descriptor* run = v1::ThreadRun::descriptor();
  for (int i = 0; i < run->field_count(); ++i) {
    if (run->field(i)->is_repeated()) in_message[run->field(i)->name()] = run->field(i)->number();
  }
  EXPECT_FALSE(in_table.empty());
  EXPECT_EQ(in_table, in_message);
}

TEST(EventSchema, EventsAreTheKindsOfTheSchema) {
  std::map<std::string, int> in_table, in_enum;
  for (const EventSchema& event : kEventSchemas) in_table[event.name] = event.number;
  const google::protobuf::EnumDescriptor* kinds = v1::EventKind_descriptor();
  for (int i = 0; i < kinds->value_count(); ++i)
    in_enum[std::string(kinds->value(i)->name())] = kinds->value(i)->number();
  EXPECT_EQ(in_enum.erase("EVENT_UNKNOWN"), 1u);
  EXPECT_EQ(in_table, in_enum);
}

TEST(EventSchema, EveryColumnIsSomeEvents) {
  std::uint64_t taken = std::uint64_t{1} << static_cast<unsigned>(RunColumn::kTickDelta);
  std::set<int> numbers;
  for (const EventSchema& event : kEventSchemas) {
    taken |= event.columns;
    EXPECT_TRUE(numbers.insert(event.number).second) << event.name;
  }
  EXPECT_EQ(taken, (std::uint64_t{1} << kRunColumnCount) - 1);
}

}  // namespace
}  // namespace memoir
