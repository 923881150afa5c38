// What a reader would complain of: boxes on top of each other, cut text, things outside the screen.
(() => {
  const SLACK = 1.5; // pixels by which boxes may touch
  const ARROW = 16; // of a menu, in pixels
  const CONTROLS = "button, select, input, textarea, summary";
  const FIGURES = "canvas, svg, img";

  const visible = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && getComputedStyle(element).clipPath === "none";
  const clips = (element) => getComputedStyle(element).overflow !== "visible";
  const parents = function* (element) {
    for (let each = element; each !== null; each = each.parentElement) yield each;
  };
  const meet = (a, b) => ({
    left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
    top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom),
  });
  const empty = ({ left, right, top, bottom }) => right - left <= SLACK || bottom - top <= SLACK;

  // The part of a box that no scrolling or clipping parent hides.
  const seen = (box, inner, outer = null) => {
    let part = box;
    for (const each of parents(inner)) {
      if (each === outer) break;
      if (each !== document.documentElement && each !== document.body && clips(each)) part = meet(part, each.getBoundingClientRect());
    }
    return part;
  };

  // Things that open on top of the page have a layer of their own, and so has each panel with its names.
  const layer = (element) => {
    for (const each of parents(element)) {
      const { position, zIndex } = getComputedStyle(each);
      if ((position === "fixed" || position === "absolute") && zIndex !== "auto") return each;
    }
    return document.body;
  };

  const label = (element, text) => {
    const name = element.id ? `#${element.id}` : element.className ? `.${String(element.className.baseVal ?? element.className).split(" ").join(".")}` : "";
    const near = element.id ? "" : `in #${element.closest("[id]")?.id} `;
    return `${near}${element.localName}${name} “${(text ?? element.textContent).trim().slice(0, 40)}”`;
  };

  const leaves = () => {
    const found = [];
    const add = (element, box, text) => {
      if (!visible(element)) return;
      const part = seen(box, text === undefined ? element.parentElement : element);
      if (!empty(part)) found.push({ element, box, part, layer: layer(element), text, name: label(element, text) });
    };
    for (const element of document.body.querySelectorAll(`${CONTROLS}, ${FIGURES}`)) {
      if (element.parentElement.closest("svg") === null) add(element, element.getBoundingClientRect());
    }
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const element = node.parentElement;
      if (node.data.trim() === "" || element.closest("script, style, noscript, select, option, title, desc") !== null) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) add(element, box, node.data);
    }
    return found;
  };

  const overlaps = (all) => {
    const problems = new Set();
    all.forEach((a, place) => {
      for (const b of all.slice(place + 1)) {
        if (a.layer !== b.layer || a.element.contains(b.element) || b.element.contains(a.element)) continue;
        // Labels of charts lie on their lines, but never on each other; canvases of a panel are stacked.
        const stacked = !a.text && !b.text && a.element.parentElement === b.element.parentElement
          && getComputedStyle(b.element).position === "absolute";
        if (stacked || empty(meet(a.part, b.part))) continue;
        problems.add(`${a.name} overlaps ${b.name}`);
      }
    });
    return [...problems];
  };

  const titled = (element) => {
    for (const each of parents(element)) if (each.title || each.querySelector?.(":scope > title")) return true;
    return false;
  };

  const cut = () => {
    const problems = [];
    for (const element of document.body.querySelectorAll("*")) {
      if (!visible(element) || element.closest("svg, script, style, noscript") !== null) continue;
      const style = getComputedStyle(element);
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
      if (element.localName === "select") {
        const pen = document.createElement("canvas").getContext("2d");
        pen.font = style.font;
        const text = element.selectedOptions[0]?.textContent ?? "";
        const room = element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - ARROW;
        if (pen.measureText(text).width > room && !titled(element)) problems.push(`${label(element, text)} is cut and has no title`);
      } else if (own && style.overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1) {
        if (style.textOverflow !== "ellipsis") problems.push(`${label(element)} is cut without an ellipsis`);
        else if (!titled(element)) problems.push(`${label(element)} is cut and has no title`);
      }
      if (own && style.overflowY === "hidden" && element.scrollHeight > element.clientHeight + 2 && !titled(element)) problems.push(`${label(element)} is cut below`);
    }
    return problems;
  };

  const outside = (all) => {
    const width = document.documentElement.clientWidth;
    const problems = all.filter(({ part }) => part.left < -SLACK || part.right > width + SLACK).map(({ name }) => `${name} leaves the screen`);
    const { scrollWidth } = document.documentElement;
    if (scrollWidth > width) problems.push(`the page is ${scrollWidth} px wide on a screen of ${width} px`);
    return problems;
  };

  // The letters of an element that can be read, if need be after scrolling.
  const readable = (element) => {
    let text = "";
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (walker.nextNode()) {
      const node = walker.currentNode;
      for (let place = 0; place < node.length; place++) {
        range.setStart(node, place);
        range.setEnd(node, place + 1);
        const box = range.getBoundingClientRect();
        const part = seen(box, node.parentElement, element.parentElement);
        if (part.right - part.left > box.width / 2 && part.bottom - part.top > box.height / 2) text += node.data[place];
      }
    }
    return text;
  };

  const twins = () => [...document.querySelectorAll(".labels")].filter(visible).flatMap((list) => {
    const read = [...list.querySelectorAll(".name")].map(readable).filter((text) => text !== "");
    return read.filter((text, place) => read.indexOf(text) !== place).map((text) => `two labels read “${text}”`);
  });

  window.geometry = {
    // All complaints about the page as it is now.
    problems: () => {
      const all = leaves();
      return [...new Set([...overlaps(all), ...cut(), ...outside(all), ...twins()])];
    },
    // Those of the elements that are not wholly on the screen without scrolling.
    beyond: (selectors) => selectors.flatMap((selector) => {
      const found = [...document.querySelectorAll(selector)];
      if (found.length === 0) return [`${selector} does not exist`];
      return found.filter((element) => {
        const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
        return !visible(element) || width < 1 || height < 1 || left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5;
      }).map((element) => {
        const box = element.getBoundingClientRect();
        return `${selector} is not wholly on the screen: ${["left", "top", "right", "bottom"].map((side) => `${side} ${Math.round(box[side])}`).join(", ")}`;
      });
    }),
  };
})();
