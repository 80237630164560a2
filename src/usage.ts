import { type Setting, settingsByRole } from "./configuration.ts";
import { revision, version } from "./version.ts";

const help = ["--help", "-h", "help"];

/** PURE. The answer to a call for help or the version, before or behind a role; undefined for all else. */
export function answerTo(argv: readonly string[]): string | undefined {
  const [first = "", second = ""] = argv;
  if (help.includes(first) || second === "--help" || second === "-h") return usage();
  return first === "version" || first === "--version" ? `node-volume-operator ${version} (${revision})\n` : undefined;
}

function usage(): string {
  return [
    "usage: main.cjs controller|agent|api-proxy [FLAG VALUE]…",
    "       main.cjs version",
    "       main.cjs --help",
    "",
    "controller turns NodeVolumeSets into one NodeVolumeIntent for each node; agent mounts the volumes of its node's intents;",
    "api-proxy stands before an agent and has its token. Each role has its own flags, and most have a variable and a default:",
    "docs/settings.md has more about them.",
    "",
    ...settingsByRole.flatMap(({ roles, settings }) => [`flags of ${roles}:`, ...settings.flatMap(linesOf), ""]),
  ].join("\n");
}

function linesOf({ flag, env, default: other, doc }: Setting): string[] {
  const beside = [env ?? "", defaultText(other)].filter((text) => text !== "").join(", ");
  const plain = doc
    .replace(/ \(\[[^\]]*\]\([^)]*\)\)|; see below|: see below/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "");
  return [`  --${flag}`, `      ${plain}${beside === "" ? "" : ` (${beside})`}`];
}

function defaultText(other: Setting["default"]): string {
  if (other === undefined) return "needed";
  if (typeof other === "function") return "default: see docs/settings.md";
  return other === "" ? "" : `default ${other}`;
}
