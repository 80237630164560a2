// What a rendered DaemonSet says of the agent's container.
import { loadAll } from "js-yaml";

interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly mountPropagation?: string;
  readonly readOnly?: boolean;
}

export interface AgentPod {
  readonly volumes: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
  readonly containers: readonly [
    {
      readonly env: readonly { readonly name: string; readonly value?: string }[];
      readonly volumeMounts: readonly VolumeMount[];
      readonly securityContext: {
        readonly privileged?: boolean;
        readonly runAsGroup?: number;
        readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
      };
    },
  ];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: { readonly [name: string]: string };
  readonly spec?: { readonly template?: { readonly spec: AgentPod } };
}

/** The agent's pod of a rendering. */
export function agentPodIn(rendered: string): AgentPod {
  const daemonSet = (loadAll(rendered) as Manifest[]).find(({ kind }) => kind === "DaemonSet");
  const pod = daemonSet?.spec?.template?.spec;
  if (pod === undefined) throw new Error("there is no DaemonSet in it");
  return pod;
}

/** The settings that a rendering gives to both roles. */
export function settingsIn(rendered: string): { readonly [name: string]: string } {
  const settings = (loadAll(rendered) as Manifest[]).find(
    ({ kind, metadata }) => kind === "ConfigMap" && metadata.name.startsWith("nodevolume-settings"),
  );
  return settings?.data ?? {};
}

/** The allowed prefixes among them. */
export function prefixesIn(rendered: string): string[] {
  return settingsIn(rendered)["NODEVOLUME_ALLOWED_PREFIXES"]?.split(",") ?? [];
}

/**
 * Paths that spread to the node and lie in another such: each restart of the pod would leave one more copy of the inner
 * one in the outer one.
 */
export function nestedIn({ containers: [{ volumeMounts }] }: AgentPod): string[] {
  const paths = volumeMounts
    .filter(({ mountPropagation }) => mountPropagation === "Bidirectional")
    .map(({ mountPath }) => mountPath);
  return paths.filter((path) => paths.some((other) => other !== path && `${path}/`.startsWith(`${other}/`)));
}

/** Prefixes beneath which the pod does not see what the node has there, at the same path. */
export function unseenIn({ containers: [{ volumeMounts }], volumes }: AgentPod, prefixes: readonly string[]): string[] {
  const places = volumeMounts.flatMap(({ name, mountPath }) => {
    const path = volumes.find((volume) => volume.name === name)?.hostPath?.path;
    return path === mountPath ? [path] : [];
  });
  return prefixes.filter((prefix) => !places.some((place) => `${prefix}/`.startsWith(`${place}/`)));
}
