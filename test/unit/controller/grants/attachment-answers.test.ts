import { expect } from "chai";
import { resource } from "../../../../src/api/names.ts";
import {
  type AttachmentAnswers,
  createAttachmentAnswers,
} from "../../../../src/controller/grants/attachment-answers.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import { volumeIDOf } from "../../../../src/controller/model/volume-key.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";
import type { Logger } from "../../../../src/ports.ts";

/** One intent whose agent asks; the API is a fake that counts reads. */
class AskedCluster {
  readonly reads: string[] = [];
  readonly due: string[] = [];
  attachments: object[] = [];
  volumes: object[] = [];
  intent = {
    metadata: { name: "i", uid: "u" },
    spec: { nodeName: "n0", mode: "Manage", grant: { id: "g" } },
    status: { observedUID: "u", attachmentsRequest: "1-1" },
  } as unknown as Intent;
  readonly answers: AttachmentAnswers;
  /** Milliseconds; a list takes `listMs` of them. */
  now = 0;
  listMs = 0;
  lists = 0;

  constructor() {
    const client = {
      list: async ({ plural }: { plural: string }, { fieldSelector = "" } = {}) => {
        if (plural === resource.volumeAttachments.plural) {
          this.now += this.listMs;
          this.lists += 1;
          return { items: this.attachments };
        }
        this.reads.push(fieldSelector.slice("metadata.name=".length));
        return { items: this.volumes };
      },
      get: async () => this.intent,
      mergePatch: async (_resource: object, _ref: object, patch: { spec: { grant: object } }) => {
        const grant = { ...this.intent.spec.grant, ...patch.spec.grant };
        return { ...this.intent, spec: { ...this.intent.spec, grant } };
      },
    };
    this.answers = createAttachmentAnswers({
      client: client as unknown as KubeClient,
      clock: { monotonic: () => this.now },
      log: { warn: () => {} } as unknown as Logger,
      intents: { get: () => this.intent, list: () => [this.intent], subscribe: () => () => {} } as never,
      upsertIntent: (raw) => {
        this.intent = raw as Intent;
      },
      onDue: (key) => this.due.push(key),
    });
    this.answers.all();
  }

  attach(name: string, uid: string, persistentVolumeName: string): void {
    const spec = { attacher: "disk.example", nodeName: "n0", source: { persistentVolumeName } };
    this.attachments = [...this.attachments, { metadata: { name, uid }, spec }];
  }

  volume(name: string, volumeHandle: string): void {
    this.volumes = [...this.volumes, { metadata: { name }, spec: { csi: { driver: "disk.example", volumeHandle } } }];
  }

  /** After how many seconds each of the next looks is followed by another; undefined: by none. */
  async looks(count: number): Promise<(number | undefined)[]> {
    const id = volumeIDOf(this.due[0] ?? "");
    const times: (number | undefined)[] = [];
    for (let n = 0; n < count; n += 1) {
      const ms = id && (await this.answers.reconcile(id));
      times.push(ms && ms / 1000);
    }
    return times;
  }

  get handles(): unknown {
    return this.intent.spec.grant?.attachments?.volumes.map(({ volumeHandle }) => volumeHandle);
  }
}

describe("an answer about the VolumeAttachments of a node", () => {
  let cluster: AskedCluster;

  beforeEach(() => {
    cluster = new AskedCluster();
    cluster.attach("csi-1", "uid-1", "pv-1");
    cluster.volume("pv-1", "handle-1");
  });

  it("is looked at again after 30 s, and ever less often while nothing changes: after 5 min at most", async () => {
    expect(await cluster.looks(7)).to.deep.equal([30, 60, 120, 240, 300, 300, 300]);
    cluster.attach("csi-2", "uid-2", "pv-1");
    expect(await cluster.looks(2), "something changed").to.deep.equal([30, 60]);
    Object.assign(cluster.intent.status, { attachmentsRequest: "1-2" });
    expect(await cluster.looks(2), "a new request").to.deep.equal([30, 60]);
    cluster.answers.forget();
    expect(await cluster.looks(2), "a new term").to.deep.equal([30, 60]);
    cluster.attachments = [];
    expect(await cluster.looks(1), "nothing keeps the volume from its disk").to.deep.equal([undefined]);
  });

  it("takes a tenth of the time at most, however often an agent asks anew in a large cluster", async () => {
    cluster.listMs = 2_000;
    for (let n = 0; cluster.now < 600_000; n += 1) {
      Object.assign(cluster.intent.status, { attachmentsRequest: `2-${n}` });
      await cluster.looks(1);
      cluster.now += 100;
    }
    expect(cluster.lists).to.equal(30);
    cluster.listMs = 5;
    cluster.now += 20_000;
    await cluster.looks(1);
    expect(await cluster.looks(1), "as soon as a small list may come again").to.deep.equal([0.045]);
  });

  it("is also given ever less often a try where more are attached than fit", async () => {
    for (let n = 0; n < 256; n += 1) cluster.attach(`more-${n}`, `more-${n}`, "pv-1");
    expect(await cluster.looks(6)).to.deep.equal([30, 60, 120, 240, 300, 300]);
    expect(cluster.reads).to.deep.equal([]);
  });

  it("reads a PersistentVolume once for an attachment, but again for another one of its name", async () => {
    await cluster.looks(3);
    expect([cluster.reads, cluster.handles]).to.deep.equal([["pv-1"], ["handle-1"]]);
    cluster.attach("csi-2", "uid-2", "pv-1");
    await cluster.looks(2);
    expect(cluster.reads, "of what was added alone").to.deep.equal(["pv-1", "pv-1"]);
    cluster.attachments = [];
    cluster.volumes = [];
    cluster.attach("csi-1", "uid-3", "pv-1");
    cluster.volume("pv-1", "handle-2");
    await cluster.looks(2);
    expect(cluster.reads).to.deep.equal(["pv-1", "pv-1", "pv-1"]);
    expect(cluster.handles, "by its UID").to.deep.equal(["handle-2"]);
  });

  it("reads a PersistentVolume again that was not there: its handle is known then", async () => {
    cluster.volumes = [];
    await cluster.looks(2);
    expect([cluster.reads, cluster.handles]).to.deep.equal([["pv-1", "pv-1"], [undefined]]);
    cluster.volume("pv-1", "handle-1");
    await cluster.looks(2);
    expect([cluster.reads.length, cluster.handles]).to.deep.equal([3, ["handle-1"]]);
  });
});
