#include "tests/fuzz/mutated_fields.h"

#include <google/protobuf/descriptor.h>
#include <zstd.h>

#include <array>
#include <cstddef>
#include <vector>

#include "tests/captures/capture_builder.h"

namespace memoir::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

struct Place {
  Message* message;
  const FieldDescriptor* field;
  int index;  // -1: not repeated
};

void FindPlaces(Message* message, std::vector<Place>* places) {
  const Reflection* reflection = message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const int count = field->is_repeated() ? reflection->FieldSize(*message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (!is_message) {
        places->push_back({message, field, field->is_repeated() ? i : -1});
      } else if (field->is_repeated()) {
        FindPlaces(reflection->MutableRepeatedMessage(message, field, i), places);
      } else {
        FindPlaces(reflection->MutableMessage(message, field), places);
      }
    }
  }
}

// Small numbers are ids that may be another's; large ones are beyond every table.
std::uint64_t Value(const Random& random) {
  constexpr std::array<std::uint64_t, 10> kOdd = {0,          0xff,        0xffff,      1u << 20,   1u << 23,
                                                  0x7fffffff, 0xfffffffeu, 0xffffffffu, 1ull << 63, ~0ull};
  const std::uint64_t choice = random();
  return choice % 2 == 0 ? choice / 2 % 40 : kOdd[choice / 2 % kOdd.size()];
}

std::string Text(std::string text, const Random& random) {
  if (text.empty() || random() % 4 == 0) return std::string(random() % 3, '\x85');
  text[random() % text.size()] = static_cast<char>(random());
  return text;
}

void Set(const Place& place, const Random& random) {
  const Reflection* reflection = place.message->GetReflection();
  const FieldDescriptor* field = place.field;
  const std::uint64_t value = Value(random);
  const auto set = [&](auto one, auto repeated, auto typed) {
    if (place.index < 0) {
      (reflection->*one)(place.message, field, typed);
    } else {
      (reflection->*repeated)(place.message, field, place.index, typed);
    }
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return set(&Reflection::SetUInt32, &Reflection::SetRepeatedUInt32, static_cast<std::uint32_t>(value));
    case FieldDescriptor::CPPTYPE_UINT64:
      return set(&Reflection::SetUInt64, &Reflection::SetRepeatedUInt64, value);
    case FieldDescriptor::CPPTYPE_INT64:
      return set(&Reflection::SetInt64, &Reflection::SetRepeatedInt64, static_cast<std::int64_t>(value));
    case FieldDescriptor::CPPTYPE_BOOL:
      return set(&Reflection::SetBool, &Reflection::SetRepeatedBool, value % 2 == 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return set(&Reflection::SetEnumValue, &Reflection::SetRepeatedEnumValue, static_cast<int>(value % 50));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string old = place.index < 0 ? reflection->GetString(*place.message, field)
                                              : reflection->GetRepeatedString(*place.message, field, place.index);
      return set(&Reflection::SetString, &Reflection::SetRepeatedString, Text(old, random));
    }
    default:
      return;
  }
}

std::string Unpack(const v1::Chunk& chunk) {
  std::string plain(chunk.payload_bytes(), '\0');
  ZSTD_decompress(plain.data(), plain.size(), chunk.payload().data(), chunk.payload().size());
  return plain;
}

}  // namespace

void MutateField(Message* message, const Random& random) {
  std::vector<Place> places;
  FindPlaces(message, &places);
  if (!places.empty()) Set(places[random() % places.size()], random);
}

std::string MutatePart(const std::string& bytes, const Random& random) {
  v1::Part part;
  part.ParseFromString(bytes);
  v1::Chunk* chunk = part.mutable_chunk(static_cast<int>(random() % static_cast<std::uint64_t>(part.chunk_size())));
  if (chunk->payload().empty() || random() % 8 == 0) {
    v1::Chunk around = *chunk;
    around.clear_payload();
    MutateField(&around, random);
    around.set_payload(chunk->payload());
    *chunk = around;
    return Delimited(part);
  }
  v1::Payload payload;
  payload.ParseFromString(Unpack(*chunk));
  for (std::uint64_t times = 1 + random() % 4; times > 0; --times) MutateField(&payload, random);
  Seal(payload, chunk);
  return Delimited(part);
}

std::string ChangePayloads(const std::string& bytes, const std::function<void(v1::Payload*)>& change) {
  v1::Part part;
  part.ParseFromString(bytes);
  for (v1::Chunk& chunk : *part.mutable_chunk()) {
    if (chunk.payload().empty()) continue;
    v1::Payload payload;
    payload.ParseFromString(Unpack(chunk));
    change(&payload);
    Seal(payload, &chunk);
  }
  return Delimited(part);
}

}  // namespace memoir::testing
