import { existsSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import { messageOf } from "../errors.ts";
import { createKubeClient } from "../kube/client/client.ts";
import { createHttpTransport } from "../kube/client/http-transport.ts";
import type { System } from "../ports.ts";
import type { Cluster } from "./cluster.ts";
import { CommandError } from "./exit-code.ts";
import type { FlagValues } from "./flags.ts";
import { didYouMean } from "./nearest.ts";

const fieldManager = "kubectl-nvi";

/**
 * Reads the kubeconfig as kubectl does: --kubeconfig, else $KUBECONFIG, else ~/.kube/config, else the pod's own
 * account. client-node knows certificates, tokens and programs that give them; requests go through our own transport.
 * @throws CommandError if there is none, or if it does not say which cluster is meant
 */
export function connect(values: FlagValues, system: System, version: string): Cluster {
  const config = load(values.kubeconfig);
  if (values.context !== undefined) {
    const known = config.getContexts().map(({ name }) => name);
    if (!known.includes(values.context)) {
      const list = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
      throw new CommandError(
        `the kubeconfig has no context ${JSON.stringify(values.context)}: ${list}${didYouMean(values.context, known)}`,
      );
    }
    config.setCurrentContext(values.context);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null || !/^https?:\/\//.test(cluster.server ?? "")) {
    const current = config.getCurrentContext();
    throw new CommandError(
      current === undefined || current === ""
        ? "the kubeconfig names no current context: give --context, or kubectl config use-context NAME"
        : `context ${JSON.stringify(current)} of the kubeconfig names no cluster with a server`,
    );
  }
  const credentials = async () => {
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw new CommandError(`the kubeconfig's credentials cannot be used: ${messageOf(error)}`);
    }
    return options;
  };
  const token = { current: async () => "", refused() {} };
  const userAgent = `kubectl-nvi/${version}`;
  const transport = createHttpTransport({ system, server: cluster.server, token, credentials, userAgent });
  return {
    client: createKubeClient({ transport, fieldManager }),
    transport,
    server: cluster.server,
    namespace: values.namespace ?? config.getContextObject(config.getCurrentContext())?.namespace ?? "default",
    user: config.getCurrentUser()?.name ?? "",
    close: () => transport.close(),
  };
}

function load(path: string | undefined): KubeConfig {
  const config = new KubeConfig();
  try {
    if (path === undefined) config.loadFromDefault();
    else if (existsSync(path)) config.loadFromFile(path);
    else throw new Error("there is no such file");
  } catch (error) {
    const what = path === undefined ? "the kubeconfig" : `the kubeconfig ${path}`;
    throw new CommandError(`${what} cannot be read: ${messageOf(error).split("\n", 1)[0]}`);
  }
  if (path === undefined && config.getCurrentCluster()?.server === "http://localhost:8080")
    throw new CommandError("there is no kubeconfig: give --kubeconfig, set KUBECONFIG, or make ~/.kube/config");
  return config;
}
