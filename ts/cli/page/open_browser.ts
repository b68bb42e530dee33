// Opens an address in the user's browser.
import { spawn } from "node:child_process";
import process from "node:process";

/** Starts the system's opener. Returns false without one; the address is printed anyway. */
export function openBrowser(url: string): Promise<boolean> {
  const [program, ...args] = process.platform === "darwin"
    ? ["open", url]
    : process.platform === "win32"
    ? ["rundll32", "url.dll,FileProtocolHandler", url]
    : ["xdg-open", url];
  return new Promise((resolve) => {
    const child = spawn(program!, args, { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
