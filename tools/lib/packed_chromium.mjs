// Unpacks the Chromium of the npm package @sparticuz/chromium into .build, with the fonts and
// libraries that a bare machine lacks. The package's own functions are not used: they unpack into a
// shared temporary folder, and leave out those libraries off AWS.
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { root } from "./steps.mjs";

const FONT_CONFIGURATION = "/etc/fonts/fonts.conf";

/**
 * Returns { executablePath, env } of the unpacked browser. Rejects if the package is not installed
 * or its archives cannot be read.
 */
export async function unpackChromium() {
  const require = createRequire(import.meta.url);
  const home = join(dirname(require.resolve("@sparticuz/chromium")), "../..");
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const folder = join(root, `.build/chromium-${version}`);
  if (!existsSync(folder)) {
    const { extract } = createRequire(join(home, "package.json"))("tar-fs");
    const target = (name) => join(unfinished, name);
    // Another process may unpack at the same time. A folder of that name is complete, because it is
    // renamed at the end.
    const unfinished = `${folder}.${process.pid}`;
    mkdirSync(unfinished, { recursive: true });
    const archives = [
      ["chromium.br", createWriteStream(target("chromium"), { mode: 0o755 })],
      ["swiftshader.tar.br", extract(unfinished)],
      ["fonts.tar.br", extract(target("fonts"))],
      ["al2023.tar.br", extract(unfinished)],
    ];
    try {
      await Promise.all(
        archives.map(([name, to]) =>
          pipeline(createReadStream(join(home, "bin", name)), createBrotliDecompress(), to)
        ),
      );
      // The configuration in the package names other folders.
      writeFileSync(target("fonts/fonts.conf"), fontConfiguration(join(folder, "fonts")));
      renameSync(unfinished, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  const libraries = [join(folder, "lib"), process.env.LD_LIBRARY_PATH].filter(Boolean).join(":");
  return {
    executablePath: join(folder, "chromium"),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: libraries,
      ...(!existsSync(FONT_CONFIGURATION) && { FONTCONFIG_PATH: join(folder, "fonts") }),
    },
  };
}

const fontConfiguration = (folder) =>
  `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}</dir><dir>/usr/share/fonts</dir><cachedir>${folder}/cache</cachedir></fontconfig>
`;
