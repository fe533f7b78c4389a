// SPDX-License-Identifier: Apache-2.0
#include "gate/base/written_file.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "gate/base/error.hpp"
#include "gate/base/json.hpp"
#include "gate/base/process.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Without root's rights, for which no folder is read-only.
class OfAnotherUser : public testing::Test {
 protected:
  const TemporaryFolder folder_{"written-file-test"};

  void become_another(fs::perms of_folder) {
    write_file(folder_.path() / "older.json", "{}");
    fs::permissions(folder_.path(), of_folder);
    const bool is_root = ::geteuid() == 0;
    was_root_ = is_root && ::seteuid(65534) == 0;
    if (is_root && !was_root_) GTEST_SKIP() << "no other user is known here";
  }
  void TearDown() override {
    if (was_root_ && ::seteuid(0) != 0) ADD_FAILURE() << "cannot become root again";
    fs::permissions(folder_.path(), fs::perms::owner_all);
  }

 private:
  bool was_root_ = false;
};

TEST_F(OfAnotherUser, AnOlderFileThatCannotBeWithdrawnNamesTheFolder) {
  become_another(fs::perms::none);
  if (IsSkipped()) return;
  EXPECT_THAT([&] { withdraw(folder_.path() / "older.json"); },
              ThrowsMessage<Error>(HasSubstr("the folder " + folder_.path().string() +
                                             " cannot be written to; name another folder")));
}

TEST_F(OfAnotherUser, AFolderThatIsThereAndTakesNoFileIsRefused) {
  become_another(fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                 fs::perms::others_exec);
  if (IsSkipped()) return;
  EXPECT_THAT([&] { make_folder(folder_.path()); },
              ThrowsMessage<Error>(HasSubstr("cannot write to --out=" + folder_.path().string() +
                                             ": Permission denied")));
}

}  // namespace
}  // namespace holdfast::gate
