// Row 22 of the acceptance table: whom the files of a volume belong to, by the agent or by the driver.
import { expect } from "chai";
import { ClaimStories } from "../lib/csi-claims.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi-stories.ts";

describe("acceptance: whom the files of a volume belong to", () => {
  let stories: Stories;
  let on: ClaimStories;
  /** Its driver leaves the files to the agent. */
  let walks: StoryNode;
  /** Its driver has VOLUME_MOUNT_GROUP. */
  let gives: StoryNode;

  before(async function () {
    stories = await startStories(this, { nodes: ["walks", "gives"], flags: { walks: ["--no-mount-group"] } });
    on = new ClaimStories(stories);
    [walks, gives] = stories.nodes as [StoryNode, StoryNode];
  });
  after(async () => {
    await stories?.world[Symbol.asyncDispose]();
  });

  const groups = async (node: StoryNode, path: string) =>
    (await node.host.run("sh", "-c", `cd ${path} && stat -c '%n %g' . d d/f`)).trim().split("\n");

  it("row 22: OnRootMismatch changes nothing for a second mount, Always every file", async () => {
    const claim = await on.claim("row-22");
    const mount = { fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" };
    const first = await on.used("row-22", claim, walks.name, { mount });
    await walks.host.run("sh", "-c", `cd ${first} && mkdir d && : > d/f && chmod 600 d/f && chgrp 7 d d/f`);
    const second = await on.used("row-22-same", claim, walks.name, { mount });
    expect(await groups(walks, second)).to.deep.equal([". 2000", "d 7", "d/f 7"]);
    const third = await on.used("row-22-always", claim, walks.name, { mount: { fsGroup: 2000 } });
    expect(await groups(walks, third)).to.deep.equal([". 2000", "d 2000", "d/f 2000"]);
    expect(await walks.host.run("stat", "-c", "%A %a", `${third}/d/f`)).to.equal("-rw-rw---- 660\n");

    // Another set's group would take the files away from these.
    const other = await on.use("row-22-other", claim, walks.name, { mount: { fsGroup: 3000 } });
    expect(await on.waits("row-22-other", walks.name, "FsGroupConflict")).to.contain("group 2000");
    expect(await walks.mountsAt(other)).to.deep.equal([]);
    await stories.remove("row-22", "row-22-same", "row-22-always");
    await stories.objects.ready("row-22-other", 1, 60_000);
    expect(await groups(walks, other)).to.deep.equal([". 3000", "d 3000", "d/f 3000"]);
    await on.end(["row-22-other"], claim);
  });

  it("a driver with VOLUME_MOUNT_GROUP gives the files to the group itself", async () => {
    const claim = await on.claim("row-22-driver");
    const path = await on.used("row-22-driver", claim, gives.name, { mount: { fsGroup: 4711 } });
    expect(await gives.host.run("stat", "-c", "%g %A", path)).to.equal("4711 drwxrwsr-x\n");
    // Nobody else has gone through them.
    await gives.host.run("sh", "-c", `: > ${path}/f && chgrp 7 ${path}/f`);
    await on.used("row-22-again", claim, gives.name, { mount: { fsGroup: 4711 } });
    expect(await gives.host.run("stat", "-c", "%g", `${path}/f`)).to.equal("7\n");
    await on.end(["row-22-driver", "row-22-again"], claim);
  });
});
