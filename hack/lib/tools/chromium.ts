// Chromium, to see the page as people see it: what PATH has, else the Debian package with all of its libraries,
// unpacked into the cache.
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { LocateOptions } from "./cache.ts";
import { locateUnpacked } from "./unpacked.ts";

const run = promisify(execFile);

export interface Chromium {
  readonly program: string;
  /** What it needs in its environment. */
  readonly env: { readonly [name: string]: string };
}

const installedAs = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const has = "usr/lib/chromium/chromium";

/** @returns what the machine lacks, if it cannot be had */
export async function locateChromium(options: LocateOptions): Promise<Chromium | { readonly missing: string }> {
  const folders = (options.env["PATH"] ?? "").split(delimiter);
  const installed = installedAs.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (installed !== undefined) return { program: installed, env: {} };
  const after = async (out: string) => {
    await run(join(out, has), ["--version"], { env: { ...options.env, ...environmentIn(out) } });
  };
  // Fonts by name, so that a picture looks the same wherever it is taken.
  const packages = { closureOf: ["chromium", "fonts-liberation", "fonts-dejavu-core"] };
  const unpacked = await locateUnpacked({ name: "chromium", packages, has, after }, options);
  if (typeof unpacked !== "string") return unpacked;
  return { program: join(unpacked, has), env: environmentIn(unpacked) };
}

function environmentIn(folder: string): { readonly [name: string]: string } {
  const libraries = globSync(["usr/lib/*-linux-gnu", "usr/lib/*-linux-gnu/pulseaudio", "lib/*-linux-gnu"], {
    cwd: folder,
  });
  const fonts = join(folder, "etc/fonts-of-tests.conf");
  if (!existsSync(fonts)) {
    mkdirSync(join(folder, "etc"), { recursive: true });
    const preferred = { "system-ui": "Liberation Sans", "sans-serif": "Liberation Sans", monospace: "Liberation Mono" };
    const aliases = Object.entries(preferred).map(
      ([family, font]) =>
        `<alias binding="strong"><family>${family}</family><prefer><family>${font}</family></prefer></alias>`,
    );
    // What is in the package of a font that this machine has installed is not unpacked.
    const dirs = `<dir prefix="relative">../usr/share/fonts</dir><dir>/usr/share/fonts</dir><cachedir prefix="relative">../fonts-cache</cachedir>`;
    const text = `<fontconfig>${dirs}${aliases.join("")}</fontconfig>`;
    writeFileSync(fonts, `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">${text}\n`);
  }
  return { LD_LIBRARY_PATH: libraries.map((path) => join(folder, path)).join(":"), FONTCONFIG_FILE: fonts };
}
