import { expect } from "chai";
import { attachment, decide, member } from "./facts-of.ts";

type Case = readonly [title: string, args: Parameters<typeof decide>, wanted: string[]];

const many = { mode: "ReadWriteMany" } as const;
const waiting = { attached: false };
const own = new Set(["n0"]);

const cases: { readonly [what: string]: readonly Case[] } = {
  "one node": [
    ["attaches first", [[member("n0")]], ["n0: attach WaitingForAttach"]],
    ["waits for the attacher", [[member("n0")], [attachment("n0", waiting)]], ["n0: WaitingForAttach"]],
    ["says its error", [[member("n0")], [attachment("n0", { ...waiting, attachError: "e" })]], ["n0: AttachFailed"]],
    [
      "says that the driver has no room",
      [[member("n0")], [attachment("n0", { ...waiting, attachError: "e", attachErrorCode: 8 })]],
      ["n0: AttachLimitReached"],
    ],
    [
      "no other code is want of room",
      [[member("n0")], [attachment("n0", { ...waiting, attachError: "e", attachErrorCode: 13 })]],
      ["n0: AttachFailed"],
    ],
    ["grants what is attached", [[member("n0")], [attachment("n0")]], ["n0: grant"]],
    ["grants at once without attach", [[member("n0")], [], { attachRequired: false }], ["n0: grant"]],
    [
      "is asked again while an answer is missing",
      [[member("n0")], [], { attaching: own }],
      ["n0: attach WaitingForAttach"],
    ],
    [
      "grants again while an answer is missing",
      [[member("n0", { granting: true })], [attachment("n0")]],
      ["n0: grant"],
    ],
    ["is content with a grant", [[member("n0", { granted: "attached" })], [attachment("n0")]], ["n0: "]],
    ["waits for the driver", [[member("n0", { nodeID: undefined })]], ["n0: DriverNotOnNode"]],
    [
      "needs no CSINode without attach",
      [[member("n0", { nodeID: undefined })], [], { attachRequired: false }],
      ["n0: grant"],
    ],
    ["attaches nothing where that is switched off", [[member("n0", { unmanaged: "w" })]], ["n0: AttachNotManaged"]],
    [
      "has what needs no attach also where that is switched off",
      [[member("n0", { unmanaged: "w" })], [], { attachRequired: false }],
      ["n0: grant"],
    ],
    [
      "keeps what it has where that is switched off later",
      [[member("n0", { unmanaged: "w", granted: "attached" })], [attachment("n0")]],
      ["n0: "],
    ],
    [
      "gives it back there, too",
      [[member("n0", { unmanaged: "w", granted: "attached", deleted: true })], [attachment("n0")]],
      ["n0: release"],
    ],
    [
      "has no pod whose token it could give",
      [[member("n0")], [], { tokenAudiences: ["vault"], audiencesOfPods: ["vault"] }],
      ["n0: PerPodIdentity"],
    ],
    [
      "has no pod whose volume it could be",
      [[member("n0")], [], { lifecycleModes: ["Ephemeral"] }],
      ["n0: LifecycleModeUnsupported"],
    ],
    [
      "is content with a driver that has both lifecycle modes",
      [[member("n0")], [], { lifecycleModes: ["Ephemeral", "Persistent"] }],
      ["n0: attach WaitingForAttach"],
    ],
    ["respects the limit", [[member("n0", { limit: 2, attached: 2 })]], ["n0: AttachLimitReached"]],
    [
      "the limit is not for what is attached",
      [[member("n0", { limit: 1, attached: 1 })], [attachment("n0")]],
      ["n0: grant"],
    ],
    [
      "bounds the publish context",
      [[member("n0")], [attachment("n0", { metadataOfDriver: { a: "x".repeat(5_000) } })]],
      ["n0: PublishContextTooLarge"],
    ],
    ["another machine", [[member("n0")], [attachment("n0", { nodeID: "old" })]], ["n0: StaleNodeID"]],
    [
      "ReadWriteOncePod has one mount",
      [[member("n0", { mode: "ReadWriteOncePod", mounts: 2 })]],
      ["n0: AccessModeMismatch"],
    ],
    [
      "two intents of one volume: one of them",
      [
        [
          member("n0", { ...many }),
          { ...member("n0", many), intent: { ...member("n0", many).intent, metadata: { name: "z" } } },
        ],
      ],
      ["n0: VolumeHeldElsewhere", "n0: attach WaitingForAttach"],
    ],
  ],
  "several nodes": [
    [
      "oldest first",
      [[member("n0", { created: 2 }), member("n1", { created: 1 })]],
      ["n0: VolumeHeldElsewhere", "n1: attach WaitingForAttach"],
    ],
    [
      "who is attached goes first",
      [[member("n0", { created: 2 }), member("n1", { created: 1 })], [attachment("n0", waiting)]],
      ["n0: WaitingForAttach", "n1: VolumeHeldElsewhere"],
    ],
    [
      "who cannot have it holds up nobody",
      [[member("n0", { created: 1, nodeID: undefined }), member("n1", { created: 2 })]],
      ["n0: DriverNotOnNode", "n1: attach WaitingForAttach"],
    ],
    [
      "a grant keeps it from others",
      [[member("n0", { granted: "attached" }), member("n1")], [attachment("n0")]],
      ["n0: ", "n1: VolumeHeldElsewhere"],
    ],
    [
      "also one that is only perhaps written",
      [[member("n0", { granting: true, created: 5 }), member("n1")], [], { attachRequired: false }],
      ["n0: grant", "n1: VolumeHeldElsewhere"],
    ],
    [
      "also one without attachment",
      [[member("n0", { granted: true }), member("n1")], [], { attachRequired: false }],
      ["n0: ", "n1: VolumeHeldElsewhere"],
    ],
    [
      "also one that is being deleted",
      [[member("n0", { granted: "attached", deleted: true }), member("n1")], [attachment("n0")]],
      ["n0: release", "n1: VolumeHeldElsewhere"],
    ],
    [
      "also an attachment that is only perhaps written",
      [[member("n1")], [], { attaching: own }],
      ["n1: VolumeHeldElsewhere"],
    ],
    [
      "many: all at once",
      [[member("n0", many), member("n1", many)]],
      ["n0: attach WaitingForAttach", "n1: attach WaitingForAttach"],
    ],
    [
      "many, but one alone: one",
      [[member("n0", many), member("n1", { created: 1 })]],
      ["n0: attach WaitingForAttach", "n1: VolumeHeldElsewhere"],
    ],
    [
      "nothing while it is detached anywhere",
      [
        [member("n0", many), member("n1", many)],
        [attachment("n0"), attachment("n2", { deleted: true })],
      ],
      ["n0: Detaching", "n1: Detaching"],
    ],
    [
      "nothing while another has attached it",
      [[member("n0", many)], [attachment("n9", { foreign: true })]],
      ["n0: ForeignAttachment"],
    ],
  ],
  "what is there and nobody asks for": [
    ["is taken away, and first", [[member("n1")], [attachment("n0")]], ["n1: VolumeHeldElsewhere", "-n0"]],
    [
      "stays if a grant rested on it",
      [[member("n1")], [attachment("n0", { grant: "g" })]],
      ["n1: VolumeHeldElsewhere"],
    ],
    ["is left to the release of its intent", [[member("n0", { deleted: true })], [attachment("n0")]], ["n0: release"]],
    [
      "of two that were attached one is taken away",
      [
        [member("n0", { created: 1 }), member("n1", { created: 2 })],
        [attachment("n0"), attachment("n1")],
      ],
      ["n0: Detaching", "n1: VolumeHeldElsewhere", "-n1"],
    ],
    ["another's is none of ours", [[], [attachment("n0", { foreign: true })]], []],
    ["attachRequired has become false", [[member("n0")], [attachment("n0")], { attachRequired: false }], ["n0: grant"]],
  ],
  "while it is in use": [
    [
      "an attachment that is gone is made again",
      [[member("n0", { granted: "attached" })]],
      ["n0: attach WaitingForAttach"],
    ],
    [
      "one that somebody deletes is waited for",
      [[member("n0", { granted: "attached" })], [attachment("n0", { deleted: true })]],
      ["n0: Detaching"],
    ],
    [
      "a pod that slipped in is reported",
      [[member("n0", { granted: "attached" })], [attachment("n0"), attachment("n1", { foreign: true })]],
      ["n0: SharedWithKubelet"],
    ],
    [
      "another machine is reported",
      [[member("n0", { granted: "attached" })], [attachment("n0", { nodeID: "old" })]],
      ["n0: StaleNodeID"],
    ],
    [
      "and not detached from",
      [[member("n0", { granted: "attached", deleted: true })], [attachment("n0", { nodeID: "old" })]],
      ["n0: StaleNodeID"],
    ],
    ["attachRequired has become true: nothing is taken away", [[member("n0", { granted: true })]], ["n0: "]],
  ],
};

describe("decideVolume", () => {
  for (const [what, list] of Object.entries(cases)) {
    describe(what, () => {
      for (const [title, args, wanted] of list) it(title, () => expect(decide(...args)).to.deep.equal(wanted));
    });
  }
});
