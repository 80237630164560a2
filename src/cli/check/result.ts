/** What one check has found. */
export interface Found {
  /** Ok: nothing to do. Limited: it works, with a limit. Failed: somebody must act. Unknown: it could not be read. */
  readonly result: "Ok" | "Limited" | "Failed" | "Unknown";
  readonly found: string;
  /** What to do, in one line; absent if there is nothing to do. */
  readonly remedy?: string;
}

/** The same, with what was checked, in one to three words. */
export interface CheckResult extends Found {
  readonly check: string;
}

/** PURE. Results of one check by its name. */
export function named(check: string, ...results: readonly Found[]): CheckResult[] {
  return results.map((one) => ({ check, ...one }));
}

/** PURE. A check that passed. */
export function ok(found: string): Found {
  return { result: "Ok", found };
}

/** PURE. A check that found something that does not work fully, with what to do. */
export function limited(found: string, remedy: string): Found {
  return { result: "Limited", found, remedy };
}

/** PURE. A check that failed, with what to do. */
export function failed(found: string, remedy: string): Found {
  return { result: "Failed", found, remedy };
}

/** @param denied why it could not be read, as cluster.ts words it */
export function unknown(denied: string, remedy = viewerRemedy): Found {
  return { result: "Unknown", found: `not checked: ${denied}`, remedy };
}

/** For what the roles of kubectl nvi allow. */
const viewerRemedy = "Bind the ClusterRole and the Role nvi-viewer of this version: config/components/nvi-viewer";
