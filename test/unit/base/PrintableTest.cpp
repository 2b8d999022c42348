// What of a name reaches a terminal.
#include "runtime/base/printable.h"

#include <gtest/gtest.h>

using namespace pipec;

TEST(Printable, NamesStayAsTheyAre) {
  for (const char *name : {"", "layer.0.weight", "a b", "gr\xc3\xbc\xc3\x9f",
                           "\xe5\xb1\xa4", "\xf0\x9f\x98\x80", "\\x1b"})
    EXPECT_EQ(printable(name), name);
}

TEST(Printable, ControlsAreEscaped) {
  EXPECT_EQ(printable("a\x1b[31mb\r\n\t\x7f"),
            "a\\x1b[31mb\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");
}

TEST(Printable, WhatIsNoUtf8IsEscaped) {
  EXPECT_EQ(printable("re\xffu"), "re\\xffu");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                   // cut off
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");          // too long a form
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80"); // a surrogate
  EXPECT_EQ(printable("\xf7\xbf\xbf\xbf"), "\\xf7\\xbf\\xbf\\xbf");
}

TEST(Printable, NotesOfAnErrorKeepTheirLine) {
  EXPECT_EQ(printable("e\n  note\nforged", true), "e\n  note\\x0aforged");
  EXPECT_EQ(printable("e\n  note"), "e\\x0a  note");
}
