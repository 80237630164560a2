import { expect } from "chai";
import { usersByChild } from "../../../../../src/host/linux/evidence/child-users.ts";

describe("usersByChild", () => {
  const holder = { pid: 7, command: "sh", mountPoint: "/a", use: "working directory" };

  /** A fake that runs nothing: each call waits until it is told how it ends. */
  function runner() {
    const asked: unknown[] = [];
    const ends: ((end: { code: number; stdout: string } | Error) => void)[] = [];
    const run = (request: unknown) => {
      asked.push(request);
      return new Promise<{ code: number; stdout: string; stderr: string }>((resolve, reject) => {
        ends.push((end) => (end instanceof Error ? reject(end) : resolve({ ...end, stderr: "" })));
      });
    };
    return { asked, run, end: (end: { code: number; stdout: string } | Error) => ends.shift()?.(end) };
  }

  it("has one child at a time look at a mount point, and gives its answer to all who ask meanwhile", async () => {
    const fake = runner();
    const users = usersByChild(fake);
    const three = [users("/a"), users("/a"), users("/a")];
    const other = users("/b");
    expect(fake.asked).to.deep.equal([
      { kind: "users", mountPoint: "/a" },
      { kind: "users", mountPoint: "/b" },
    ]);
    fake.end({ code: 0, stdout: JSON.stringify({ ok: true, value: [holder] }) });
    fake.end({ code: 0, stdout: '{"ok":true,"value":[]}' });
    expect(await Promise.all(three)).to.deep.equal([[holder], [holder], [holder]]);
    expect(await other).to.deep.equal([]);
    void users("/a");
    expect(fake.asked, "who asks later is told anew").to.have.lengthOf(3);
  });

  for (const end of [{ code: 1, stdout: "" }, { code: 0, stdout: "cut o" }, new Error("no room")]) {
    it(`names nobody if the child fails (${end instanceof Error ? end.message : JSON.stringify(end)}), and looks again`, async () => {
      const fake = runner();
      const users = usersByChild(fake);
      const asked = users("/a");
      fake.end(end);
      expect(await asked).to.deep.equal([]);
      void users("/a");
      expect(fake.asked).to.have.lengthOf(2);
    });
  }
});
