import { expect } from "chai";
import { gitError } from "../../../../../src/host/linux/git/git-errors.ts";

const request = {
  directory: "/state/data/key",
  repository: "https://git.example/app.git",
  revision: "0123456789".repeat(4),
  subdirectory: "site",
  sizeLimit: 1024,
};

/** Texts of git 2.39 and its HTTP client. */
const said: readonly (readonly [string, string, string])[] = [
  [
    "fatal: unable to access 'https://git.example/app.git/': Could not resolve host: git.example",
    "ServerUnreachable",
    "transient",
  ],
  [
    "fatal: unable to access 'https://x/': Failed to connect to x port 443 after 2 ms: Connection refused",
    "ServerUnreachable",
    "transient",
  ],
  [
    "fatal: unable to access 'https://x/': server certificate verification failed. CAfile: none CRLfile: none",
    "ServerUnreachable",
    "transient",
  ],
  [
    "error: RPC failed; curl 56 Recv failure: Connection reset by peer\nfatal: expected flush after ref listing",
    "ServerUnreachable",
    "transient",
  ],
  ["fatal: unable to access 'https://x/': The requested URL returned error: 503", "ServerUnreachable", "transient"],
  ["fatal: unable to access 'https://x/': The requested URL returned error: 403", "RepositoryRefused", "final"],
  ["fatal: unable to access 'https://x/': The requested URL returned error: 302", "RepositoryRefused", "final"],
  ["fatal: could not read Username for 'https://x': terminal prompts disabled", "RepositoryRefused", "final"],
  ["fatal: repository 'https://x/' not found", "RepositoryRefused", "final"],
  ["fatal: https://x/info/refs not valid: is this a git repository?", "RepositoryRefused", "final"],
  [
    "fatal: remote error: upload-pack: not our ref 0123456789012345678901234567890123456789",
    "RevisionNotFound",
    "final",
  ],
  ["error: Server does not allow request for unadvertised object 0123", "RevisionNotFound", "final"],
  ["fatal: Not a valid object name 0123:site", "RevisionNotFound", "final"],
  ["fatal: not a tree object", "RevisionNotFound", "final"],
  [
    "error: object 0123: hasDotdot: contains '..'\nfatal: fsck error in packed object\nfatal: fetch-pack: invalid index-pack output",
    "ContentRefused",
    "final",
  ],
  ["fatal: fetch-pack: invalid index-pack output", "ContentTooLarge", "final"],
  ["fatal: Out of memory, malloc failed (tried to allocate 1 bytes)", "ContentTooLarge", "final"],
  [
    "fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output",
    "SetUpFailed",
    "transient",
  ],
  [
    "ssh: connect to host git.example port 22: Connection refused\nfatal: Could not read from remote repository.",
    "ServerUnreachable",
    "transient",
  ],
  [
    "No ED25519 host key is known for git.example and you have requested strict checking.\nHost key verification failed.\nfatal: Could not read from remote repository.",
    "RepositoryRefused",
    "final",
  ],
  [
    "git@git.example: Permission denied (publickey).\nfatal: Could not read from remote repository.",
    "RepositoryRefused",
    "final",
  ],
  [
    'Load key "/secrets/key": error in libcrypto\ngit@git.example: Permission denied (publickey).',
    "KeyNotFound",
    "final",
  ],
  [
    "fatal: '/a.git' does not appear to be a git repository\nfatal: Could not read from remote repository.",
    "RepositoryRefused",
    "final",
  ],
  ["error: index-pack died of signal 9\nfatal: fetch-pack: invalid index-pack output", "SetUpFailed", "transient"],
  ["something new", "SetUpFailed", "transient"],
];

describe("gitError", () => {
  for (const [text, reason, errorClass] of said) {
    it(`${JSON.stringify(text.slice(0, 80))} is ${reason}`, () => {
      const found = gitError(request, { code: 128, signal: null, text });
      expect([found.reason, found.errorClass]).to.deep.equal([reason, errorClass]);
    });
  }

  it("a pack beyond the limit ends by a signal", () => {
    expect(gitError(request, { code: null, signal: "SIGXFSZ", text: "" }).reason).to.equal("ContentTooLarge");
  });

  it("one that the kernel ends is said to have been, and what to do", () => {
    const { reason, message } = gitError(request, { code: null, signal: "SIGKILL", text: "" });
    expect(`${reason}: ${message}`).to.match(/^SetUpFailed: .* memory ran out.* Raise the memory limit/);
  });

  it("what a server says is on one line, short, and cannot paint the terminal", () => {
    const text = `remote: \u001b[31mred\r\nfatal: ${"x".repeat(4000)}`;
    const { message } = gitError(request, { code: 128, signal: null, text });
    expect(message.length).to.be.lessThan(600);
    expect(message).to.not.match(/\p{Cc}/u);
  });
});
