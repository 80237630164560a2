import { parseArgs } from "node:util";

export interface QuickstartOptions {
  /** Show everything once, remove it and end, instead of staying up. */
  readonly once: boolean;
  /** How many pretended nodes. */
  readonly nodes: number;
  /** A claim of a CSI driver, instead of volumes that the nodes have by themselves. */
  readonly csi: boolean;
  /** A cluster that exists, instead of one of our own. */
  readonly existing: { readonly kubeconfig: string; readonly node: string } | undefined;
}

export const usage = `usage: npm run quickstart -- [--csi] [--once] [--nodes N]
       npm run quickstart -- --kubeconfig FILE --node NAME [--once]

Starts a real API server with the controller and one agent a node, applies config/samples/quickstart, and shows what the
kernel then has mounted, why one volume is not, how one is repaired, and what stays when an agent is killed. Needs root;
everything happens in namespaces that end with it.

  --csi              show a claim instead: provisioned, attached, staged, published at two paths, expanded, repaired and
                     released, by a real CSI driver, its sidecars and kube-controller-manager (config/samples/quickstart-csi)
  --once             show it, clean up and end; otherwise it stays up until Ctrl-C
  --nodes N          nodes to pretend on this machine, 1 to 9 (default 1)
  --kubeconfig FILE  use this cluster: what is missing there is made, and only that is removed at the end
  --node NAME        its Node that this machine is
  --help             this text
`;

/** @throws UsageError */
export function parseOptions(args: readonly string[]): QuickstartOptions | "help" {
  const values = parse(args);
  if (values.help) return "help";
  const nodes = Number(values.nodes ?? "1");
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 9) throw new UsageError("--nodes takes a number from 1 to 9");
  const { kubeconfig, node, csi = false } = values;
  if ((kubeconfig === undefined) !== (node === undefined)) {
    throw new UsageError(
      "--kubeconfig and --node belong together: which cluster, and which of its Nodes this machine is",
    );
  }
  if (kubeconfig !== undefined && values.nodes !== undefined) {
    throw new UsageError(
      "--nodes is for a cluster of our own; with --kubeconfig there is the one Node that --node names",
    );
  }
  if (kubeconfig !== undefined && csi) {
    throw new UsageError(
      "--csi brings a driver of its own, which a cluster that you have must not get: there, claims of its own drivers can be used (config/samples/claim.yaml)",
    );
  }
  const existing = kubeconfig === undefined || node === undefined ? undefined : { kubeconfig, node };
  return { once: values.once ?? false, nodes, csi, existing };
}

/** The command line cannot be understood. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        csi: { type: "boolean" },
        once: { type: "boolean" },
        nodes: { type: "string" },
        kubeconfig: { type: "string" },
        node: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
