// The box of "Why is it stuck?", and its answers. What is pasted is only ever text.
import { byId, make, say } from "./dom.js";
import { states } from "./labels.js";
import { createFinder, keyOf, longestText } from "./why.js";

/** @typedef {import("./why.js").WhyTable} WhyTable */
/** @typedef {import("./why.js").Answer} Answer */

/** Milliseconds after the last key. */
const pauseMs = 150;
const stateOfKind = /** @type {const} */ ({ normal: "ready", waiting: "waiting", blocked: "blocked" });

/**
 * In #why-text is what is asked, in #why-answers what is answered, and #why-summary says it in one line.
 * @param {{ load: () => Promise<WhyTable>, onText: (text: string) => void, onFail: (error: unknown) => string }} deps
 */
export function createWhy({ load, onText, onFail }) {
  const box = /** @type {HTMLTextAreaElement} */ (byId("why-text"));
  const answers = byId("why-answers");
  /** @type {Promise<{ find: (text: string) => Answer[], table: WhyTable }> | undefined} */
  let finder;
  let timer = 0;
  box.maxLength = longestText;

  function loaded() {
    finder ??= load().then((table) => ({ find: createFinder(table), table }));
    finder.catch(() => {
      finder = undefined; // the next key tries once more
    });
    return finder;
  }

  async function show() {
    const text = box.value;
    onText(text);
    try {
      const { find, table } = await loaded();
      if (box.value !== text) return; // somebody has typed on
      const found = find(text);
      answers.replaceChildren(...found.map((answer, at) => answerOf(answer, at === 0)));
      say(byId("why-summary"), summaryOf(text, found, table));
    } catch (error) {
      answers.replaceChildren();
      say(byId("why-summary"), onFail(error));
    }
  }

  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, pauseMs);
  });
  answers.addEventListener("click", ({ target }) => {
    const code = target instanceof Element ? target.closest("[data-why]")?.getAttribute("data-why") : undefined;
    if (code) put(code);
  });

  /** @param {string} text */
  function put(text) {
    box.value = text;
    void show();
    box.focus();
  }
  return { put, loaded };
}

/**
 * @param {string} text
 * @param {readonly Answer[]} found
 * @param {WhyTable} table
 */
function summaryOf(text, found, { reasons, messages }) {
  const [first] = found;
  if (text.trim() === "") return `${reasons.length} reasons and ${messages.length} messages are known.`;
  if (first === undefined) return "Nothing fits. Paste the whole message, or all Events of the pod.";
  const { title } = shown(first);
  if (first.by === "words") return `No code and no known message. The nearest by its words: ${title}.`;
  const rest = found.length === 1 ? "" : `, and ${found.length - 1} more`;
  return `${title}${rest}. Names in capitals stand for yours.`;
}

/** @param {Answer} answer */
function shown(answer) {
  if ("message" in answer) {
    const { title, cause, check, step, reason } = answer.message;
    return { title, state: undefined, text: cause, check, step, more: reason };
  }
  const { code, kind, text, step } = answer.reason;
  return { title: code, state: stateOfKind[kind], text, check: "", step, more: undefined };
}

/**
 * @param {Answer} answer
 * @param {boolean} first
 */
function answerOf(answer, first) {
  const { title, state, text, check, step, more } = shown(answer);
  const how = state === undefined ? undefined : states[state];
  const word = state === "ready" ? "normal" : how?.word;
  return make(
    "li",
    { class: "answer", "data-answer": keyOf(answer), "data-state": state, "data-first": first ? "true" : undefined },
    make(
      "h3",
      {},
      title,
      " ",
      how !== undefined &&
        make("span", { class: "pill" }, make("i", { "aria-hidden": "true" }, how.symbol), ` ${word}`),
    ),
    make("p", {}, ...coded(text)),
    check !== "" && make("p", { class: "facts" }, make("b", {}, "Check. "), ...coded(check)),
    step !== "" && make("p", { class: "todo" }, make("b", {}, "What to do. "), ...coded(step)),
    more !== undefined &&
      make(
        "p",
        { class: "facts" },
        "More: ",
        make("button", { type: "button", class: "more", "data-why": more }, more),
      ),
  );
}

/**
 * Text with code in backticks.
 * @param {string} text
 */
function coded(text) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? make("code", {}, part) : part));
}

/**
 * A link for each reason that needs an action.
 * @param {WhyTable} table
 */
export function codesOf({ reasons }) {
  const asking = reasons.filter(({ kind }) => kind !== "normal");
  return asking.map(({ code }) => make("li", {}, make("a", { href: `#${code}` }, code)));
}
