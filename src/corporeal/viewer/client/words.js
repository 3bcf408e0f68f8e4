// Words of the page. Code says them in English; `table.js` has them all, so that they can be translated.

import { TABLE } from "./table.js";

const asked = new URLSearchParams(location.search).get("lang") ?? navigator.language.slice(0, 2);
export const language = asked in TABLE.languages ? asked : "en";
const chosen = TABLE.languages[language] ?? {};
const known = new Set(TABLE.english);

export const missing = new Set(); // what was said and is not in the table, for tests

// A text of the page, with {names} filled in.
export function say(text, values = {}) {
  if (text && !known.has(text)) missing.add(text);
  return filled(chosen[text] ?? text, values);
}

// A text that comes from the session: translated where the table has it, else as it is.
export const heard = (text) => chosen[text] ?? text;

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

// left_elbow → Left elbow
export function words(name) {
  const text = name.replace(/[_-]/g, " ");
  const made = text.charAt(0).toUpperCase() + text.slice(1);
  known.add(made);
  return made;
}

export const learn = (text) => known.add(text);
