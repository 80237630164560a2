import type { Kubectl } from "../../../hack/lib/kubectl.ts";

/** What keeps the CRDs from being deleted, and itself by a finalizer (config/policy/definitions.yaml). */
export const definitionsGuard = [
  "validatingadmissionpolicy/nodevolume-definitions",
  "validatingadmissionpolicybinding/nodevolume-definitions",
] as const;

/** As docs/tasks/uninstall.md has it, before it is deleted. */
export async function letGuardGo(kubectl: Pick<Kubectl, "run">): Promise<void> {
  await kubectl.run(["patch", ...definitionsGuard, "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
}
