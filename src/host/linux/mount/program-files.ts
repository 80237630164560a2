import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { programs } from "./sandbox.ts";

/** Node, this program, and what it loads: each once, and nothing of what each sandbox has. */
export function programFiles(program: string): string[] {
  const above = foldersAbove(program);
  const own = above.find((folder) => existsSync(`${folder}/package.json`)) ?? dirname(program);
  const modules = above.map((folder) => `${folder}/node_modules`).find((folder) => existsSync(folder));
  const files = [process.execPath, own, ...(modules === undefined ? [] : [realpathSync(modules)])];
  const places = [...files, ...programs.map((name) => `/${name}`)];
  return files.filter((file) => !places.some((place) => file.startsWith(`${place}/`)));
}

/** The root directory is none of them: a sandbox does not show it. */
function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === "/" ? [] : [folder, ...foldersAbove(folder)];
}
