import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { SelfSigned } from "../../../src/http/self-signed.ts";

const environment = {
  PATH: "/usr/bin:/bin",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.com",
  GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
};

/** One entry of a tree, as it is written whether it makes sense or not. */
export interface RawEntry {
  readonly mode: string;
  readonly name: string;
  readonly object: string;
}

/** A bare repository, into which anything can be written. */
export class TestRepository {
  readonly path: string;

  constructor(path: string, format: "sha1" | "sha256" = "sha1") {
    this.path = path;
    mkdirSync(path, { recursive: true });
    this.git(["init", "--quiet", "--bare", `--object-format=${format}`]);
  }

  git(args: readonly string[], input: string | Buffer = ""): string {
    const env = { ...environment };
    return execFileSync("git", args, { cwd: this.path, input, env, encoding: "utf8", stdio: "pipe" }).trim();
  }

  blob(content: string | Buffer): string {
    return this.git(["hash-object", "-w", "--stdin"], content);
  }

  /** Written as it is: git would not make such trees, and does not look at it here. */
  tree(entries: readonly RawEntry[]): string {
    const raw = entries.map(({ mode, name, object }) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(object, "hex")]),
    );
    return this.git(["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], Buffer.concat(raw));
  }

  /** A commit that the branch main stands for from now on. */
  commit(tree: string): string {
    const made = this.git(["commit-tree", "-m", "test", tree]);
    this.git(["update-ref", "refs/heads/main", made]);
    return made;
  }
}

/** Serves the repositories of a directory over HTTP, or with a certificate over TLS, by git's own server. */
export class GitServer implements Disposable {
  readonly #server: Server;
  readonly #root: string;
  /** Requests that were answered, as `method path`. */
  readonly requests: string[] = [];
  /** Answers a request itself if it returns true. */
  answers: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;

  readonly #scheme: string;

  constructor(root: string, certificate?: SelfSigned) {
    this.#root = root;
    this.#scheme = certificate === undefined ? "http" : "https";
    const answer = (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response);
    this.#server = certificate === undefined ? createServer(answer) : createSecureServer(certificate, answer);
  }

  async listen(port = 0): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  address(repository: string): string {
    return `${this.#scheme}://127.0.0.1:${this.port}/${repository}`;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "", "http://server");
    this.requests.push(`${request.method} ${url.pathname}`);
    if (this.answers(request, response)) return;
    const header = (name: string) => String(request.headers[name] ?? "");
    const backend = spawn("git", ["http-backend"], {
      env: {
        ...environment,
        GIT_PROJECT_ROOT: this.#root,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method ?? "GET",
        CONTENT_TYPE: header("content-type"),
        HTTP_CONTENT_ENCODING: header("content-encoding"),
        GIT_PROTOCOL: header("git-protocol"),
        REMOTE_ADDR: "127.0.0.1",
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    backend.stdin.on("error", () => {}); // it may have answered before it has read all
    request.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    backend.on("close", () => respond(response, Buffer.concat(chunks)));
  }
}

/** What a CGI program printed: headers, an empty line, the body. */
function respond(response: ServerResponse, printed: Buffer): void {
  const end = printed.indexOf("\r\n\r\n");
  for (const line of printed.toString("latin1", 0, end).split("\r\n")) {
    const [name = "", value = ""] = line.split(/: (.*)/s);
    if (name === "Status") response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.end(printed.subarray(end + 4));
}
