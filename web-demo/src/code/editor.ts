// The editor: CodeMirror with the colors of the page, in a separate chunk that is loaded when Edit
// is pressed.
//
// It is in a shadow root, where CodeMirror adopts constructable style sheets. In the document it
// would add <style> elements, which the page's policy blocks; a nonce in a static page would be
// public.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, type Range, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import styles from "./editor.css?raw";
import { HighlightedFile } from "./highlight.ts";

export interface EditorHandle {
  text(): string;
  /** Replaces the text if it differs, and keeps the cursor. */
  setText(text: string): void;
  /** Marks the line of the first divergence; undefined removes the mark. */
  markRed(line: number | undefined): void;
  close(): void;
}

export interface EditorOptions {
  readonly text: string;
  /** Label for screen readers. */
  readonly label: string;
  /** Initial line of the cursor, from 1. */
  readonly line: number;
  onChange(): void;
  /** Called when the reader presses Escape. */
  onLeave(): void;
}

const fromOutside = Annotation.define<boolean>();
const setRed = StateEffect.define<number | undefined>();
const redLine = Decoration.line({ class: "cm-red-line" });

const redMark = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, transaction) => {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setRed)) continue;
      const line = effect.value;
      const { doc } = transaction.state;
      next = line === undefined || line > doc.lines
        ? Decoration.none
        : Decoration.set([redLine.range(doc.line(line).from)]);
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** In characters. Longer texts are not colored: the tokenizer reads from the top at each key. */
const LARGEST = 400_000;

/** The tokenizer and names of the code pane, so that a word has the same color in both. */
const colors = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    #file: HighlightedFile | undefined;

    constructor(view: EditorView) {
      this.decorations = this.#build(view);
    }

    update(update: ViewUpdate): void {
      if (update.docChanged) this.#file = undefined;
      if (update.docChanged || update.viewportChanged) this.decorations = this.#build(update.view);
    }

    #build(view: EditorView): DecorationSet {
      const { doc } = view.state;
      if (doc.length > LARGEST) return Decoration.none;
      const file = this.#file ??= new HighlightedFile(doc.toString());
      const marks: Range<Decoration>[] = [];
      for (const { from, to } of view.visibleRanges) {
        const last = doc.lineAt(to).number;
        for (let n = doc.lineAt(from).number; n <= last; n++) {
          let at = doc.line(n).from;
          for (const { look, text } of file.pieces(n)) {
            if (look !== "" && text.length > 0) {
              marks.push(Decoration.mark({ class: `t-${look}` }).range(at, at + text.length));
            }
            at += text.length;
          }
        }
      }
      return Decoration.set(marks, true);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

export function openEditor(parent: HTMLElement, options: EditorOptions): EditorHandle {
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  parent.append(host);
  // Outside the shadow root a key event has the host as its target, which is not a field: the run's
  // keys would handle it.
  host.addEventListener("keydown", (event) => event.stopPropagation());
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        indentOnInput(),
        bracketMatching(),
        indentUnit.of("  "),
        javascript({ typescript: true }),
        colors,
        redMark,
        // Tab indents. Escape leaves the editor, so that it is not a keyboard trap.
        keymap.of([
          { key: "Escape", run: () => (options.onLeave(), true) },
          ...searchKeymap,
          ...historyKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({
          "aria-label": options.label,
          "spellcheck": "false",
          "tabindex": "0",
        }),
        EditorView.updateListener.of((update) => {
          if (
            update.docChanged && !update.transactions.some((one) => one.annotation(fromOutside))
          ) options.onChange();
        }),
      ],
    }),
  });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  const { from } = view.state.doc.line(Math.max(1, Math.min(options.line, view.state.doc.lines)));
  view.dispatch({
    selection: { anchor: from },
    effects: EditorView.scrollIntoView(from, { y: "center" }),
  });
  view.focus();
  return {
    text: () => view.state.doc.toString(),
    setText: (text) => {
      const now = view.state.doc.toString();
      if (now === text) return;
      // Only the difference is replaced, so that the cursor stays.
      let [head, tail] = [0, 0];
      while (head < now.length && head < text.length && now[head] === text[head]) head++;
      const most = Math.min(now.length, text.length) - head;
      while (tail < most && now.at(-1 - tail) === text.at(-1 - tail)) tail++;
      view.dispatch({
        changes: {
          from: head,
          to: now.length - tail,
          insert: text.slice(head, text.length - tail),
        },
        annotations: fromOutside.of(true),
      });
    },
    markRed: (line) => {
      view.dispatch({ effects: setRed.of(line) });
    },
    close: () => {
      view.destroy();
      host.remove();
    },
  };
}
