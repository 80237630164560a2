// The mock driver of csi-test fails by JavaScript that it runs in the middle of a call.
import { writeFileSync } from "node:fs";

/** As its scripts name the codes. */
type MockCode = "UNAVAILABLE" | "INTERNAL" | "DEADLINEEXCEEDED" | "ABORTED" | "FAILEDPRECONDITION";

/** At the beginning of an RPC, or when it is done but not yet answered; such as nodeStageVolumeStart. */
export type Hook = `${string}${"Start" | "End"}`;

export interface HookedFailure {
  readonly code: MockCode;
  /** So many calls fail; those that follow go on as usual. */
  readonly times: number;
}

/** Writes the file for mockDriver(…, hooks). It is JSON, which is YAML too. */
export function writeHooks(path: string, failures: { readonly [hook: Hook]: HookedFailure }): void {
  const hooks = Object.entries(failures);
  const globals = hooks.map(([hook]) => `${hook} = 0;`).join(" ");
  const script = (hook: string, { code, times }: HookedFailure) =>
    `${hook} = ${hook} + 1; if (${hook} <= ${times}) { ${code}; } else { OK; };`;
  const scripts = Object.fromEntries(hooks.map(([hook, failure]) => [hook, script(hook, failure)]));
  writeFileSync(path, JSON.stringify({ globals, ...scripts }));
}
