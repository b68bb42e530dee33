// Realms: where workflow code runs.
export { createInlineRealm, type InlineRealmOptions } from "./inline_realm.ts";
export { formatProblem, type Problem, type ProblemCode, WorkflowLoadError } from "./loader/errors.ts";
export { RealmLostError } from "./lost_task.ts";
export { type CommonRealmOptions, type Realm, RealmDisposedError, type ReplayVerdict } from "./realm.ts";
export { type ServedWorkflows, serveRealm } from "./serve.ts";
export { createWorkerRealm, type WorkerRealm, type WorkerRealmOptions } from "./worker_realm.ts";
