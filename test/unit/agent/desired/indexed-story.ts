import { IndexedIntents } from "../../../../src/agent/desired/indexed-intents.ts";
import { watchOwnState } from "../../../../src/agent/desired/own-state.ts";
import type { ApiRequest, Transport } from "../../../../src/kube/client/transport.ts";
import { wanted } from "../../../lib/builders/plan-world.ts";
import type { FakeObject } from "../../fake-api-objects.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

export const intents = "nodevolumeintents";
const states = "nodevolumestates";

/** An agent's source of intents on a fake API server; the index is what the test writes. */
export function indexedStory({ onRecord = [] as string[], index = true } = {}) {
  const system = virtualSystem();
  const api = createFakeApiServer(system.timers);
  api.apply(states, { metadata: { name: "n1" }, ...(index && { spec: { intents: [] } }) });
  const reads: string[] = [];
  let held: (() => void)[] | undefined;
  const transport: Transport = {
    stream: api.stream,
    async request(request: ApiRequest) {
      const answer = await api.request(request);
      if (request.path.includes(`/${intents}/`)) {
        reads.push(request.path.split("/").at(-1) ?? "");
        const waiting = held;
        if (waiting !== undefined) await new Promise<void>((resolve) => waiting.push(resolve));
      }
      return answer;
    },
  };
  const nodeName = "n1";
  const watch = watchOwnState({ system, transport, nodeName });
  const source = new IndexedIntents({ system, transport, nodeName, states: watch, onRecord: () => onRecord });
  const told: string[] = [];
  source.store.subscribe({
    onAdd: ({ metadata }) => told.push(`+${metadata.name}`),
    onUpdate: (_, { metadata }) => told.push(`~${metadata.name} ${metadata.generation}`),
    onDelete: ({ metadata }) => told.push(`-${metadata.name}`),
  });
  const template = wanted();
  const put = (name: string, spec: object = {}) => {
    const { status: _, ...rest } = template;
    const before = api.object(intents, name);
    api.apply(intents, {
      ...rest,
      metadata: { name, ...(before && { uid: before.metadata.uid }) },
      spec: { ...template.spec, nodeName, ...spec },
    } as unknown as FakeObject);
  };
  /** What the controller would write now; or what somebody else does. */
  const writeIndex = (spec?: object | null) => {
    const all = api.objects(intents).map(({ metadata: { name, uid, generation } }) => ({ name, uid, generation }));
    api.patch(states, "n1", { spec: spec === undefined ? { intents: all } : spec });
  };
  source.start();
  watch.start();
  return {
    ...{ system, api, source, put, writeIndex, reads },
    take: () => told.splice(0),
    takeReads: () => reads.splice(0),
    run: (ms = 50) => system.advance(ms),
    /** Answers of reads are held back until they are let go. */
    hold() {
      held = [];
      return () => {
        for (const go of held?.splice(0) ?? []) go();
        held = undefined;
      };
    },
    synced: () => source.store.state().synced,
    connected: () => source.store.state().connected,
  };
}
