// The difference of two texts by lines: [" ", line], ["-", line of the first], ["+", line of the second].
const MAX_CELLS = 1_000_000; // of the table; larger texts are shown one after the other

export function diffLines(before, after) {
  const one = before.split("\n"), other = after.split("\n");
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start++;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  const middle = between(one.slice(start, one.length - end), other.slice(start, other.length - end));
  const same = (line) => [" ", line];
  return [...one.slice(0, start).map(same), ...middle, ...one.slice(one.length - end).map(same)];
}

function between(one, other) {
  const removed = one.map((line) => ["-", line]), added = other.map((line) => ["+", line]);
  if (!one.length || !other.length || one.length * other.length > MAX_CELLS) return [...removed, ...added];
  const width = other.length + 1;
  const longest = new Uint32Array((one.length + 1) * width); // common lines from here on
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      longest[i * width + j] = one[i] === other[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  const lines = [];
  let i = 0, j = 0;
  while (i < one.length && j < other.length) {
    if (one[i] === other[j]) lines.push([" ", one[(j++, i++)]]);
    else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) lines.push(removed[i++]);
    else lines.push(added[j++]);
  }
  return [...lines, ...removed.slice(i), ...added.slice(j)];
}
