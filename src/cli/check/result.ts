/** What one check has found. */
export interface CheckResult {
  /** What was checked, in one to three words. */
  readonly check: string;
  /** Ok: nothing to do. Limited: it works, with a limit. Failed: somebody must act. Unknown: it could not be read. */
  readonly result: "Ok" | "Limited" | "Failed" | "Unknown";
  readonly found: string;
  /** What to do, in one line; absent if there is nothing to do. */
  readonly remedy?: string;
}

/** PURE. A check that passed. */
export function ok(check: string, found: string): CheckResult {
  return { check, result: "Ok", found };
}

/** PURE. A check that found something that does not work fully, with what to do. */
export function limited(check: string, found: string, remedy: string): CheckResult {
  return { check, result: "Limited", found, remedy };
}

/** PURE. A check that failed, with what to do. */
export function failed(check: string, found: string, remedy: string): CheckResult {
  return { check, result: "Failed", found, remedy };
}

/** @param denied why it could not be read, as cluster.ts words it */
export function unknown(check: string, denied: string, remedy = viewerRemedy): CheckResult {
  return { check, result: "Unknown", found: `not checked: ${denied}`, remedy };
}

/** For what the roles of kubectl nvi allow. */
const viewerRemedy = "Bind the ClusterRole and the Role nvi-viewer of this version: config/components/nvi-viewer";

/** For what the Role of support bundles allows. */
export const supportRemedy = "Bind the Role nvi-support: config/components/support-bundle";
