// Ports for servers that a test starts by number, because it ends them and starts them again, or because another process is told first.
import { createServer } from "node:net";

/**
 * A port of the loopback that nobody listens at, and that no connection takes by chance: systems give outgoing connections, and servers
 * that ask for any port, numbers from 32768 (Linux) or 49152 (others) on. A port of that range, let go and used a moment later or after
 * a restart, may be somebody else's by then. Browsers refuse no port from 20000 on.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFree(port)) return port;
  }
  throw new Error("no free port from 20000 to 31999");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
