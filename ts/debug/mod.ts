// Debug sessions: replay the history of a run against current code, and step through it forward and
// back.
export { type Bisected, bisectEvents, type BisectOptions, bisectVersions } from "./bisect.ts";
export { ExpressionError, parseExpression } from "./code/expression.ts";
export { SessionCode } from "./code/session_code.ts";
export type {
  BranchTest,
  Cause,
  CodeFile,
  Condition,
  ConditionFacts,
  ConditionHandler,
  ConditionScope,
  CopiedValue,
  Crossing,
  CrossingKind,
  Direction,
  FiberKind,
  FiberLane,
  LineCounts,
  LogPointValue,
  Parked,
  Place,
  PlacedCommand,
  PlacedLog,
  StateChange,
  StateOf,
  Why,
} from "./code/types.ts";
export type { CommandView } from "./command_decoders.ts";
export {
  explainDivergence,
  type Helpers as DivergenceHelpers,
  type Replay,
  sharedDivergences,
} from "./divergence/explain.ts";
export type {
  ChangedValue,
  Divergence,
  EditKind,
  FieldDifference,
  LikelyEdit,
  Repair,
  SharedDivergence,
  Step,
  StepKind,
  StepPair,
  TaskPairs,
  UncomparedValue,
  ValueCommand,
  ValueComparison,
  ValueDifference,
  ValueRule,
} from "./divergence/types.ts";
export { ValueRulesError } from "./divergence/value_rules.ts";
export type { EventLine } from "./events.ts";
export {
  type HistoryFile,
  HistoryFileError,
  readHistoryFile,
} from "../history_files/history_file.ts";
export type { MessageView } from "./messages.ts";
export type { NotInHistory } from "./not_in_history.ts";
export { type PreparedHistory, prepareHistory, type ReadOptions } from "./prepared_history.ts";
export type { SessionProblem } from "./problem.ts";
export { eventGroups } from "./run/groups.ts";
export { openRun, type OpenRunOptions } from "./run/model.ts";
export { formatTimeSpan } from "./run/span_text.ts";
export type {
  Attempt,
  EventGroup,
  Finding,
  ItemKind,
  ItemStatus,
  RunFacts,
  RunItem,
  RunLimit,
  RunLink,
  RunModel,
} from "./run/types.ts";
export {
  DebugSession,
  openSession,
  type ReplayingRealm,
  type SessionOptions,
  type TaskLine,
  UnknownWorkflowTypeError,
} from "./session.ts";
export type { LogEntry } from "../executor/program/program.ts";
export type { ReceiveState, WaitKind } from "../executor/program/snapshot.ts";
export type { Shown, ShownFailure } from "./values.ts";
export type { OpenAwait, OutcomeView, SessionView } from "./view.ts";
export {
  type MinimalHistory,
  minimize,
  type MinimizeOptions,
  NoProblemError,
  NotRepairedError,
} from "./take_away/minimize.ts";
export type { Trying } from "./take_away/ddmin.ts";
export {
  redact,
  type RedactedHistory,
  RedactionError,
  type RedactionRule,
  type RedactOptions,
} from "./take_away/redact.ts";
export {
  historyJson,
  type TestFileOptions,
  testFiles,
  type TestRunner,
  type TextFile,
} from "./take_away/test_file.ts";
