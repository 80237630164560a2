import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createHttpTransport } from "../../../../src/kube/client/http-transport.ts";
import { systemTimers } from "../../../../src/system.ts";
import { virtualSystem } from "../virtual-system.ts";

describe("createHttpTransport, of a server that has much to say", () => {
  it("reads no more in a turn that is over, and goes on in the next", async () => {
    let response: http.ServerResponse | undefined;
    const server = http.createServer((_, answer) => {
      response = answer;
      answer.write('{"n":1}\n');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const turn = Promise.withResolvers<void>();
    const transport = createHttpTransport({
      system: {
        timers: systemTimers,
        yielder: { over: () => true, next: () => turn.promise },
        log: virtualSystem().log,
      },
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token: { current: () => Promise.resolve("t"), refused() {} },
      userAgent: "test",
    });
    const first = Promise.withResolvers<void>();
    const objects: unknown[] = [];
    const ended = new Promise<object>((onEnd) => {
      const onObject = (object: unknown) => {
        objects.push(object);
        first.resolve();
      };
      transport.stream({ method: "GET", path: "/watch" }, { onObject, onEnd });
    });
    await first.promise;
    // The server has said all, and its end is there, before the next turn begins.
    await new Promise<void>((resolve) => response?.end('{"n":2}\n', resolve));
    for (let loops = 0; loops < 20; loops += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(objects).to.deep.equal([{ n: 1 }]);
    turn.resolve();
    expect(await ended).to.deep.equal({});
    expect(objects).to.deep.equal([{ n: 1 }, { n: 2 }]);
    transport.close();
    server.close();
  });
});
