/** Every flag that some command takes. `value` stands for its value in help; without it the flag is a switch. */
export const flags = {
  kubeconfig: { value: "PATH", what: "path of the kubeconfig; default: $KUBECONFIG, or ~/.kube/config" },
  context: { value: "NAME", what: "context of the kubeconfig; default: its current one" },
  namespace: { short: "n", value: "NAME", what: "namespace of the pod or claim; default: that of the context" },
  output: { short: "o", value: "FORMAT", what: "json, yaml, wide or name, as far as the command has them" },
  "no-headers": { what: "print no line with the names of the columns" },
  selector: { short: "l", value: "LABELS", what: "only objects with these labels, as in kubectl get" },
  watch: { short: "w", what: "keep running, and print each change" },
  for: { value: "STATE", what: "ready (the default) or released" },
  timeout: {
    value: "DURATION",
    what: "how long to wait, such as 30s or 1h; default: 5m; 0 checks once, without waiting",
  },
  wait: { what: "wait until the node is drained" },
  reason: { value: "TEXT", what: "why you are sure; recorded in the object, with your user name" },
  "i-have-checked": { what: "confirms that you have checked that the node no longer uses the volume" },
  "node-file": { value: "PATH", what: "fstab or mount table of the node; default: standard input" },
  node: { value: "NAME", what: "the only node that the sets select; default: every node" },
  pre: { what: "check whether the cluster is ready for an installation or an upgrade" },
  verbose: { short: "v", what: "print details of errors" },
  help: { short: "h", what: "print this help" },
} as const satisfies { [name: string]: Flag };

/** One flag of the command line. */
export interface Flag {
  readonly short?: string;
  readonly value?: string;
  readonly what: string;
}

/** The name of a flag, without dashes. */
export type FlagName = keyof typeof flags;

/** Taken by every command. */
export const everywhere: readonly FlagName[] = ["verbose", "help"];

/** Taken by every command that asks the cluster. */
export const ofCluster: readonly FlagName[] = ["kubeconfig", "context"];

/** What was given: the text of a value, "true" for a switch. */
export type FlagValues = { readonly [name in FlagName]?: string };
