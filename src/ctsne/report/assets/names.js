function nameAnchors() { return []; }
function nameFont() { return { size: 12, family: "sans-serif" }; }
function placeNames() { return []; }
function movedNames() { return []; }
