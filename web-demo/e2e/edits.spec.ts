// Edits as counted by the code pane, and the blocks of awaits.
import { expect, test } from "@playwright/test";
import { blockEnd } from "../src/code/block.ts";
import { editSize, editText } from "../src/code/edits.ts";
import { drawnLines, LINE, scrollTo } from "../src/code/line_window.ts";
import { TokenizedFile } from "../../ts/run_view/code_tokens.ts";
import { makeRun } from "../src/store/state.ts";
import { codeSet, withText } from "../src/store/code_set.ts";
import { type Replay, replayOnChange } from "../src/realm/replaying.ts";

const lines = (...all: string[]) => all.join("\n");

test("an edit is counted in lines, whatever surrounds it", () => {
  const size = editSize(lines("a", "b", "c", "d"), lines("a", "x", "b", "d", "e"));
  expect([size.added, size.removed, [...size.lines]]).toEqual([2, 1, [2, 5]]);
  expect(editText(size)).toBe("+2 −1 lines");
  expect(editText(editSize("a\nb", "a\nb\nc"))).toBe("+1 line");
  expect(editText(editSize("a", "a"))).toBe("");
});

test("the block of an await ends with its closing bracket", () => {
  const file = new TokenizedFile(
    lines('const x = await receive([], [ // "("', '  on(a, () => stop(")")),', "]);", "await y();"),
  );
  expect([1, 2, 4].map((line) => blockEnd(file, line))).toEqual([3, 2, 4]);
});

test("only the visible lines of a long file are rendered, and scrolling is minimal", () => {
  const { first, last } = drawnLines(5000 * LINE, 40 * LINE, 10_000);
  expect(first).toBeLessThan(5000);
  expect(last).toBeGreaterThan(5040);
  expect(last - first).toBeLessThan(120);
  expect(drawnLines(0, 600, 3)).toEqual({ first: 1, last: 3 });
  expect(scrollTo(5010, 5000 * LINE, 40 * LINE)).toBeUndefined();
  expect(scrollTo(1, 5000 * LINE, 40 * LINE)).toBe(0);
  expect(scrollTo(6000, 0, 30 * LINE)).toBe(5999 * LINE - 10 * LINE);
});

test("the verdict on an edit arrives before its lines are analyzed, and only for the newest edit", async () => {
  const run = makeRun("tally", "tally.json", new Uint8Array(), {} as Parameters<typeof makeRun>[3]);
  const asked: { tell: Parameters<Replay>[2]; done(session: object): void }[] = [];
  const end = replayOnChange(
    run,
    (_, __, tell) =>
      new Promise((done) =>
        asked.push({ tell, done: (session) => done({ changedValues: [], ...session } as never) })
      ),
  );
  const code = codeSet({ entry: "a.ts", files: [{ path: "a.ts", text: "1" }], origin: "sample" });
  run.code.value = code;
  expect(asked[0]!.tell, "what is opened waits for its lines").toBeUndefined();
  asked[0]!.done({});
  await expect.poll(() => run.verdict.value.state).toBe("replays");
  run.code.value = withText(code, "a.ts", "2");
  asked[1]!.tell!("diverges");
  expect(run.verdict.value).toMatchObject({
    state: "replaying",
    said: "diverges",
    before: { state: "replays" },
  });
  run.code.value = withText(code, "a.ts", "3");
  asked[1]!.tell!("replays");
  asked[1]!.done({});
  expect(run.verdict.value).not.toHaveProperty("said");
  asked[2]!.tell!("replays");
  expect(run.verdict.value).toMatchObject({ state: "replaying", said: "replays" });
  asked[2]!.done({ problem: { isDivergence: true } });
  await expect.poll(() => run.verdict.value.state).toBe("diverges");
  end();
});
