// A small world in this tab: a hundred patrols, each a workflow, with tables in the same store. All
// actions are workflows, so a reload, a closed tab or a killed browser loses nothing.
import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { HEIGHT, WIDTH } from "../../../../examples/world/reducers.ts";
import type { Point } from "../../../../examples/world/workflows.ts";
import {
  cast,
  endSpell,
  look,
  type Sight,
  strengthen,
  threaten,
  within,
} from "../../../../examples/world/world.ts";
import type { Debug } from "../part.ts";
import { drawMap } from "./map.ts";
import type { OpenWorld } from "./open.ts";
import { Workflows } from "./workflows.tsx";
import "./world.css";

const FRAME_MS = 150;
const TOOLS = [
  ["look", "Look", "shows the workflows of the patrol in a cell"],
  ["threat", "Threat", "five patrols come to fight it"],
  ["ward", "Ward", "within two cells; wards stack, and each restarts the ten seconds"],
  ["spell", "Poison", "within five cells, for thirty seconds; a spell can be canceled"],
] as const;
type Tool = typeof TOOLS[number][0];
const EMPTY: Sight = { npcs: [], threats: [], scores: {} };

export function WorldMap({ debug }: { debug: Debug }): JSX.Element {
  const [world, setWorld] = useState<OpenWorld>();
  const [wrong, setWrong] = useState("");
  const [isOpening, setOpening] = useState(false);
  const open = async () => {
    setOpening(true);
    setWrong("");
    try {
      const { openWorld } = await import("./open.ts");
      setWorld(await openWorld((error) => setWrong(`${error.name}: ${error.message}`)));
    } catch (e) {
      setWrong(`The world cannot be opened. ${(e as Error).name}: ${(e as Error).message}`);
    }
    setOpening(false);
  };
  return (
    <>
      <h1>A world that outlives its tab</h1>
      <p class="lead">
        A hundred patrols walk here. Each is a durable workflow that sleeps between two steps, and
        each step changes a table in the same transaction that commits it. Reload, close the tab,
        kill the browser in the middle of a fight: they continue where they were.
      </p>
      {wrong !== "" && <p class="notice bad" role="alert" id="world-error">{wrong}</p>}
      {world !== undefined
        ? <Play world={world} debug={debug} fail={setWrong} />
        : (
          <div class="invite">
            <button
              type="button"
              class="primary"
              id="open-world"
              disabled={isOpening}
              onClick={() => void open()}
            >
              {isOpening ? "Opening …" : "Open the world"}
            </button>
            <p class="fine">
              Loads the engine and SQLite (once, under a megabyte), and keeps one file for this site
              in this browser.
            </p>
          </div>
        )}
    </>
  );
}

/** Content of the tables, queried while the map is visible. */
function useSight(
  world: OpenWorld,
  canvas: RefObject<HTMLCanvasElement | null>,
  fail: (wrong: string) => void,
): Sight {
  const [sight, setSight] = useState(EMPTY);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    const frame = async () => {
      if (!document.hidden && canvas.current?.offsetParent !== null) {
        await look(world).then(setSight, (e: Error) => fail(`${e.name}: ${e.message}`));
      }
      if (!isOver) timer = setTimeout(() => void frame(), FRAME_MS);
    };
    void frame();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [world]);
  return sight;
}

function Play(
  { world, debug, fail }: { world: OpenWorld; debug: Debug; fail: (wrong: string) => void },
): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const sight = useSight(world, canvas, fail);
  const [tool, setTool] = useState<Tool>("threat");
  const [at, setAt] = useState<Point>({ x: WIDTH >> 1, y: HEIGHT >> 1 });
  const [chosen, setChosen] = useState<number>();
  const [byHand, setByHand] = useState(false);
  const [role, setRole] = useState(world.app.role);

  useEffect(() => world.app.onStatus(({ role }) => setRole(role)), [world]);
  useEffect(() => {
    if (canvas.current !== null) drawMap(canvas.current, sight, at);
  }, [sight, at]);

  const timers = byHand ? "manual" : "due";
  const use = async (place: Point) => {
    setAt(place);
    if (tool === "look") {
      const [first] = await within(world, place, 1);
      // On empty ground the previous patrol stays selected.
      return first === undefined ? undefined : setChosen(first);
    }
    if (tool === "threat") return await threaten(world, place, 20);
    if (tool === "ward") {
      return void await Promise.all(
        (await within(world, place, 2)).map((npc) => strengthen(world, npc, 10_000, timers)),
      );
    }
    await cast(
      world,
      await within(world, place, 5),
      30,
      1000,
      `spell-${crypto.randomUUID()}`,
      timers,
    );
  };
  const doing = (work: Promise<unknown>) =>
    void work.catch((e: Error) => fail(`${e.name}: ${e.message}`));
  const onKeyDown = (event: KeyboardEvent) => {
    const by =
      { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (by === undefined && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    if (by === undefined) return doing(use(at));
    const [x, y] = [at.x + by[0]!, at.y + by[1]!];
    if (x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT) setAt({ x, y });
  };
  const onClick = (event: MouseEvent) => {
    const { left, top, width, height } = canvas.current!.getBoundingClientRect();
    const x = Math.floor((event.clientX - left) / width * WIDTH);
    const y = Math.floor((event.clientY - top) / height * HEIGHT);
    if (x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT) doing(use({ x, y }));
  };

  const poisoned = sight.npcs.filter(({ poison }) => poison > 0).length;
  return (
    <>
      <Strip role={role} sight={sight} />
      <fieldset class="tools">
        <legend class="hidden">What a click on the map does</legend>
        {TOOLS.map(([name, label, about]) => (
          <label key={name} title={about} class={tool === name ? "chosen" : ""}>
            <input
              type="radio"
              name="tool"
              value={name}
              checked={tool === name}
              onChange={() =>
                setTool(name)}
            />
            {label}
          </label>
        ))}
        <label
          title="New wards and poison wait until you fire their timers"
          class={byHand ? "chosen" : ""}
        >
          <input
            type="checkbox"
            id="by-hand"
            checked={byHand}
            onChange={() => setByHand(!byHand)}
          />
          Manual timers
        </label>
        <button
          type="button"
          id="end-spells"
          disabled={poisoned === 0}
          onClick={() => doing(endSpells(world))}
        >
          Cancel the poison
        </button>
      </fieldset>
      <p class="fine">
        A click on the map: {TOOLS.find(([name]) => name === tool)![2]}.
        {byHand && " New wards and poison wait: select their patrol, and fire their timers."}
      </p>
      <div class="map-and-panel">
        <div>
          <canvas
            ref={canvas}
            id="map"
            class="map"
            tabIndex={0}
            role="application"
            aria-label={`Map of ${WIDTH} by ${HEIGHT} cells, at ${at.x}, ${at.y}. Arrows move, Enter uses the tool.`}
            onClick={onClick}
            onKeyDown={onKeyDown}
          />
          <p class="buttons">
            <button type="button" onClick={() => location.reload()}>Reload this tab</button>
            <a class="button" href="#/live" target="_blank" rel="opener">Open a second tab</a>
          </p>
        </div>
        {chosen !== undefined && <Workflows world={world} npc={chosen} debug={debug} fail={fail} />}
      </div>
    </>
  );
}

/** The role of this tab, and totals of the tables. */
function Strip({ role, sight }: { role: OpenWorld["app"]["role"]; sight: Sight }): JSX.Element {
  const count = (is: (npc: Sight["npcs"][number]) => boolean) => sight.npcs.filter(is).length;
  return (
    <div class="strip">
      <span
        class={`badge ${role === "none" ? "bad" : role === "leader" ? "good" : "plain"}`}
        id="world-role"
      >
        {role === "leader"
          ? "this tab leads"
          : role === "follower"
          ? "another tab leads"
          : "no tab leads"}
      </span>
      <span class="fine" id="world-counts" role="status">
        {sight.npcs.length} patrols, {count(({ doing }) => doing === "fights")} fight,{" "}
        {count(({ ward }) => ward > 0)} warded, {count(({ poison }) => poison > 0)} poisoned;{" "}
        {sight.scores["threats beaten"] ?? 0} threats beaten
      </span>
    </div>
  );
}

/** Active spells; each is a correlation. */
async function endSpells(world: OpenWorld): Promise<void> {
  const spells = new Set<string>();
  for await (
    const { workflowId } of world.client.list(
      "WorkflowType = 'Poison' AND ExecutionStatus = 'Running'",
    )
  ) {
    spells.add(workflowId.slice(0, workflowId.lastIndexOf("-")));
  }
  await Promise.all([...spells].map((spell) => endSpell(world, spell)));
}
