// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CPU features: what this machine has is not missing, and names are judged as the header says.

#include "latewood/runtime/CPUFeatures.h"

#include <gtest/gtest.h>

using namespace latewood::runtime;

TEST(CPUFeatures, TheBaselineIsPresent) {
  EXPECT_TRUE(missingCPUFeatures("x86-64", {}).empty());
  const std::string features[] = {"+sse2", "64bit", "-avx512f", "prfchw"};
  EXPECT_TRUE(missingCPUFeatures("anything", features).empty());
}

TEST(CPUFeatures, UnknownNamesAreMissing) {
  const std::string features[] = {"sse2", "quantum"};
  EXPECT_EQ(missingCPUFeatures("x86-64", features), std::vector<std::string>{"quantum"});
  EXPECT_EQ(missingCPUFeatures("znver9", {}), std::vector<std::string>{"znver9"});
}

TEST(CPUFeatures, WhatTheHostHasIsNotMissing) {
  std::vector<std::string> features;
  for (std::string_view name : hostCPUFeatures())
    features.emplace_back(name);
  EXPECT_TRUE(missingCPUFeatures("host", features).empty());
}
