// The debugger: a history comes in as a dropped or chosen file, as a sample, or from the shop; it is replayed in a worker against this page's
// code, and shown step by step. The file is read here and goes nowhere.
import { type DebugSession, HistoryFileError, openSession, UnknownWorkflowTypeError } from "temporalex/debug";
import { createWorkerRealm, useCore, type WorkerRealm } from "temporalex/slim";
import { workerFile } from "../core_file.ts";
import { h } from "../dom.ts";
import { loadLines } from "./lines.ts";
import { samples } from "./samples.ts";
import { Stepper } from "./stepper.ts";

const LARGEST = 200 * 1024 * 1024;

export interface DebuggerPart {
  show(): void;
  open(name: string, history: Uint8Array): Promise<void>;
  openFile(file: File): Promise<void>;
}

/** Fills the section; resolves when histories can be opened. */
export async function openDebugger(root: HTMLElement): Promise<DebuggerPart> {
  useCore({ worker: workerFile });
  const [realm] = await Promise.all([
    createWorkerRealm({
      entry: () => new Worker(new URL("../realm.ts", import.meta.url), { type: "module", name: "workflows" }),
    }),
    loadLines().catch(() => {}),
  ]);
  return new Debugger(root, realm);
}

class Debugger implements DebuggerPart {
  readonly #root: HTMLElement;
  readonly #realm: WorkerRealm;
  readonly #stage = h("div", { id: "stage" });
  readonly #file = h("input", { type: "file", id: "file", className: "hidden", tabindex: -1, "aria-hidden": "true" });
  #stepper: Stepper | undefined;
  /** The last that was asked for wins. */
  #asked = 0;

  constructor(root: HTMLElement, realm: WorkerRealm) {
    this.#root = root;
    this.#realm = realm;
    this.#file.addEventListener("change", () => {
      const [file] = this.#file.files ?? [];
      this.#file.value = "";
      if (file !== undefined) void this.openFile(file);
    });
    root.replaceChildren(
      h("h1", { id: "debugger-title" }, "Step through a run, forward and back"),
      h(
        "p",
        { className: "lead" },
        "Open the history of a run, as the Temporal command line or UI exports it. It is replayed in this tab against the code of the seven examples: at every event you see what the code published, asked for and waits on.",
      ),
      h(
        "div",
        { className: "sources" },
        h(
          "div",
          { className: "drop" },
          this.#file,
          h(
            "button",
            { type: "button", className: "primary", id: "choose", onClick: () => this.#file.click() },
            "Choose a history file…",
          ),
          h("p", {}, "or drop one anywhere on this page: JSON or binary, also in gzip"),
        ),
        h(
          "div",
          { className: "samples" },
          h("h2", { id: "samples-title" }, "Or take a sample"),
          h(
            "ul",
            { "aria-labelledby": "samples-title" },
            ...samples.map(({ id, name, about, text }) =>
              h(
                "li",
                {},
                h(
                  "button",
                  {
                    ...{ type: "button", "data-sample": id },
                    onClick: () => void this.open(`sample ${id}.json`, new TextEncoder().encode(text)),
                  },
                  h("strong", {}, name),
                  " ",
                  h("span", { className: "fine" }, about),
                ),
              )
            ),
          ),
        ),
      ),
      this.#stage,
    );
    document.addEventListener("keydown", (event) => {
      if (!root.hidden) this.#stepper?.key(event);
    });
    root.dataset["ready"] = "";
  }

  show(): void {
    this.#stepper?.focus();
  }

  async openFile(file: File): Promise<void> {
    if (file.size > LARGEST) {
      this.#refuse(
        file.name,
        `the file has ${Math.round(file.size / 1024 / 1024)} MiB; the page takes up to ${LARGEST / 1024 / 1024}`,
      );
      return;
    }
    let bytes: Uint8Array;
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch (e) {
      return this.#refuse(file.name, `the file cannot be read (is it a folder?): ${(e as Error).message}`);
    }
    await this.open(file.name, bytes);
  }

  async open(name: string, history: Uint8Array): Promise<void> {
    const asked = ++this.#asked;
    this.#stepper = undefined;
    this.#stage.replaceChildren(h("p", { role: "status", className: "fine" }, `Replaying ${name} …`));
    let session: DebugSession;
    try {
      session = await openSession(history, { realm: this.#realm });
    } catch (e) {
      if (asked === this.#asked) this.#refuse(name, this.#reason(e as Error));
      return;
    }
    if (asked !== this.#asked) return;
    const stepper = this.#stepper = new Stepper(name, session);
    this.#stage.replaceChildren(stepper.element);
    this.#root.dataset["session"] = session.workflowType;
    stepper.focus();
    stepper.element.scrollIntoView({ block: "start" });
  }

  #reason(error: Error): string {
    if (error instanceof HistoryFileError) return error.message;
    if (error instanceof UnknownWorkflowTypeError) {
      return `it is of the workflow "${error.workflowType}", and this page has only the code of ${
        error.workflowTypes.join(", ")
      }. Your own code: use openSession of temporalex/debug, or the command temporalex replay`;
    }
    return `${error.name}: ${error.message}`;
  }

  #refuse(name: string, reason: string): void {
    this.#stepper = undefined;
    delete this.#root.dataset["session"];
    this.#stage.replaceChildren(
      h(
        "div",
        { className: "notice bad", role: "alert", id: "refused" },
        h("strong", {}, `${name} cannot be opened`),
        h("p", {}, `${reason}.`),
      ),
    );
  }
}
