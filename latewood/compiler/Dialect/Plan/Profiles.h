// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds for several profiles: an engine may be optimized for more than one range of shapes. `plan.bounds` is then an
// array with an entry for each profile; where several attributes belong together, the last entry of a shorter one holds
// for the profiles that are left.
#pragma once

#include "latewood/compiler/Dialect/Plan/Plan.h"

namespace latewood::plan {

/// The bounds in an attribute that is one, an array of them, or null.
inline llvm::SmallVector<BoundsAttr> getProfiles(mlir::Attribute attribute) {
  llvm::SmallVector<BoundsAttr> profiles;
  if (auto array = mlir::dyn_cast_or_null<mlir::ArrayAttr>(attribute))
    for (mlir::Attribute entry : array)
      if (auto bounds = mlir::dyn_cast<BoundsAttr>(entry))
        profiles.push_back(bounds);
  if (auto single = mlir::dyn_cast_or_null<BoundsAttr>(attribute))
    profiles.push_back(single);
  return profiles;
}

/// Those of profile `index`, or null.
inline BoundsAttr getProfile(mlir::Attribute attribute, size_t index) {
  llvm::SmallVector<BoundsAttr> profiles = getProfiles(attribute);
  return profiles.empty() ? BoundsAttr() : profiles[std::min(index, profiles.size() - 1)];
}

/// The attribute of these profiles: one stands alone.
inline mlir::Attribute makeProfiles(llvm::ArrayRef<BoundsAttr> profiles) {
  if (profiles.size() == 1)
    return profiles.front();
  return mlir::ArrayAttr::get(profiles.front().getContext(),
                              llvm::SmallVector<mlir::Attribute>(profiles.begin(), profiles.end()));
}

/// What lies in one of the profiles; typical is what is typical of the first.
inline BoundsAttr joinProfiles(mlir::Attribute attribute) {
  llvm::SmallVector<BoundsAttr> profiles = getProfiles(attribute);
  if (profiles.size() < 2)
    return profiles.empty() ? BoundsAttr() : profiles.front();
  llvm::SmallVector<int64_t> min(profiles.front().getMin().asArrayRef()), max(profiles.front().getMax().asArrayRef());
  for (BoundsAttr other : profiles)
    for (size_t i = 0; i < min.size() && i < static_cast<size_t>(other.getMin().size()); ++i) {
      min[i] = std::min(min[i], other.getMin()[i]);
      max[i] = std::max(max[i], other.getMax()[i]);
    }
  mlir::MLIRContext *context = profiles.front().getContext();
  return BoundsAttr::get(context, mlir::DenseI64ArrayAttr::get(context, min), profiles.front().getOpt(),
                         mlir::DenseI64ArrayAttr::get(context, max));
}

} // namespace latewood::plan
