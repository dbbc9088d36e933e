// On programs that the machine's compiler makes for each case.
#include "tools/run/preflight.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tools/subprocess.h"

namespace jankbox::tools {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

class PreflightTest : public testing::Test {
 protected:
  // Compiled with `flags`; its path.
  std::string Program(const std::vector<std::string>& flags) {
    WriteFile(folder_ / "main.c", "int main(void) { return 0; }\n");
    const std::string path = folder_ / "program";
    std::vector<std::string> command = {"cc", "-o", path, folder_ / "main.c"};
    command.insert(command.end(), flags.begin(), flags.end());
    EXPECT_EQ(RunToEnd(command).exit_status(), 0);
    return path;
  }
  std::string Script(const std::string& first_line) {
    const std::string path = folder_ / "script";
    WriteFile(path, first_line + "\n");
    chmod(path.c_str(), 0755);
    return path;
  }

  TemporaryFolder folder_;
};

TEST_F(PreflightTest, DynamicProgramHasNoObstacle) {
  const Preflight found = InspectProgram(Program({}));
  EXPECT_THAT(found.obstacle, IsEmpty());
  EXPECT_THAT(found.first_library, IsEmpty());
}

TEST_F(PreflightTest, StaticProgram) {
  EXPECT_THAT(InspectProgram(Program({"-static"})).obstacle, HasSubstr("linked statically"));
  EXPECT_THAT(InspectProgram(Program({"-static-pie"})).obstacle, HasSubstr("linked statically"));
}

TEST_F(PreflightTest, ProgramOfMusl) {
  const std::string program = Program({"-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"});
  EXPECT_THAT(InspectProgram(program).obstacle, HasSubstr("uses musl's C library"));
}

TEST_F(PreflightTest, SanitizersRuntimeComesFirst) {
  EXPECT_THAT(InspectProgram(Program({"-fsanitize=address"})).first_library,
              testing::StartsWith("libasan.so"));
}

// As a JDK has it: `java` and other programs link libjli, and /usr/bin/java is a link.
TEST_F(PreflightTest, JavaIsALauncherOfThatName) {
  WriteFile(folder_ / "libjli.c", "int JLI_Launch(void) { return 0; }\n");
  const std::string library = folder_ / "libjli.so";
  ASSERT_EQ(RunToEnd({"cc", "-shared", "-fPIC", "-Wl,-soname,libjli.so", "-o", library,
                      folder_ / "libjli.c"})
                .exit_status(),
            0);
  const std::string other = Program({"-Wl,--no-as-needed", library});
  EXPECT_FALSE(InspectProgram(other).is_java);
  const std::string java = folder_ / "java";
  ASSERT_EQ(rename(other.c_str(), java.c_str()), 0);
  EXPECT_TRUE(InspectProgram(java).is_java);
  const std::string link = folder_ / "link";
  ASSERT_EQ(symlink(java.c_str(), link.c_str()), 0);
  EXPECT_TRUE(InspectProgram(link).is_java);
  EXPECT_FALSE(InspectProgram(Script("#!" + java)).is_java);
  ASSERT_EQ(rename(Program({}).c_str(), java.c_str()), 0);
  EXPECT_FALSE(InspectProgram(java).is_java) << "a program of that name without libjli";
}

TEST_F(PreflightTest, NodeIsTheProgramOfThatNameAndNoScriptOfIt) {
  const std::string node = folder_ / "node";
  ASSERT_EQ(rename(Program({}).c_str(), node.c_str()), 0);
  EXPECT_TRUE(InspectProgram(node).is_node);
  EXPECT_FALSE(InspectProgram(Script("#!" + node)).is_node);
  EXPECT_FALSE(InspectProgram(Program({})).is_node);
}

TEST_F(PreflightTest, ProgramWithOtherRightsThanItsUser) {
  const std::string program = Program({});
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  EXPECT_THAT(InspectProgram(program).obstacle, IsEmpty()) << "its user's own";
  if (geteuid() != 0) GTEST_SKIP() << "only root may give a file away";
  ASSERT_EQ(chown(program.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  EXPECT_THAT(InspectProgram(program).obstacle, HasSubstr("set-user-ID"));
  ASSERT_EQ(chmod(program.c_str(), 02755), 0);
  EXPECT_THAT(InspectProgram(program).obstacle, HasSubstr("set-group-ID"));
}

TEST_F(PreflightTest, ScriptIsJudgedByItsInterpreter) {
  const std::string program = Program({"-static"});
  EXPECT_THAT(InspectProgram(Script("#!" + program + " -x")).obstacle, HasSubstr(program));
  EXPECT_THAT(InspectProgram(Script("#! /usr/bin/env -S A=1 " + program)).obstacle,
              HasSubstr(program));
  EXPECT_THAT(InspectProgram(Script("#!/bin/sh")).obstacle, IsEmpty());
  EXPECT_THAT(InspectProgram(Script("#!" + (folder_ / "script"))).obstacle, IsEmpty()) << "its own";
}

TEST_F(PreflightTest, WhatIsNoProgramIsLeftToItsStart) {
  WriteFile(folder_ / "text", "no program");
  WriteFile(folder_ / "cut",
            "\x7f"
            "ELF\x02\x01\x01");
  for (const char* name : {"text", "cut"}) chmod((folder_ / name).c_str(), 0755);
  for (const std::string& name : {folder_ / "none", folder_ / "text", folder_ / "cut", folder_ / "",
                                  std::string("no-such-program")}) {
    EXPECT_THAT(InspectProgram(name).obstacle, IsEmpty()) << name;
  }
}

TEST_F(PreflightTest, ProgramForAnotherMachine) {
  std::string bytes = FileBytes(Program({}));
  bytes[18] = 20;  // e_machine: PowerPC
  WriteFile(folder_ / "program", bytes);
  EXPECT_THAT(InspectProgram(folder_ / "program").obstacle, EndsWith("for another processor"));
  bytes[4] = 1;  // ELFCLASS32
  WriteFile(folder_ / "program", bytes);
  EXPECT_THAT(InspectProgram(folder_ / "program").obstacle, HasSubstr("32-bit"));
}

}  // namespace
}  // namespace jankbox::tools
