// What a tab remembers of itself over a reload: the key of its session, and the last document.

const KEY = "corporeal tab";
const DOCUMENT = "corporeal document";
const MOST = 4 * 2 ** 20; // letters

const random = () => Array.from(crypto.getRandomValues(new Uint8Array(18)), (byte) => "abcdefghijklmnopqrstuvwxyz012345"[byte % 32]).join("");

function stored(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null; // a browser that keeps nothing: a reload begins anew
  }
}

function store(name, text) {
  try {
    sessionStorage.setItem(name, text);
  } catch {
    // full, or forbidden
  }
}

let key = stored(KEY);

export const remembered = {
  key(given = null) {
    key = given ?? key ?? random();
    store(KEY, key);
    return key;
  },
  keep(document) {
    const text = JSON.stringify(document);
    if (text.length < MOST) store(DOCUMENT, text);
  },
  document() {
    try {
      return JSON.parse(stored(DOCUMENT) ?? "null");
    } catch {
      return null;
    }
  },
};
