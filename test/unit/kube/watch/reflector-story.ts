import type { KubeObject } from "../../../../src/api/meta.ts";
import { resource } from "../../../../src/api/names.ts";
import type { ApiRequest } from "../../../../src/kube/client/transport.ts";
import type { ReflectorDeps } from "../../../../src/kube/watch/reflector.ts";
import { createReflector } from "../../../../src/kube/watch/reflector.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";
import { type VirtualSystem, virtualSystem } from "../virtual-system.ts";

/** A reflector of sets on a fake API server under a virtual clock, with what it asked for and what it told. */
export function reflectorStory(options: Partial<ReflectorDeps<KubeObject>> & { system?: VirtualSystem } = {}) {
  const { system = virtualSystem() } = options;
  const api = createFakeApiServer(system.timers);
  const requests: ApiRequest[] = [];
  api.fault = (request) => {
    requests.push(request);
    return undefined;
  };
  const restarts: string[] = [];
  const reflector = createReflector<KubeObject>({
    transport: api,
    resource: resource.sets,
    project: (raw) => raw as KubeObject,
    onRestart: (why) => restarts.push(why),
    ...options,
    system,
  });
  const told: string[] = [];
  reflector.store.subscribe({
    onAdd: (o) => told.push(`+${o.metadata.name}`),
    onUpdate: (_, o) => told.push(`~${o.metadata.name}`),
    onDelete: (o, lastKnown) => told.push(`${lastKnown ? "?" : ""}-${o.metadata.name}`),
  });
  const take = () => told.splice(0);
  const put = (name: string, spec: unknown = {}) => api.apply("nodevolumesets", { metadata: { name }, spec });
  const watches = () => requests.filter((r) => r.query?.["watch"] === "true");
  return { system, api, reflector, take, put, requests, watches, restarts };
}
