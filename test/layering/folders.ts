import { importsOf } from "./rules.ts";

/**
 * The law of folders: a folder imports only folders of the lines above its own, counted with `import type`; "." is what
 * lies flat in the folder above them, and may import all.
 */
const lines: { readonly [top: string]: readonly (readonly string[])[] } = {
  "src/agent": [
    ["model"],
    ["ownership", "content", "health"],
    ["actual", "journal", "backoff", "drivers"],
    ["desired", "planner"],
    ["executor", "status"],
    ["pods", "orphans", "metrics"],
    ["."],
  ],
  "src/controller": [
    ["util"],
    ["model"],
    ["cache", "nodes", "claims", "release", "agents"],
    ["attach", "pods", "sets"],
    ["grants", "intents"],
    ["reconcilers", "scheduling-gates", "observe", "readiness", "page"],
    ["queues"],
    ["."],
  ],
  "src/host/linux": [
    ["syscall", "flocker"],
    ["child", "path", "mount-table"],
    ["evidence"],
    ["device", "layers", "wakeups", "image"],
    ["mount"],
    ["files", "scsi", "git", "rbd"],
    ["."],
  ],
  "src/host": [["mount-table"], ["ports"], ["linux"], ["."]],
};

/** Folders that a folder may not import although they are above it. */
const never: { readonly [folder: string]: readonly string[] } = {
  "src/agent/planner": ["journal", "health", "drivers"],
};

/** Folders that others enter by one file alone. */
const doors: { readonly [folder: string]: string } = { "src/agent/planner/incremental": "incremental-planner.ts" };

/** PURE. Imports of a file of src that the law of folders does not allow. */
export function upwardImports(path: string, text: string): string[] {
  return importsOf(path, text).flatMap((to) =>
    [...Object.keys(lines).map((top) => upward(top, path, to)), besideDoor(path, to)].flatMap((why) =>
      why === undefined ? [] : [`${path}: ${why} (${to})`],
    ),
  );
}

/** PURE. Flat folders and folders that the law does not know. */
export function unknownFolder(path: string): string | undefined {
  const tops = Object.keys(lines).filter((top) => path.startsWith(`${top}/`));
  const top = tops.find((one) => lineOf(one, folderOf(one, path)) === undefined);
  return top === undefined
    ? undefined
    : `${path}: ${folderOf(top, path)} is on no line of ${top} in test/layering/folders.ts`;
}

function upward(top: string, path: string, to: string): string | undefined {
  if (!path.startsWith(`${top}/`) || !to.startsWith(`${top}/`)) return undefined;
  const [from, target] = [folderOf(top, path), folderOf(top, to)];
  if (from === target) return undefined;
  const isBelow = (lineOf(top, target) ?? 0) >= (lineOf(top, from) ?? 0);
  const isForbidden = never[`${top}/${from}`]?.includes(target) === true;
  return isBelow || isForbidden ? `${top}/${from} may not import ${target}` : undefined;
}

function besideDoor(path: string, to: string): string | undefined {
  const entered = Object.entries(doors).find(
    ([folder]) => to.startsWith(`${folder}/`) && !path.startsWith(`${folder}/`),
  );
  if (entered === undefined || to === entered.join("/")) return undefined;
  return `${entered[0]} is entered by ${entered[1]} alone`;
}

/** "." for a file that lies flat in it. */
function folderOf(top: string, path: string): string {
  const [folder = "", ...rest] = path.slice(top.length + 1).split("/");
  return rest.length === 0 ? "." : folder;
}

function lineOf(top: string, folder: string): number | undefined {
  const line = (lines[top] ?? []).findIndex((folders) => folders.includes(folder));
  return line < 0 ? undefined : line;
}
