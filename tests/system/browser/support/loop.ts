// The crash loop of tabs: a browser works on a store in one or two tabs, and at a random moment the
// leading tab is reloaded, closed or crashed, or the whole browser is killed, again and again on
// one growing store. After each round the store is exported and judged in Node by the oracle of the
// crash loop (tests/faults/crash): nothing acknowledged is missing, nothing is recorded twice,
// closed runs replay in a fresh core.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Judgement, Oracle } from "../../../faults/crash/oracle.ts";
import { Profile, type Tab } from "./browser.ts";
import { serveSite, SITE } from "./site.ts";

export const KINDS = [
  "reload",
  "close",
  "kill",
  "close-of-two",
  "crash-of-two",
  "freeze-of-two",
] as const;
export type Kind = typeof KINDS[number];

export interface LoopOptions {
  rounds: number;
  clients?: number;
  /** The longest time between the first acknowledged call of a round and its end. Milliseconds. */
  killWithinMs?: number;
  random?: () => number;
  kinds?: readonly Kind[];
  onRound?: (
    round: number,
    kind: Kind,
    judgement: Judgement,
    handOverMs: number | undefined,
  ) => void;
}

export interface TabsJudgement extends Judgement {
  readonly browser: string;
  readonly kinds: { readonly [kind: string]: number };
  /** From the end of the leading tab to the next one's first answer as the leader. */
  readonly handOversMs: readonly number[];
  /** From the start of a page to its leading, after a reload, a close or a kill of everything. */
  readonly reopeningsMs: readonly number[];
}

/** Undefined if no browser is installed. */
export async function tabLoop(
  options: LoopOptions,
): Promise<TabsJudgement | { readonly skipped: string }> {
  const { rounds, clients = 2, killWithinMs = 400, random = Math.random, kinds = KINDS } = options;
  const site = await serveSite(SITE);
  const profile = new Profile();
  const folder = mkdtempSync(join(tmpdir(), "temporalex-exported-"));
  const oracle = new Oracle();
  const handOversMs: number[] = [];
  const reopeningsMs: number[] = [];
  const counts: { [kind: string]: number } = {};
  let firstAck: (() => void) | undefined;
  profile.hear = (line) => {
    oracle.heard(line);
    if (line.startsWith("ack")) firstAck?.();
  };
  const opened = async (): Promise<Tab> => {
    const tab = await profile.tab(site.url);
    await open(tab, reopeningsMs);
    return tab;
  };
  try {
    const why = await profile.start();
    if (why !== undefined) return { skipped: why };
    let tab = await opened();
    let judgement: Judgement | undefined;
    for (let round = 1; round <= rounds; round++) {
      const kind = kinds[(round - 1) % kinds.length]!;
      counts[kind] = (counts[kind] ?? 0) + 1;
      const two = kind.endsWith("-of-two");
      const other = two ? await opened() : undefined;
      const acked = new Promise<void>((resolve) => (firstAck = resolve));
      await tab.work(`r${round}a`, clients);
      await other?.work(`r${round}b`, clients);
      await acked;
      await sleep(random() * killWithinMs);
      let handOverMs: number | undefined;
      if (other !== undefined) {
        handOverMs = await handOver(kind, tab, other);
        handOversMs.push(handOverMs);
        // Its own clients were in the middle of calls, and continue.
        await sleep(random() * killWithinMs);
        await tab.close().catch(() => {});
        await other.reload();
        await open(other, []);
        tab = other;
      } else if (kind === "reload") {
        await tab.reload();
        await open(tab, reopeningsMs);
      } else {
        if (kind === "kill") {
          await profile.kill();
          const again = await profile.start();
          if (again !== undefined) throw new Error(`the browser did not start again: ${again}`);
        } else await tab.close();
        tab = await opened();
      }
      const last = round === rounds;
      // Runs are left open now and then, so that a round begins with work to take up.
      if (last || round % 2 === 0) { while (await tab.takeUp(`t${round}`) > 0); }
      const path = join(folder, `${round}.db`);
      writeFileSync(path, await tab.exportStore());
      judgement = await oracle.judge(path, {});
      options.onRound?.(round, kind, judgement, handOverMs);
      if (judgement.problems.length > 0) break;
    }
    const problems = [...judgement!.problems];
    if (judgement!.open > 0 && problems.length === 0) {
      problems.push(`${judgement!.open} runs never ended`);
    }
    return {
      ...judgement!,
      problems,
      browser: profile.source,
      kinds: counts,
      handOversMs,
      reopeningsMs,
    };
  } finally {
    await profile.remove();
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function open(tab: Tab, times: number[]): Promise<void> {
  const began = await tab.now();
  const wrong = await tab.open();
  if (wrong !== undefined) {
    throw new Error(`the tab could not be opened: ${wrong.name}: ${wrong.message}`);
  }
  if (await tab.role() === "leader") times.push((await tab.led())[0]! - began);
}

/** Ends the leading tab; returns the time until the other one led, in milliseconds. */
export async function handOver(kind: Kind, leader: Tab, next: Tab): Promise<number> {
  const leading = await leader.role();
  if (leading !== "leader" || await next.role() !== "follower") {
    throw new Error(`the roles are ${leading} and ${await next.role()}`);
  }
  const cdp = await leader.cdp();
  const before = await next.now();
  if (kind === "close-of-two") await leader.close();
  else if (kind === "crash-of-two") void cdp.send("Page.crash").catch(() => {});
  else await cdp.send("Page.setWebLifecycleState", { state: "frozen" });
  await next.until("leader");
  return (await next.led()).at(-1)! - before;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
