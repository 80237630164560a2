import { messageOf } from "../errors.ts";
import { ApiError, isNotFound } from "../kube/client/api-error.ts";
import { TransportError } from "../kube/client/transport.ts";
import { CommandError } from "./exit-code.ts";

/** PURE. What went wrong, in words of people who use kubectl. @param server that was asked */
export function errorText(error: unknown, server?: string): string {
  if (error instanceof ApiError && error.status === 401)
    return "the cluster does not accept the kubeconfig's credentials\n→ Log in again, or name another --context. To check: kubectl auth whoami";
  if (error instanceof ApiError && error.status === 403) {
    const words = error.message.replace(/^\S+ \S+: 403 \w+: /, "");
    return `${words}\n→ The ClusterRole nvi-viewer grants what this plugin reads (config/components/nvi-viewer). The command release needs nodevolume-admin.`;
  }
  const [, version, plural] = /^\S+ \/apis\/nodevolume\.dev\/(\w+)\/(\w+)/.exec(messageOf(error)) ?? [];
  if (error instanceof ApiError && error.status === 404 && !isNotFound(error) && version !== undefined)
    return `node-volume-operator is not installed: the cluster has no ${plural} (${version})\n→ See what it has: kubectl get crd. README.md has the installation.`;
  if (error instanceof TransportError) {
    const cause = error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
    if (error.cause instanceof CommandError) return cause;
    const asked = server === undefined ? "" : ` (${server})`;
    return `the cluster cannot be reached: ${cause}${asked}\n→ Check the API server: kubectl get --raw /readyz. What is mounted on the nodes stays.`;
  }
  return messageOf(error);
}
