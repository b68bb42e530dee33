// Packages of tests/system/interop, which the tools find at run time.
declare module "@temporalio/common/lib/proto-utils";
declare module "@temporalio/proto";
declare module "@temporalio/worker";
declare module "@temporalio/workflow";
