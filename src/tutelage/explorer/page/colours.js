// Cividis for attention, purple to orange for differences, and the page's own colours as the canvas needs them.

const HEAT = "00224e002e6a1a386f32436d434e6c535a6d61656f6f70737d7c788c88789b9476aba072bcae6ccdbb63dec958f0d846fee838";
const DIFFERENCE = "7f3b08b25706e08214fcb761fee0b6f6f6f7d8daebb1aad18073ac5326872d004b";

function stops(text) {
  const bytes = text.match(/../g).map((pair) => parseInt(pair, 16));
  return Array.from({ length: bytes.length / 3 }, (_, i) => bytes.slice(3 * i, 3 * i + 3));
}

function scale(text) {
  const points = stops(text);
  return (share) => {
    const at = Math.min(Math.max(share, 0), 1) * (points.length - 1);
    const [below, above] = [points[Math.floor(at)], points[Math.ceil(at)]];
    return below.map((channel, i) => channel + (above[i] - channel) * (at % 1));
  };
}

export const heat = scale(HEAT);
export const difference = scale(DIFFERENCE);

// A custom property may hold light-dark(), which only a real property resolves.
export function resolved(...names) {
  const probe = document.createElement("span");
  document.body.append(probe);
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return found;
}

export const RUNS = 6; // colours told apart in all common forms of colour blindness
