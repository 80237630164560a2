import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { load } from "js-yaml";

/** A kubeconfig and the files that it names: those that the sandbox has to keep in sight. */
export function filesOf(kubeconfig: string | undefined): string[] {
  if (kubeconfig === undefined || !existsSync(kubeconfig)) return [];
  const fields = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];
  const found: string[] = [resolve(kubeconfig)];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (fields.includes(key) && typeof value === "string") found.push(resolve(dirname(kubeconfig), value));
      else visit(value);
    }
  };
  visit(load(readFileSync(kubeconfig, "utf8")));
  return found;
}
