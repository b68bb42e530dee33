// The account of workflow.ts, as a program for `@temporalio/workflow`: a worker of this package
// runs it, and so does one of the official SDK. Here handlers overlap, so a queue serializes them;
// the ids of updates are carried over in the state; and the main function waits for handlers before
// it continues as new.
import type { UpdateDefinition } from "@temporalio/workflow";
import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  currentUpdateInfo,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  startChild,
  workflowInfo,
} from "@temporalio/workflow";
import type * as activities from "./activities.ts";
import type { Health, Profile, Receipt, Status, User } from "./workflow.ts";

const service = proxyActivities<typeof activities>({
  startToCloseTimeout: "30s",
  retry: { maximumAttempts: 5 },
});

const updateProfile = defineUpdate<Receipt, [Profile]>("updateProfile");
const changeEmail = defineUpdate<Receipt, [string]>("changeEmail");
const suspendNow = defineUpdate<Receipt, []>("suspend");
const reactivateNow = defineUpdate<Receipt, []>("reactivate");
const suspend = defineSignal("suspend");
const reactivate = defineSignal("reactivate");
const deleteAccount = defineSignal("delete");
const getState = defineQuery<User>("getState");
const getHealth = defineQuery<Health>("getHealth");

/** What one generation hands to the next. */
interface Account {
  user: User;
  generation: number;
  operations: number;
  /** Results of the newest updates, by id: a service knows the ids of one run only. */
  answers: [id: string, receipt: Receipt][];
}
const REMEMBERED = 1000;

export function notifyUser(userId: string, status: Status): Promise<string> {
  return service.sendNotification(userId, status);
}

export async function userAccount(userId: string, before?: Account): Promise<User> {
  const now = Date.now();
  const account: Account = before ??
    {
      user: { status: "ACTIVE", createdAt: now, updatedAt: now },
      generation: 1,
      operations: 0,
      answers: [],
    };
  const answers = new Map(account.answers);

  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
  const isDeleted = () => account.user.status === "DELETED";
  const existing = () => {
    if (isDeleted()) {
      throw ApplicationFailure.nonRetryable("the user account is deleted", "AccountDeleted");
    }
  };
  const change = (changed: Partial<User>) => {
    account.user = { ...account.user, updatedAt: Date.now(), ...changed };
    account.operations++;
  };
  const turn = async (from: Status, to: Status) => {
    if (account.user.status !== from) return;
    const workflowId = `${workflowInfo().workflowId}-mail-${account.operations}`;
    await startChild(notifyUser, { workflowId, args: [userId, to], parentClosePolicy: "ABANDON" });
    change({ status: to });
  };
  function handle<A extends unknown[]>(
    update: UpdateDefinition<Receipt, A>,
    work: (...args: A) => Promise<void>,
  ): void {
    const handler = (...args: A) =>
      inTurn(async (): Promise<Receipt> => {
        const { id } = currentUpdateInfo()!;
        const known = answers.get(id);
        if (known !== undefined) return known;
        existing();
        await work(...args);
        const receipt = { status: account.user.status, operation: account.operations };
        answers.set(id, receipt);
        if (answers.size > REMEMBERED) answers.delete(answers.keys().next().value!);
        return receipt;
      });
    setHandler(update, handler, { validator: existing });
  }

  handle(updateProfile, async (profile) => {
    await service.validateProfile(profile);
    change({ profile });
  });
  handle(changeEmail, async (pendingEmail) => {
    await service.sendVerificationEmail(userId, pendingEmail);
    change({ pendingEmail });
  });
  handle(suspendNow, () => turn("ACTIVE", "SUSPENDED"));
  handle(reactivateNow, () => turn("SUSPENDED", "ACTIVE"));
  setHandler(suspend, () => inTurn(() => turn("ACTIVE", "SUSPENDED")));
  setHandler(reactivate, () => inTurn(() => turn("SUSPENDED", "ACTIVE")));
  setHandler(deleteAccount, () =>
    inTurn(async () => {
      if (isDeleted()) return;
      change({ status: "DELETED", deletedAt: Date.now() });
      await service.eraseData(userId);
    }));
  setHandler(getState, () => account.user);
  setHandler(getHealth, () => {
    const { historyLength: historyEvents, historySize: historyBytes } = workflowInfo();
    return {
      generation: account.generation,
      operations: account.operations,
      historyEvents,
      historyBytes,
    };
  });

  await condition(() => isDeleted() || workflowInfo().continueAsNewSuggested);
  await condition(allHandlersFinished);
  if (isDeleted()) return account.user;
  return await continueAsNew<typeof userAccount>(userId, {
    ...account,
    generation: account.generation + 1,
    answers: [...answers],
  });
}
