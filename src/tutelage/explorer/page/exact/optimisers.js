// Steps from gradients, with optax's arithmetic. Each is made from its options and the lengths of the arrays that it moves; `step(arrays, gradients, rate)` moves them.

export function buildOptimiser({ name, options }, sizes) {
  const direction = { gradient_descent: () => () => {}, momentum, adam, normalised: () => normalise, sign: () => signs }[name](options, sizes);
  const { power = 0, onset = 100 } = options;
  let taken = 0;
  const memory = direction.memory ?? [];
  return {
    step(arrays, gradients, rate) {
      direction(gradients, taken);
      const factor = -rate * (power ? (1 + taken / onset) ** -power : 1);
      arrays.forEach((array, i) => {
        const gradient = gradients[i];
        for (let at = 0; at < array.length; at++) array[at] += factor * gradient[at];
      });
      taken++;
    },
    // All that a step depends on beside the arrays, to go back to.
    kept: () => [taken, memory.map((array) => array.slice())],
    restore([count, arrays]) {
      taken = count;
      arrays.forEach((array, i) => memory[i].set(array));
    },
  };
}

function momentum({ decay, nesterov }, sizes) {
  const velocity = sizes.map((size) => new Float64Array(size));
  const turn = (gradients) => {
    gradients.forEach((gradient, i) => {
      const v = velocity[i];
      for (let at = 0; at < gradient.length; at++) {
        v[at] = gradient[at] + decay * v[at];
        gradient[at] = nesterov ? gradient[at] + decay * v[at] : v[at];
      }
    });
  };
  return Object.assign(turn, { memory: velocity });
}

function adam({ b1 = 0.9, b2 = 0.999, eps = 1e-8 }, sizes) {
  const [mean, spread] = [0, 1].map(() => sizes.map((size) => new Float64Array(size)));
  const turn = (gradients, taken) => {
    const [first, second] = [1 - b1 ** (taken + 1), 1 - b2 ** (taken + 1)];
    gradients.forEach((gradient, i) => {
      const [m, s] = [mean[i], spread[i]];
      for (let at = 0; at < gradient.length; at++) {
        const g = gradient[at];
        m[at] = (1 - b1) * g + b1 * m[at];
        s[at] = (1 - b2) * g * g + b2 * s[at];
        gradient[at] = m[at] / first / (Math.sqrt(s[at] / second) + eps);
      }
    });
  };
  return Object.assign(turn, { memory: [...mean, ...spread] });
}

// To length 1 over all arrays together.
function normalise(gradients) {
  let sum = 0;
  for (const gradient of gradients) for (const g of gradient) sum += g * g;
  const length = Math.sqrt(sum);
  if (length > 0) for (const gradient of gradients) for (let at = 0; at < gradient.length; at++) gradient[at] /= length;
}

function signs(gradients) {
  for (const gradient of gradients) for (let at = 0; at < gradient.length; at++) gradient[at] = Math.sign(gradient[at]);
}
