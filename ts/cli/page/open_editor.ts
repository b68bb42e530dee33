// Opens a line of a file in the user's editor: LAUNCH_EDITOR, VISUAL or EDITOR, else an installed
// one. Skips terminal editors, because the server uses the terminal.
import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import process from "node:process";

export interface EditorLine {
  /** Absolute. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

type Env = { readonly [name: string]: string | undefined };

const VARIABLES = ["LAUNCH_EDITOR", "VISUAL", "EDITOR"];
/** Searched on the PATH, in this order. */
const KNOWN = ["code", "cursor", "codium", "windsurf", "zed", "subl", "webstorm", "idea"];
const IN_TERMINAL = /^(?:vim?|nvim|nano|pico|emacs|hx|helix|kak|micro|joe|ed)$/;

/** Returns the program and its arguments for a line. */
export function editorCommand(
  editor: string,
  { path, line, column }: EditorLine,
): readonly string[] {
  const words = [...editor.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) =>
    quoted ?? plain!
  );
  const [program = "", ...given] = words;
  const place = `${path}:${line}:${column}`;
  const arguments_ = (): readonly string[] => {
    switch (nameOf(program)) {
      case "code":
      case "code-insiders":
      case "codium":
      case "vscodium":
      case "cursor":
      case "windsurf":
        return ["-g", place];
      case "subl":
      case "sublime_text":
      case "zed":
      case "atom":
      case "hx":
        return [place];
      case "idea":
      case "webstorm":
      case "phpstorm":
      case "pycharm":
      case "rider":
      case "clion":
      case "goland":
      case "rubymine":
        return ["--line", String(line), "--column", String(column), path];
      case "mate":
        return ["--line", `${line}:${column}`, path];
      case "emacsclient":
        return ["--no-wait", `+${line}:${column}`, path];
      case "gvim":
      case "mvim":
        return [`+call cursor(${line}, ${column})`, path];
      case "notepad++":
        return [`-n${line}`, `-c${column}`, path];
      default:
        return [path];
    }
  };
  return [program, ...given, ...arguments_()];
}

/** Returns "code" for "/usr/local/bin/code" and "Code.exe". */
const nameOf = (program: string): string =>
  basename(program.replaceAll("\\", "/")).replace(/\.(?:exe|cmd|bat)$/i, "").toLowerCase();

/** Returns the editor; undefined if no GUI editor is known. */
export function findEditor(env: Env): string | undefined {
  for (const name of VARIABLES) {
    const editor = env[name]?.trim();
    if (
      editor !== undefined && editor !== "" &&
      !IN_TERMINAL.test(nameOf(/^"([^"]*)"|^(\S+)/.exec(editor)?.[0] ?? ""))
    ) {
      return editor;
    }
  }
  return KNOWN.find((program) => isOnPath(program, env["PATH"] ?? ""));
}

function isOnPath(program: string, path: string): boolean {
  const endings = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  return path.split(delimiter).some((folder) =>
    folder !== "" && endings.some((ending) => {
      try {
        accessSync(join(folder, program + ending), constants.X_OK);
        return statSync(join(folder, program + ending)).isFile();
      } catch {
        return false;
      }
    })
  );
}

/** Opens the line. Rejects with advice if no editor can be started. */
export function launchEditor(at: EditorLine, env: Env): Promise<void> {
  const editor = findEditor(env);
  if (editor === undefined) {
    return Promise.reject(
      new Error("no graphical editor found: set VISUAL to its command, for example VISUAL=code"),
    );
  }
  const [program, ...args] = editorCommand(editor, at);
  return new Promise((resolve, reject) => {
    // No shell, so a file name cannot be interpreted. A .cmd on Windows needs one; names with shell
    // characters are rejected.
    const shell = process.platform === "win32";
    if (shell && /["&|<>^%!]/.test(at.path)) {
      return reject(new Error(`the name ${at.path} cannot be given to an editor on Windows`));
    }
    const words = shell ? args.map((word) => `"${word}"`) : args;
    const child = spawn(program!, words, { stdio: "ignore", detached: true, shell });
    child.once(
      "error",
      (error) =>
        reject(
          new Error(
            `${program} cannot be started: ${error.message}; set VISUAL to your editor's command`,
          ),
        ),
    );
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}
