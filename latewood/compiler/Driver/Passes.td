// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of the driver: they frame the phases and know no engine.

#ifndef LATEWOOD_COMPILER_DRIVER_PASSES
#define LATEWOOD_COMPILER_DRIVER_PASSES

include "mlir/Pass/PassBase.td"

def RecordOptionsPass : Pass<"latewood-record-options", "::mlir::ModuleOp"> {
  let summary = "Writes the options of the compilation and the resolved target on the module";
  let description = [{
    The first pass of the pipeline. Later passes and the translation read the target from the module; the executable's provenance
    holds the options. `target` is resolved by whoever builds the pipeline and is never `native`. Strings are
    percent-encoded (see Driver/OptionText.h), because MLIR's option syntax does not keep every string.

    ```mlir
    module attributes {latewood.options = "--engines=cpu …", plan.target = #plan.target<…>} { … }
    ```

    Bounds become `plan.bounds` and `plan.value_bounds` of the arguments that they name.
    A host other than `native` is recorded as `executor.host`. Refuses a target that cannot be resolved, and an unknown host.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"x86-64-v3\"", "The machine that code is made for">,
    Option<"host", "host", "std::string", "\"native\"", "What the host program becomes: native or lua">,
    Option<"bounds", "bounds", "std::string", "", "Limits of arguments' extents, which go onto the arguments">,
    Option<"optionText", "options", "std::string", "", "Canonical options of the compilation">
  ];
  let dependentDialects = ["::latewood::executor::ExecutorDialect", "::latewood::plan::PlanDialect"];
}

def FinishPhasePass : Pass<"latewood-finish-phase", "::mlir::ModuleOp"> {
  let summary = "Checks the postcondition of a phase and stamps the module with its name";
  let description = [{
    The last pass of each phase. The stamp tells a later run where the module stands.

    ```mlir
    module attributes {latewood.phase = "cluster"} { … }
    ```

    Refuses a module that breaks the phase's postcondition, and an unknown phase name.
  }];
  let options = [Option<"name", "name", "std::string", "", "The phase that ends here">];
}

#endif // LATEWOOD_COMPILER_DRIVER_PASSES
