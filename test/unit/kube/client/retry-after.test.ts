import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { errorOf } from "../../../../src/kube/client/api-error.ts";
import { createHttpTransport } from "../../../../src/kube/client/http-transport.ts";
import { systemTimers, systemTurns } from "../../../../src/system.ts";
import { virtualSystem } from "../virtual-system.ts";

describe("how long flow control asks to be left alone", () => {
  it("is kept, though only a header says it and no Status", async () => {
    const server = createServer((_, response) => {
      response.writeHead(429, { "retry-after": "7" }).end("Too many requests, please try again later.");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const transport = createHttpTransport({
      system: { timers: systemTimers, yielder: systemTurns, log: virtualSystem().log },
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token: { current: () => Promise.resolve("token"), refused: () => {} },
      userAgent: "test",
      maxLineLength: 1000,
    });
    try {
      const answer = await transport.request({ method: "GET", path: "/a" });
      expect(answer).to.deep.include({ status: 429, retryAfterSeconds: 7 });
      expect(errorOf(answer, "GET /a")).to.have.property("retryAfterMs", 7000);
    } finally {
      transport.close();
      server.close();
    }
  });
});
