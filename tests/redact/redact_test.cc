// The contents that a redacted capture keeps: each field of the schema, each kind of name, and the key.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "memoir/v1/symbols.pb.h"
#include "tools/redact/hashed_free_texts.h"
#include "tools/redact/hashed_paths.h"
#include "tools/redact/hashed_words.h"
#include "tools/redact/key_file.h"
#include "tools/redact/name_hashes.h"
#include "tools/redact/redacted_messages.h"

namespace memoir {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const std::string& Key() {
  static const std::string& key = *new std::string(kKeyBytes, 'k');
  return key;
}

// Sets each text field of a message, and of all messages inside, to `text`. Returns the number of fields.
int FillTexts(Message& message, const std::string& text, int depth = 0) {
  int filled = 0;
  const auto* const reflection = message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      EXPECT_TRUE(HasRedactionRule(field->full_name()))
          << field->full_name() << " has no rule in tools/redact/redacted_messages.cc";
      ++filled;
      if (field->is_repeated()) reflection->AddString(&message, field, text);
      if (!field->is_repeated()) reflection->SetString(&message, field, text);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && depth < 8) {
      Message* inside =
          field->is_repeated() ? reflection->AddMessage(&message, field) : reflection->MutableMessage(&message, field);
      filled += FillTexts(*inside, text, depth + 1);
    }
  }
  return filled;
}

// Clears kinds and layout hashes: redaction keeps these bytes unchanged, so they still have the text of FillTexts.
void ClearKinds(v1::Payload& payload) {
  for (v1::SignatureDef& signature : *payload.mutable_signatures()) signature.clear_kinds();
  for (v1::ThreadRun& run : *payload.mutable_runs()) run.clear_kind();
  for (v1::StretchDef& stretch : *payload.mutable_stretches()) stretch.mutable_events()->clear_kind();
  for (v1::LayoutDef& layout : *payload.mutable_layouts()) layout.clear_hash();
  for (v1::OpenRanges& open : *payload.mutable_keyframe()->mutable_open()) open.clear_kind();
}

TEST(MessagesTest, NoTextOfAnyFieldGetsThrough) {
  for (const std::string canary : {"my canary of a project, and more words than any of Memoir's has", "/canary/x.py",
                                   "canary::op(Tensor canary) -> ()", "<canary>", "torch.compile: canary\tcanary",
                                   "_ZN6canary6kernelIiEvv", "void canary<int>(canary)", "canary.so.canary"}) {
    for (const v1::NameDef::Kind kind :
         {v1::NameDef::TEXT, v1::NameDef::OPERATOR, v1::NameDef::MODULE, v1::NameDef::CODE}) {
      NameHashes hashes(Key());
      v1::Payload payload;
      EXPECT_GT(FillTexts(payload, canary), 15);
      payload.mutable_names(0)->set_kind(kind);
      Redact(payload, hashes);
      ClearKinds(payload);
      const bool is_word = canary.find(' ') == std::string::npos;
      if (is_word) {  // redaction keeps types of tensors and devices, which are names of torch
        for (v1::LayoutDef& layout : *payload.mutable_layouts()) layout.clear_dtype_name();
        payload.mutable_devices(0)->clear_type();
      }
      if (!canary.starts_with("my ")) payload.mutable_devices(0)->clear_product();
      EXPECT_EQ(payload.DebugString().find("canary"), std::string::npos) << payload.DebugString();
    }
    NameHashes hashes(Key());
    v1::ProcessInfo process;
    FillTexts(process, canary);
    v1::Symbols symbols;
    FillTexts(symbols, canary);
    Redact(process, hashes);
    Redact(symbols, hashes);
    process.clear_rank_source();
    process.clear_sources();
    process.clear_simulated_device();
    EXPECT_EQ((process.DebugString() + symbols.DebugString()).find("canary"), std::string::npos)
        << process.DebugString() << symbols.DebugString();
  }
}

TEST(MessagesTest, WhatIsNotKnownIsLeftOut) {
  NameHashes hashes(Key());
  v1::ProcessInfo process;
  process.GetReflection()->MutableUnknownFields(&process)->AddLengthDelimited(999, "canary");
  v1::Payload payload;
  payload.add_runs()->GetReflection()->MutableUnknownFields(payload.mutable_runs(0))->AddLengthDelimited(999, "canary");
  Redact(process, hashes);
  Redact(payload, hashes);
  EXPECT_EQ((process.SerializeAsString() + payload.SerializeAsString()).find("canary"), std::string::npos);
}

// Returns `text` with "?" in place of each hash.
std::string Shape(std::string text) {
  for (std::size_t at = text.find(kHashStart); at != std::string::npos; at = text.find(kHashStart, at + 1))
    text.replace(at, kHashLength, "?");
  return text;
}

struct Row {
  std::string name, shape;
};

TEST(NamesTest, KeepWhatEverybodyKnowsAndTheirStructure) {
  NameHashes hashes(Key());
  for (const auto& [name, shape] : std::vector<Row>{
           {"aten::add.Tensor", "aten::add.Tensor"},
           {"mine::scale_", "?::?_"},
           {"layers.3.mlp.weight", "?.3.?.weight"},
           {"train step", "?"},
           {"libc10_cuda.so", "libc10_cuda.so"},
           {"libnccl.so.2", "libnccl.so.2"},
           {"libgomp-a34b3233.so.1", "libgomp-a34b3233.so.1"},
           {"libmine.so.3", "?.so.3"},
           {"libcudnn_mine.so", "libcudnn-?.so"},
           {"autograd::engine::evaluate_function: MulBackward0", "autograd::engine::evaluate_function: MulBackward0"},
           {"SecretFnBackward", "?Backward"},
           {"Optimizer.step#AdamW.step", "Optimizer.step#AdamW.step"},
           {"Optimizer.step#Mine.step", "Optimizer.step#?.step"},
           {"ProfilerStep#17", "ProfilerStep#17"},
           {"memoir.steps_in_full 3 120", "memoir.steps_in_full 3 120"},
           {"ProfilerStep#17 of mine", "ProfilerStep?"},
           {"Torch-Compiled Region: 0/1", "Torch-Compiled Region: 0/1"},
           {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"},
           {"FSDP::pre_forward (layers.0.mine)", "FSDP::pre_forward (?.0.?)"},
           {"memoir.MemoryTracker#mine enters layers.0", "memoir.MemoryTracker#? enters ?.0"},
           {"torch.compile: mine", "torch.compile: ?"},
           {"torch.compile: forward\t0/1\tMine.forward\t/a/mine.py\t12\tbecause\t",
            "torch.compile: forward\t0/1\t?.forward\t/?/?.py\t12\t?\t"},
           {"torch.compile: code\t/t/mine.py\nt\tNet\taten.gelu\tfc.0\no\t1\t3\t1\t2\nl\t12\t0",
            "torch.compile: code\t/?/?.py\nt\t?\taten.gelu\t?.0\no\t1\t3\t1\t2\nl\t12\t0"},
           {"_ZN2at6native18elementwise_kernelILi4EN4mineEEEvT_", "_ZN2at6native18elementwise_kernelI14?E"},
           {"_ZN4mine6kernelEPf", "_ZN14?14?E14?"},
           {"void at::native::add<mine>(int)", "void at::native::add<?>(...)"}})
    EXPECT_EQ(Shape(HashedFreeText(name, hashes)), shape) << name;
  EXPECT_EQ(Shape(HashedRoot("Net#2", hashes)), "?#2");
  EXPECT_EQ(Shape(HashedSchema("mine::op(Tensor(a!) x, str y=\"z\") -> Tensor[]", hashes)),
            "?::?(Tensor(a!) ?, str ?=\"?\") -> Tensor[]");
  EXPECT_EQ(HashedSchema("aten::relu(Tensor self) -> Tensor", hashes), "aten::relu(Tensor self) -> Tensor");
  EXPECT_EQ(Shape(HashedText("ValueError: mine", hashes)), "ValueError: ?");
  EXPECT_EQ(Shape(HashedVersion("2.11.0+cu128", hashes)), "2.11.0+cu128");
  EXPECT_EQ(Shape(HashedVersion("2.11.0a0+mine", hashes)), "2.11.0+?");
  EXPECT_EQ(Shape(HashedCode("Mine.forward.<locals>.run", hashes)), "?.forward.<locals>.?");
}

TEST(NamesTest, PathsSayStillWhoseTheyAre) {
  NameHashes hashes(Key());
  for (const auto& [path, shape] :
       std::vector<Row>{{"/opt/me/train.py", "/opt/?/?.py"},
                        {"train.py", "?.py"},
                        {"/v/lib/python3.11/site-packages/torch/nn/modules/linear.py",
                         "/?/lib/python3.11/site-packages/torch/nn/modules/linear.py"},
                        {"/v/lib/python3.11/site-packages/mine/a.py", "/?/lib/python3.11/site-packages/?/?.py"},
                        {"/usr/lib/python3.11/random.py", "/usr/lib/python3.11/random.py"},
                        {"/src/torch/_mine/a.py", "/src/torch/_?/?.py"},
                        {"/tmp/torchinductor_me/x/y.py", "/tmp/torchinductor_?/?/?.py"},
                        {"<string>", "<string>"},
                        {"<ipython-input-3-12ab>", "<?>"},
                        {"<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>"}})
    EXPECT_EQ(Shape(HashedFileOf(path, hashes).path), path == shape ? path : shape) << path;
  // A program's name has the same hash as the name of its file.
  EXPECT_TRUE(HashedFileOf("/opt/me/train.py", hashes).path.ends_with(HashedFileOf("train.py", hashes).path));
}

TEST(NamesTest, AreTheSameWithOneKeyAndOthersWithAnother) {
  NameHashes hashes(Key()), again(Key()), other(std::string(kKeyBytes, 'o'));
  EXPECT_EQ(hashes.HashOf("secret"), again.HashOf("secret"));
  EXPECT_NE(hashes.HashOf("secret"), other.HashOf("secret"));
  EXPECT_NE(hashes.HashOf("secret"), hashes.HashOf("secret2"));
  // Computed as in RFC 4231: openssl dgst -sha256 -mac HMAC -macopt key:kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk
  EXPECT_EQ(hashes.HashOf("secret"), "h_ead256ccb47a");
}

class KeyFileTest : public testing::Test {
 protected:
  KeyFileTest() { std::filesystem::create_directory(folder_); }
  ~KeyFileTest() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  const std::string folder_ = testing::TempDir() + "redact." + std::to_string(getpid());
};

TEST_F(KeyFileTest, IsMadeOnceAndForItsOwnerAlone) {
  umask(0);
  const auto key = ReadOrMakeKey(Path("key"));
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(key->size(), kKeyBytes);
  EXPECT_EQ(*ReadOrMakeKey(Path("key")), *key);
  EXPECT_NE(*ReadOrMakeKey(Path("other")), *key);
  ASSERT_TRUE(KeepNames(Path("key"), {{"h_0123456789ab", "a"}}).ok());
  struct stat status;
  for (const std::string file : {"key", "key.names"}) {
    ASSERT_EQ(stat(Path(file).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(std::filesystem::path(Path("key")).parent_path()), {}),
            3);
}

TEST_F(KeyFileTest, IsRefusedWhereOthersCouldReadOrReplaceIt) {
  ASSERT_TRUE(ReadOrMakeKey(Path("key")).ok());
  std::filesystem::create_symlink("key", Path("link"));
  EXPECT_NE(ReadOrMakeKey(Path("link")).status().message().find("symbolic link"), std::string::npos);
  chmod(Path("key").c_str(), 0640);
  EXPECT_NE(ReadOrMakeKey(Path("key")).status().message().find("chmod 600"), std::string::npos);
  std::ofstream(Path("text")) << "hello\n";
  chmod(Path("text").c_str(), 0600);
  EXPECT_NE(ReadOrMakeKey(Path("text")).status().message().find("not a key"), std::string::npos);
  std::filesystem::create_directory(Path("folder"));
  EXPECT_FALSE(ReadOrMakeKey(Path("folder")).ok());
  EXPECT_FALSE(ReadOrMakeKey(Path("missing/key")).ok());
}

TEST_F(KeyFileTest, KeepsAllNamesWithTheirBytes) {
  ASSERT_TRUE(ReadOrMakeKey(Path("key")).ok());
  EXPECT_EQ(ReadNames(Path("key")).status().code(), absl::StatusCode::kNotFound);
  const HashedNames first = {{"h_000000000001", "a\tb\nc"}, {"h_000000000002", std::string("\0\xff\xe6\xb3\xa8", 5)}};
  const HashedNames more = {{"h_000000000003", "\\x41\"'"}};
  ASSERT_TRUE(KeepNames(Path("key"), first).ok());
  ASSERT_TRUE(KeepNames(Path("key"), more).ok());
  const auto names = ReadNames(Path("key"));
  ASSERT_TRUE(names.ok());
  HashedNames all = first;
  all.insert(more.begin(), more.end());
  EXPECT_EQ(*names, all);
}

TEST(RevealTest, PutsNamesInPlace) {
  const HashedNames names = {{"h_000000000001", "layers"}, {"h_000000000002", "fc"}};
  const RevealedText revealed = Reveal("h_000000000001.0._h_000000000002 h_00000000000 h_aaaaaaaaaaaa h_", names);
  EXPECT_EQ(revealed.text, "layers.0._fc h_00000000000 h_aaaaaaaaaaaa h_");
  EXPECT_EQ(revealed.unknown, 1);
  EXPECT_EQ(Reveal("h_00… h_0000… h_000000000001…", names).text, "h_00… h_0000… layers…");
  EXPECT_EQ(Reveal("h_ab12… h_ab12 h_ab… h_ab…7890.", {{"h_ab1234567890", "fc"}}).text, "fc… h_ab12 h_ab… fc.");
}

}  // namespace
}  // namespace memoir
