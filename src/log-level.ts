/** Log levels, from the fewest lines to the most. */
export const logLevels = ["error", "warn", "info", "debug"] as const;

/** A log level. */
export type LogLevel = (typeof logLevels)[number];

/** Whose level it is. */
export type Who = { readonly role: "controller" } | { readonly role: "agent" | "api-proxy"; readonly nodeName: string };

/** The log level in force, and what set it. */
export interface ChosenLevel {
  readonly level: LogLevel;
  /** The file that says so; undefined: none does, and it is as at the start. */
  readonly by: string | undefined;
  /** Files that say something that is no level. */
  readonly wrong: readonly string[];
}

/** PURE. Names of the files that are meant for it, the one that counts first; an api-proxy goes by its agent's. */
export function filesFor(who: Who): string[] {
  return who.role === "controller" ? ["controller"] : [`agent.${who.nodeName}`, "agents"];
}

/** PURE. The level that the first file with one says. `read` gives a file's text, if there is one. */
export function chooseLevel(who: Who, read: (file: string) => string | undefined, atStart: LogLevel): ChosenLevel {
  const wrong: string[] = [];
  for (const file of filesFor(who)) {
    const text = read(file)?.trim() ?? "";
    const level = logLevels.find((known) => known === text);
    if (level !== undefined) return { level, by: file, wrong };
    if (text !== "") wrong.push(`${file}: ${JSON.stringify(text.slice(0, 40))} is not one of ${logLevels.join(", ")}`);
  }
  return { level: atStart, by: undefined, wrong };
}
