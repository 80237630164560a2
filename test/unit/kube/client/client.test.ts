import { expect } from "chai";
import type { KubeObject } from "../../../../src/api/meta.ts";
import { type Resource, resource } from "../../../../src/api/names.ts";
import { ApiError, isNotFound } from "../../../../src/kube/client/api-error.ts";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import { apiVersionOf } from "../../../../src/kube/client/resource-path.ts";
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
  const typed = (of: Resource, body: object) => ({ kind: of.kind, apiVersion: apiVersionOf(of), ...body });
  const ok = (body: object = set(), of: Resource = resource.sets): ApiResponse => ({
    status: 200,
    body: typed(of, body),
  });
  const listed = (of: Resource, items: readonly object[] | null, metadata: object = {}) =>
    ok({ kind: `${of.kind}List`, metadata: { resourceVersion: "7", ...metadata }, items }, of);
  const refused = (status: number, reason = "R"): ApiResponse => ({
    status,
    body: { kind: "Status", reason, message: "m" },
  });

  it("get is a quorum read, and undefined for what is not there", async () => {
    const { client, requests } = story(ok(), refused(404, "NotFound"));
    expect((await client.get(resource.sets, { name: "a" }))?.metadata.name).to.equal("a");
    expect(await client.get(resource.sets, { name: "a" })).to.equal(undefined);
    const path = "/apis/nodevolume.dev/v1alpha1/nodevolumesets/a";
    expect(requests[0]).to.deep.equal({ method: "GET", path, asUser: undefined });
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
        return listed(resource.intents, items, { continue: token });
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
    const page = (names: string[], token?: string) => {
      const items = names.map((name) => ({ metadata: { name } }));
      return listed(resource.intents, items, token === undefined ? {} : { continue: token });
    };
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
    const page = (name: string, metadata: object) => listed(resource.sets, [{ metadata: { name } }], metadata);
    const { client, requests } = story(page("a", { continue: "t1" }), page("b", {}));
    const { items } = await client.list(resource.sets, {}, ({ metadata: { name } }) => {
      kept.push(`${name} after ${requests.length}`);
      return name;
    });
    expect(items).to.deep.equal(["a", "b"]);
    expect(kept).to.deep.equal(["a after 1", "b after 2"]);
  });

  it("list starts again if its pages have expired, and gives up in the end", async () => {
    const first = listed(resource.sets, [set()], { continue: "t" });
    const whole = listed(resource.sets, [set()]);
    const { client } = story(first, refused(410), whole);
    expect((await client.list(resource.sets)).items).to.have.length(1);

    const hopeless = story(...Array.from({ length: 8 }, () => refused(410)));
    const error = await hopeless.client.list(resource.sets).catch((e: unknown) => e);
    expect((error as ApiError).status).to.equal(410);
    expect(hopeless.requests).to.have.length(4);
  });

  it("writes name the field manager, are strict, and carry UID and resourceVersion", async () => {
    const { client, requests } = story(ok(), ok(), ok(set(), resource.leases), ok());
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
    const held = ok(set({ deletionTimestamp: "t" }));
    const gone: ApiResponse = { status: 200, body: { kind: "Status", status: "Success" } };
    const { client, requests } = story(held, gone, refused(404, "NotFound"), refused(409));
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

  type Call = (client: ReturnType<typeof story>["client"]) => Promise<unknown>;
  const calls: { readonly [verb: string]: Call } = {
    get: (client) => client.get(resource.sets, { name: "a" }),
    list: (client) => client.list(resource.sets),
    create: (client) => client.create(resource.sets, set()),
    update: (client) => client.replace(resource.sets, set()),
    patch: (client) => client.mergePatchStatus(resource.sets, { name: "a" }, {}),
    delete: (client) => client.delete(resource.sets, { name: "a" }),
  };
  /** What was wrong with an answer, which is to leave open what has become of a write. */
  const wrong = async (verb: string, answer: ApiResponse) => {
    const { client, writes } = story(answer);
    const error: unknown = await calls[verb]?.(client).then(
      () => expect.fail(`${verb}: ${JSON.stringify(answer)} was taken for an answer`),
      (reason: unknown) => reason,
    );
    expect(error, `${verb}: ${JSON.stringify(answer)}`).to.be.instanceOf(TransportError);
    expect(writes).to.deep.equal(["get", "list"].includes(verb) ? [] : [`nodevolumesets ${verb} no-answer`]);
    return (error as TransportError).message;
  };

  it("takes nothing for an answer that no API server sends: a balancer's page is no empty list, and no deletion", async () => {
    const [list, another] = [listed(resource.sets, []).body as object, listed(resource.nodes, []).body];
    const pages = [
      undefined,
      "<html>",
      "",
      null,
      7,
      [],
      {},
      { items: [] },
      { metadata: {} },
      { kind: "NodeVolumeSet" },
    ];
    const objects = [
      set(),
      typed(resource.sets, {}),
      typed(resource.nodes, set()),
      typed({ ...resource.sets, version: "v1" }, set()),
    ];
    for (const verb of Object.keys(calls)) {
      for (const body of [...pages, ...objects, another]) await wrong(verb, { status: 200, body });
      const taken = verb === "list" ? ok().body : list;
      expect(await wrong(verb, { status: 200, body: taken })).to.match(
        /: the API server's answer is no NodeVolumeSet(List)?: something between may have answered$/,
      );
      const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
      if (verb !== "delete") await wrong(verb, { status: 200, body: status });
    }
    for (const lacks of [{ items: {} }, { items: undefined }, { metadata: {} }, { metadata: { resourceVersion: "" } }])
      await wrong("list", { status: 200, body: { ...list, ...lacks } });
    const { client } = story(listed(resource.sets, null));
    expect((await client.list(resource.sets)).items, "as Go writes a list without objects").to.deep.equal([]);
  });

  it("takes no refusal for one that no API server sends: a balancer's 404 does not say that an object is gone", async () => {
    const bodies = ["<html>404 Not Found</html>", "", undefined, { reason: "NotFound" }, { code: 404 }];
    for (const verb of Object.keys(calls)) {
      for (const status of [302, 400, 403, 404, 409, 410, 422])
        for (const body of bodies) await wrong(verb, { status, body });
    }
    expect(await wrong("get", { status: 404, body: "<html>" })).to.equal(
      "GET /apis/nodevolume.dev/v1alpha1/nodevolumesets/a: 404: the API server's answer is no Status: something between may have answered: <html>",
    );
  });

  it("says of a kind that is not served that it is refused, and not that an object is gone", async () => {
    for (const call of Object.values(calls)) {
      const error: unknown = await call(story({ status: 404, body: "404 page not found\n" }).client).catch((e) => e);
      expect(error).to.be.instanceOf(ApiError).and.to.have.property("status", 404);
      expect(isNotFound(error)).to.equal(false);
    }
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
