#include "tools/read/symbols.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::Property;

void AddName(v1::SymbolObject& object, std::uint32_t offset, const std::string& name) {
  v1::SymbolAddress& address = *object.add_address();
  address.set_offset(offset);
  address.add_function()->set_name(name);
}

std::string NewFolder(const char* name) {
  const std::string folder = ::testing::TempDir() + name + std::to_string(getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(SymbolsTest, WhatOnePartHasNotKeepsItsName) {
  const std::string folder = NewFolder("symbols");
  v1::Symbols all;
  v1::SymbolObject& torch = *all.add_object();
  torch.set_path("/lib/libtorch.so");
  torch.set_build_id("0a");
  AddName(torch, 16, "old_repeat");
  AddName(torch, 32, "add");
  v1::SymbolObject& other = *all.add_object();
  other.set_path("/lib/other.so");  // without a build id
  AddName(other, 8, "other");
  ASSERT_TRUE(WriteSymbols(folder, all).ok());

  v1::Symbols part;
  v1::SymbolObject& moved = *part.add_object();
  moved.set_path("/elsewhere/libtorch.so");
  moved.set_build_id("0a");
  AddName(moved, 16, "repeat");
  const absl::StatusOr<Symbols> earlier = Symbols::Read(folder);
  ASSERT_TRUE(earlier.ok()) << earlier.status();
  earlier->AddOthersTo(part);
  ASSERT_TRUE(WriteSymbols(folder, part).ok());

  const absl::StatusOr<Symbols> now = Symbols::Read(folder);
  ASSERT_TRUE(now.ok()) << now.status();
  const auto called = [](const char* name) { return ElementsAre(Property(&v1::SymbolFunction::name, name)); };
  for (const auto& [build_id, offset, name] :
       {std::tuple("0a", 16u, "repeat"), std::tuple("0a", 32u, "add"), std::tuple("", 8u, "other")}) {
    const auto* functions = now->Find({"/lib/other.so", build_id}, offset);
    ASSERT_NE(functions, nullptr) << name;
    EXPECT_THAT(*functions, called(name));
  }
  EXPECT_EQ(part.object_size(), 2);
}

}  // namespace
}  // namespace memoir
