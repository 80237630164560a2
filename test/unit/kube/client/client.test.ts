import { expect } from "chai";
import type { KubeObject } from "../../../../src/api/meta.ts";
import { resource } from "../../../../src/api/names.ts";
import type { ApiError } from "../../../../src/kube/client/api-error.ts";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import {
  AnswerTooLargeError,
  type ApiRequest,
  type ApiResponse,
  type Transport,
  TransportError,
} from "../../../../src/kube/client/transport.ts";

describe("createKubeClient", () => {
  function story(...answers: ApiResponse[]) {
    const requests: ApiRequest[] = [];
    const writes: string[] = [];
    const client = createKubeClient({
      transport: {
        request(request) {
          requests.push(request);
          return Promise.resolve(answers.shift() ?? { status: 500, body: undefined });
        },
        stream: () => () => {},
      },
      fieldManager: "me",
      onWrite: (of, verb, result) => writes.push(`${of.plural} ${verb} ${result}`),
    });
    return { client, requests, writes };
  }
  const set = (extra: object = {}) => ({ metadata: { name: "a", ...extra } }) as KubeObject;
  const ok = (body: unknown = set()): ApiResponse => ({ status: 200, body });
  const refused = (status: number): ApiResponse => ({ status, body: { reason: "R", message: "m" } });

  it("get is a quorum read, and undefined for what is not there", async () => {
    const { client, requests } = story(ok(), refused(404));
    expect((await client.get(resource.sets, { name: "a" }))?.metadata.name).to.equal("a");
    expect(await client.get(resource.sets, { name: "a" })).to.equal(undefined);
    expect(requests[0]).to.deep.equal({ method: "GET", path: "/apis/nodevolume.dev/v1alpha1/nodevolumesets/a" });
  });

  it("list asks for smaller pages where one is too large: a node may fill the status of each of its intents", async () => {
    const objects = Array.from({ length: 100 }, (_, n) => ({ metadata: { name: `i-${n}` } }));
    const limits: number[] = [];
    const transport = {
      async request({ query = {} }: ApiRequest): Promise<ApiResponse> {
        const [limit, from] = [Number(query["limit"]), Number(query["continue"] ?? 0)];
        limits.push(limit);
        const items = objects.slice(from, from + limit);
        const cause = new AnswerTooLargeError("the answer is larger than 64 bytes");
        if (items.length > 64) throw new TransportError("GET /: too large", { cause });
        const token = from + limit < objects.length ? String(from + limit) : "";
        return ok({ metadata: { resourceVersion: "7", continue: token }, items });
      },
      stream: () => () => {},
    };
    const client = createKubeClient({ transport, fieldManager: "" });
    expect((await client.list(resource.intents)).items).to.deep.equal(objects);
    expect(limits, "and larger ones behind it").to.deep.equal([500, 63, 126]);
    const never: Transport = {
      request: async () => {
        throw new TransportError("GET /: too large", { cause: new AnswerTooLargeError("") });
      },
      stream: () => () => {},
    };
    const refusal = await createKubeClient({ transport: never, fieldManager: "" })
      .list(resource.intents)
      .catch((e) => e);
    expect(refusal, "of one object").to.be.instanceOf(TransportError);
  });

  it("list follows the pages and never asks for a resourceVersion", async () => {
    const page = (names: string[], token?: string) =>
      ok({
        metadata: { resourceVersion: "7", ...(token && { continue: token }) },
        items: names.map((name) => ({ metadata: { name } })),
      });
    const { client, requests } = story(page(["a", "b"], "t1"), page(["c"]));
    const list = await client.list(resource.intents, { fieldSelector: "spec.nodeName=n" });
    expect(list.items.map((o) => o.metadata.name)).to.deep.equal(["a", "b", "c"]);
    expect(list.resourceVersion).to.equal("7");
    expect(requests.map((r) => r.query)).to.deep.equal([
      { limit: "500", fieldSelector: "spec.nodeName=n" },
      { limit: "500", fieldSelector: "spec.nodeName=n", continue: "t1" },
    ]);
  });

  it("list keeps of each page what it is asked to keep, before it reads the next", async () => {
    const kept: string[] = [];
    const page = (name: string, metadata: object) => ok({ metadata, items: [{ metadata: { name } }] });
    const { client, requests } = story(page("a", { continue: "t1" }), page("b", {}));
    const { items } = await client.list(resource.sets, {}, ({ metadata: { name } }) => {
      kept.push(`${name} after ${requests.length}`);
      return name;
    });
    expect(items).to.deep.equal(["a", "b"]);
    expect(kept).to.deep.equal(["a after 1", "b after 2"]);
  });

  it("list starts again if its pages have expired, and gives up in the end", async () => {
    const first = ok({ metadata: { resourceVersion: "1", continue: "t" }, items: [set()] });
    const whole = ok({ metadata: { resourceVersion: "2" }, items: [set()] });
    const { client } = story(first, refused(410), whole);
    expect((await client.list(resource.sets)).items).to.have.length(1);

    const hopeless = story(...Array.from({ length: 8 }, () => refused(410)));
    const error = await hopeless.client.list(resource.sets).catch((e: unknown) => e);
    expect((error as ApiError).status).to.equal(410);
    expect(hopeless.requests).to.have.length(4);
  });

  it("writes name the field manager, are strict, and carry UID and resourceVersion", async () => {
    const { client, requests } = story(ok(), ok(), ok(), ok());
    const ref = { name: "a", uid: "u", resourceVersion: "3" };
    await client.mergePatch(resource.sets, ref, { metadata: { labels: { l: "1" } }, spec: { x: null } });
    await client.mergePatchStatus(resource.sets, ref, { ready: 1 });
    await client.create(resource.leases, { metadata: { namespace: "n", name: "a" } });
    await client.replace(resource.sets, set({ uid: "u" }));
    for (const { query } of requests) {
      expect(query).to.deep.equal({ fieldManager: "me", fieldValidation: "Strict" });
    }
    expect(requests.map((r) => [r.method, r.path.split("/v1alpha1/")[1], r.contentType])).to.deep.equal([
      ["PATCH", "nodevolumesets/a", "application/merge-patch+json"],
      ["PATCH", "nodevolumesets/a/status", "application/merge-patch+json"],
      ["POST", undefined, undefined],
      ["PUT", "nodevolumesets/a", undefined],
    ]);
    expect(requests[0]?.body).to.deep.equal({
      metadata: { labels: { l: "1" }, uid: "u", resourceVersion: "3" },
      spec: { x: null },
    });
    expect(requests[1]?.body).to.deep.equal({ status: { ready: 1 }, metadata: { uid: "u", resourceVersion: "3" } });
    expect(requests[2]?.body).to.deep.include({ apiVersion: "coordination.k8s.io/v1", kind: "Lease" });
  });

  it("delete has preconditions; it returns what finalizers hold, and undefined for what is gone", async () => {
    const held = ok({ kind: "NodeVolumeSet", metadata: { name: "a", deletionTimestamp: "t" } });
    const { client, requests } = story(held, ok({ kind: "Status", status: "Success" }), refused(404), refused(409));
    const ref = { name: "a", uid: "u", resourceVersion: "3" };
    expect((await client.delete(resource.sets, ref))?.metadata.deletionTimestamp).to.equal("t");
    expect(await client.delete(resource.sets, ref)).to.equal(undefined);
    expect(await client.delete(resource.sets, ref)).to.equal(undefined);
    const error = await client.delete(resource.sets, ref).catch((e: unknown) => e);
    expect((error as ApiError).status).to.equal(409);
    expect(requests[0]?.body).to.deep.equal({
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid: "u", resourceVersion: "3" },
    });
  });

  it("takes nothing for an answer that no API server sends: a balancer's page is no empty list, and no deletion", async () => {
    const pages: unknown[] = [undefined, "<html>", "", null, 7, [], {}, { items: [] }, { metadata: {} }];
    const lists = [...pages.filter((page) => JSON.stringify(page) !== '{"items":[]}'), { metadata: {}, items: {} }];
    const failed = async (call: (client: ReturnType<typeof story>["client"]) => Promise<unknown>, body: unknown) => {
      const { client, writes } = story({ status: 200, body });
      const error = await call(client).then(
        () => expect.fail(`${JSON.stringify(body)} was taken for an answer`),
        (reason: unknown) => reason,
      );
      expect(error).to.be.instanceOf(TransportError);
      return writes.join();
    };
    for (const body of lists) await failed((client) => client.list(resource.volumeAttachments), body);
    for (const body of pages.filter((page) => JSON.stringify(page) !== '{"metadata":{}}')) {
      await failed((client) => client.get(resource.sets, { name: "a" }), body);
      expect(await failed((client) => client.create(resource.sets, set()), body)).to.match(/ create no-answer$/);
      expect(await failed((client) => client.delete(resource.sets, { name: "a" }), body)).to.match(
        / delete no-answer$/,
      );
    }
    const { client } = story(ok({ metadata: { resourceVersion: "7" }, items: null }));
    expect((await client.list(resource.sets)).items, "as Go writes a list without objects").to.deep.equal([]);
  });

  it("counts writes by their outcome", async () => {
    const { client, writes } = story(ok(), refused(409));
    await client.create(resource.sets, set());
    await client.create(resource.sets, set()).catch(() => {});
    await client.get(resource.sets, { name: "a" }).catch(() => {});
    expect(writes).to.deep.equal(["nodevolumesets create success", "nodevolumesets create refused"]);
  });

  it("beforeWrite can forbid a write, and leaves reads alone", async () => {
    let sent = 0;
    const client = createKubeClient({
      transport: {
        request: () => {
          sent += 1;
          return Promise.resolve(ok());
        },
        stream: () => () => {},
      },
      fieldManager: "me",
      beforeWrite: () => {
        throw new Error("not the leader");
      },
    });
    await client.get(resource.sets, { name: "a" });
    const error = await client.create(resource.sets, set()).catch((e: Error) => e.message);
    expect([error, sent]).to.deep.equal(["not the leader", 1]);
  });
});
