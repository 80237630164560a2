// "Why is it stuck?": what a text that somebody has pasted may mean. Pure.

/** @typedef {import("../explain/why/why-table.ts").WhyTable} WhyTable */
/** @typedef {import("../explain/why/why-table.ts").WhyReason} WhyReason */
/** @typedef {import("../explain/why/why-table.ts").WhyMessage} WhyMessage */
/**
 * Why an answer is one: its code or its message is in the text, or the two have rare words in common.
 * @typedef {"code" | "message" | "words"} By
 */
/** @typedef {{ by: By, reason: WhyReason } | { by: By, message: WhyMessage }} Answer */

/** Characters that are looked at: the Events of a pod are a few thousand. */
export const longestText = 20_000;
const mostAnswers = 5;
/** Answers by words alone, after those that have more for them. */
const mostGuesses = 2;
/** A word that is in every twentieth entry weighs 3; two such words, or one that is rarer, are no accident. */
const leastScore = 4;

/**
 * @param {WhyTable} table
 * @returns {(text: string) => Answer[]} the closest to the cause first
 */
export function createFinder(table) {
  const byCode = new Map(table.reasons.map((reason) => [reason.code, reason]));
  const messages = table.messages.map((message) => ({ message, words: new RegExp(message.words, "i") }));
  /** By what stands in an address for them. @type {Map<string, Answer>} */
  const byKey = new Map();
  for (const message of table.messages) byKey.set(message.id, { by: "message", message });
  for (const reason of table.reasons) byKey.set(reason.code.toLowerCase(), { by: "code", reason });
  /** @type {ReturnType<typeof indexOf> | undefined} */
  let index;

  return (pasted) => {
    const text = pasted.slice(0, longestText).replace(/\s+/g, " ").trim();
    if (text === "") return [];
    const alone = byKey.get(text.replace(/[^a-z-]/gi, "").toLowerCase());
    if (alone !== undefined && !text.includes(" ")) return [alone];
    const codes = [...new Set([...text.matchAll(/\b[A-Z][A-Za-z]+\b/g)].map(([word]) => word))]
      .flatMap((word) => byCode.get(word) ?? [])
      .map((reason) => /** @type {const} */ ({ by: "code", reason }));
    const fitting = messages.filter(({ words }) => words.test(text)).map(({ message }) => message);
    const known = fitting.map((message) => /** @type {const} */ ({ by: "message", message }));
    const sure = [
      ...codes.filter(({ reason }) => !isWeak(reason, text)),
      ...known.filter(({ message }) => message.general !== true),
    ];
    if (sure.length > 0) return sure.slice(0, mostAnswers);
    const weak = codes.filter(({ reason }) => isWeak(reason, text));
    const unsure = [
      ...weak.filter(({ reason }) => reason.kind !== "normal"),
      ...known.filter(({ message }) => message.general === true),
      ...weak.filter(({ reason }) => reason.kind === "normal"),
    ];
    index ??= indexOf(table);
    const similar = search(index, text).filter((answer) => !unsure.some((one) => same(one, answer)));
    return [...unsure, ...similar].slice(0, unsure.length === 0 ? mostAnswers : unsure.length + mostGuesses);
  };
}

/**
 * Whether the code may be in the text without being meant: it is an English word, or Kubernetes' own name for an Event,
 * or it asks nothing of people. After it a colon, or a bracket before it, makes it ours.
 * @param {WhyReason} reason
 * @param {string} text
 */
function isWeak({ code, kind }, text) {
  if (kind === "normal" || /^(FailedAttachVolume|VolumeResizeFailed|FileSystemResizeFailed)$/.test(code)) return true;
  return /^[A-Z][a-z]+$/.test(code) && !new RegExp(`(desc = ${code}:|\\(${code}[,)])`).test(text);
}

/**
 * @param {Answer} one
 * @param {Answer} other
 */
function same(one, other) {
  return keyOf(one) === keyOf(other);
}

/**
 * What stands in an address for it.
 * @param {Answer} answer
 */
export function keyOf(answer) {
  return "reason" in answer ? answer.reason.code : answer.message.id;
}

/** @param {WhyTable} table */
function indexOf({ reasons, messages }) {
  /** @type {{ answer: Answer, weights: Map<string, number> }[]} */
  const entries = [
    ...reasons.map((reason) => ({
      answer: /** @type {const} */ ({ by: "words", reason }),
      weights: weightsOf(reason.code.replace(/([a-z])([A-Z])/g, "$1 $2"), `${reason.text} ${reason.step}`),
    })),
    ...messages.map((message) => ({
      answer: /** @type {const} */ ({ by: "words", message }),
      weights: weightsOf(message.title, `${message.cause} ${message.check} ${message.step}`),
    })),
  ];
  /** In how many entries each word is. @type {Map<string, number>} */
  const spread = new Map();
  for (const { weights } of entries) for (const word of weights.keys()) spread.set(word, (spread.get(word) ?? 0) + 1);
  return { entries, spread };
}

/**
 * @param {string} title
 * @param {string} text
 */
function weightsOf(title, text) {
  const weights = new Map([...wordsOf(text)].map((word) => [word, 1]));
  for (const word of wordsOf(title)) weights.set(word, 2);
  return weights;
}

/**
 * By the words in common: the fewer entries have a word, the more it weighs.
 * @param {ReturnType<typeof indexOf>} index
 * @param {string} text
 */
function search({ entries, spread }, text) {
  const words = [...wordsOf(text)].filter((word) => spread.has(word));
  const rarity = (/** @type {string} */ word) => Math.log(entries.length / (spread.get(word) ?? 1));
  const found = entries
    .map(({ answer, weights }) => ({
      answer,
      score: words.reduce((sum, word) => sum + (weights.get(word) ?? 0) * rarity(word), 0),
    }))
    .sort((a, b) => b.score - a.score);
  const best = found[0]?.score ?? 0;
  return found.filter(({ score }) => score >= leastScore && score >= best / 2).map(({ answer }) => answer);
}

/** @param {string} text */
function wordsOf(text) {
  return new Set((text.toLowerCase().match(/[a-z][a-z0-9]+/g) ?? []).map(stem));
}

/** @param {string} word */
function stem(word) {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, "") : word;
}

const mostNames = 60;
/** Words of messages that nobody names an object by. */
const common = new Set(
  (
    "a all an and are as at be by can code could desc error failed for from has have in io is it its kubelet mount mounted no " +
    "node nodes not object of on or pod pods rpc set so the to unmounted volume volumes warning was with you"
  ).split(" "),
);

/**
 * What may be the name of an object of Kubernetes, in the order of the text, each once.
 * @param {string} text
 */
export function namesIn(text) {
  const found = text
    .slice(0, longestText)
    .match(/(?<![A-Za-z0-9])[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?![A-Za-z0-9])/g);
  return [...new Set(found ?? [])].filter((name) => name.length > 1 && !common.has(name)).slice(0, mostNames);
}
