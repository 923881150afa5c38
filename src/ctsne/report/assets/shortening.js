// Long names where room is short. They are cut in the middle, because many differ at their ends.

// Makes elements of names, which the style sheet cuts so that their end stays in sight. Labels that
// begin and end alike are cut before the word in which they differ.

const [TAIL, UNCUT, START] = [11, 20, 6];

function longNames(labels) {
  const alike = new Map();
  for (const label of labels) {
    const letters = Array.from(label);
    if (letters.length <= UNCUT) continue;
    const ends = letters.slice(0, START).concat(letters.slice(-TAIL)).join("");
    if (!alike.has(ends)) alike.set(ends, []);
    alike.get(ends).push(label);
  }
  const cuts = new Map();
  for (const group of alike.values()) {
    if (group.length === 1) continue;
    // In this order a name shares its longest beginning with one of its neighbours.
    const sorted = group.sort().map((label) => Array.from(label));
    sorted.forEach((letters, place) => {
      const near = [sorted[place - 1], sorted[place + 1]].filter((each) => each !== undefined);
      cuts.set(letters.join(""), beforeWord(letters, max(...near.map((each) => firstDifference(letters, each)))));
    });
  }
  return (text) => longName(text, cuts.get(text) ?? null);
}

function firstDifference(letters, others) {
  const place = letters.findIndex((letter, at) => letter !== others[at]);
  return place === -1 ? letters.length : place;
}

// The beginning of a word, unless that is far.

function beforeWord(letters, place) {
  let start = place;
  while (start > 0 && place - start < 8 && !/[\s,;/]/.test(letters[start - 1])) start--;
  return start;
}

function longName(text, cut) {
  const shown = text.trim() === "" ? "(empty)" : text;
  const letters = Array.from(shown);
  const name = element("span", "", { class: cut === null ? "name" : "name inner", dir: "auto", title: text });
  const place = cut ?? (letters.length <= UNCUT ? letters.length : letters.length - TAIL);
  name.append(element("span", letters.slice(0, place).join(""), { class: "head" }));
  if (place < letters.length) name.append(element("span", letters.slice(place).join(""), { class: "tail" }));
  return name;
}

// Texts no wider than a limit, for pictures. Different ones that would look the same are cut before
// their first difference, and not at all if that is not enough.

function shortened(texts, limit, measured) {
  const cut = (text, parts) => {
    const letters = Array.from(text);
    if (measured(text) <= limit) return text;
    let room = floor((letters.length * limit) / measured(text));
    let short = text;
    do short = parts(letters, max(2, room--)); while (measured(short) > limit && room >= 2);
    return short;
  };
  const shorts = texts.map((text) =>
    cut(text, (letters, room) => {
      const tail = ceil(room / 2);
      return `${letters.slice(0, room - tail).join("")}…${letters.slice(-tail).join("")}`;
    }));
  const alike = new Map();
  shorts.forEach((short, place) => alike.set(short, [...(alike.get(short) ?? []), place]));
  for (const places of alike.values()) {
    if (places.length === 1) continue;
    const all = places.map((place) => Array.from(texts[place]));
    const differs = max(0, all[0].findIndex((letter, at) => all.some((letters) => letters[at] !== letter)));
    const word = beforeWord(all[0], differs);
    const cuts = places.map((place) =>
      cut(texts[place], (letters, room) => {
        const end = word + room - 5;
        return `${letters.slice(0, 4).join("")}…${letters.slice(word, end).join("")}${end < letters.length ? "…" : ""}`;
      }));
    const isTold = new Set(cuts).size === new Set(places.map((place) => texts[place])).size;
    places.forEach((place, at) => (shorts[place] = isTold ? cuts[at] : texts[place]));
  }
  return shorts;
}
