// Scores of groups from some answers, and which question would say most about them: what `Scale.moments` and
// `Scale.if_answered` of Python compute, by messages between the nodes of a group's tree. All likelihoods are
// logarithms, so that any number of answers is exact.

const page = JSON.parse(document.getElementById("model").textContent);
const { columns, groups } = page;
const LEAST_GAIN = page.equal_within;

function logOfSum(logs) {
  const largest = Math.max(...logs);
  if (largest === -Infinity) return largest;
  return largest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - largest), 0));
}
// Mean and variance of something given one variable: from those given each state of another, with the logarithms of
// these states' weights. The variance is that of the means plus the mean of the variances.
function mixed(logs, means, variances) {
  const total = logOfSum(logs);
  if (total === -Infinity) return [0, 0];
  const shares = logs.map((log) => Math.exp(log - total));
  const mean = shares.reduce((sum, share, i) => sum + share * means[i], 0);
  const variance = shares.reduce((sum, share, i) => sum + share * (variances[i] + (means[i] - mean) ** 2), 0);
  return [mean, variance];
}

for (const group of groups) {
  // log P(state x of a node | state h of its parent), by x and h; a root is the child of a variable with one state.
  group.logs = group.tables.map((table) => table.map((row) => row.map(Math.log)));
  group.children = group.parent.map(() => []);
  group.parent.forEach((parent, node) => parent >= 0 && group.children[parent].push(node));
  group.prior = scoreOf(group, new Map()).variance;
}

// The score of a group and its variance, and for each of its columns without an answer by how much this variance is
// expected to fall with one. `answers` maps columns to their states.
function scoreOf(group, answers) {
  const { order, parent, children, logs, values } = group;
  // Of each node, one number per state: the log-likelihood of the answers at and below it, and mean and variance of the
  // score's terms there. Then the same for each state of the parent.
  const [likelihood, mean, variance, toParent] = [[], [], [], []];
  for (const node of [...order].reverse()) {
    const n = logs[node].length;
    const answer = answers.get(group.columns[node]);
    likelihood[node] = logs[node].map((_, x) => (answer === undefined || answer === x ? 0 : -Infinity));
    mean[node] = [...(values[node] ?? new Array(n).fill(0))];
    variance[node] = new Array(n).fill(0);
    for (const child of children[node]) {
      for (let x = 0; x < n; x++) {
        likelihood[node][x] += toParent[child].likelihood[x];
        mean[node][x] += toParent[child].mean[x];
        variance[node][x] += toParent[child].variance[x];
      }
    }
    toParent[node] = { likelihood: [], mean: [], variance: [] };
    for (let h = 0; h < logs[node][0].length; h++) {
      const weights = logs[node].map((row, x) => row[h] + likelihood[node][x]);
      const [m, v] = mixed(weights, mean[node], variance[node]);
      toParent[node].likelihood.push(logOfSum(weights));
      toParent[node].mean.push(m);
      toParent[node].variance.push(v);
    }
  }
  const root = toParent[order[0]];
  const found = { mean: root.mean[0], variance: root.variance[0], gains: [] };
  if (root.likelihood[0] === -Infinity) return { mean: NaN, variance: NaN, gains: [] };
  // From the root down: what is not below a node is added, so that the mean is that of the whole score. What an answer
  // is expected to tell needs no variance.
  const joint = []; // log P(state, all answers)
  for (const node of order) {
    const above = parent[node];
    if (above < 0) {
      joint[node] = likelihood[node].map((log, x) => log + logs[node][x][0]);
    } else {
      const own = toParent[node];
      const outside = joint[above].map((log, h) =>
        own.likelihood[h] === -Infinity ? -Infinity : log - own.likelihood[h],
      );
      const restMean = mean[above].map((m, h) => m - own.mean[h]);
      const certain = new Array(restMean.length).fill(0);
      joint[node] = logs[node].map((row, x) => {
        const weights = row.map((log, h) => log + outside[h]);
        mean[node][x] += mixed(weights, restMean, certain)[0];
        return likelihood[node][x] + logOfSum(weights);
      });
    }
    const column = group.columns[node];
    if (column === undefined || answers.has(column)) continue;
    // The gain is the variance of the mean that the answer leads to.
    found.gains.push({ column, gain: mixed(joint[node], mean[node], new Array(mean[node].length).fill(0))[1] });
  }
  return found;
}

// The column to ask next, or null. Skipped columns have no answer, but are not asked again.
function nextColumn(answers, skipped, scores, reliability) {
  const gains = groups.flatMap((group, i) =>
    reliability !== null && scores[i].variance <= (1 - reliability) * group.prior + LEAST_GAIN ? [] : scores[i].gains,
  );
  const open = gains.filter(({ column, gain }) => gain > LEAST_GAIN && !skipped.has(column));
  if (!open.length) return null;
  const best = Math.max(...open.map(({ gain }) => gain));
  return Math.min(...open.filter(({ gain }) => gain >= best - LEAST_GAIN).map(({ column }) => column));
}
