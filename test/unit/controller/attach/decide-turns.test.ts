import { expect } from "chai";
import { attachment, decide, member } from "./facts-of.ts";

const many = { mode: "ReadWriteMany" } as const;

/** What n0 has, and others ask for. */
const cases: readonly (readonly [title: string, args: Parameters<typeof decide>, wanted: string[]])[] = [
  [
    "who would share it waits for an older one who is to have it alone",
    [[member("n0", { ...many, granted: true }), member("n1", { created: 1 }), member("n2", { ...many, created: 2 })]],
    ["n0: ", "n1: VolumeHeldElsewhere", "n2: VolumeHeldElsewhere"],
  ],
  [
    "and has it before that one if it is older",
    [[member("n0", { ...many, granted: true }), member("n1", { created: 3 }), member("n2", { ...many, created: 2 })]],
    ["n0: ", "n1: VolumeHeldElsewhere", "n2: attach WaitingForAttach"],
  ],
  [
    "also of those who ask when nobody has it",
    [[member("n0", many), member("n1", { created: 1 }), member("n2", { ...many, created: 2 })]],
    ["n0: attach WaitingForAttach", "n1: VolumeHeldElsewhere", "n2: VolumeHeldElsewhere"],
  ],
  [
    "goes on with what was begun for it, however",
    [
      [member("n0", { ...many, granted: true }), member("n1", { created: 1 }), member("n2", { ...many, created: 2 })],
      [attachment("n2")],
    ],
    ["n0: ", "n1: VolumeHeldElsewhere", "n2: grant"],
  ],
  [
    "and waits for nobody who cannot have it",
    [
      [
        member("n0", { ...many, granted: true }),
        member("n1", { created: 1, nodeID: undefined }),
        member("n2", { ...many, created: 2 }),
      ],
    ],
    ["n0: ", "n1: DriverNotOnNode", "n2: attach WaitingForAttach"],
  ],
];

describe("whose turn a volume is", () => {
  for (const [title, args, wanted] of cases) it(title, () => expect(decide(...args)).to.deep.equal(wanted));
});
