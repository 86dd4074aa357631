/** One file of a new task set; `path` is relative to it. */
export type ScaffoldFile = { path: string; text: string; executable: boolean };

/** Two small tasks, an agent that solves one of them, and a README that says what to run. Only `sh` and the standard tools are needed. */
export function taskSet(options: { image: string; folder: string }): ScaffoldFile[] {
  const { image, folder } = options;
  return [
    plain('README.md', readme(folder)),
    program('agent.sh', AGENT),
    plain('hello/task.toml', taskFile('hello', 'trivial', 'files', image)),
    plain(
      'hello/instruction.md',
      'Create a file named `greeting.txt` in the working directory. It holds exactly one line:\n\n    Hello, world!\n',
    ),
    program('hello/tests/check.sh', HELLO_CHECK),
    program('hello/solution/solve.sh', '#!/bin/sh\necho "Hello, world!" > "${PROCTOR_WORKDIR:-/app}/greeting.txt"\n'),
    plain('add-numbers/task.toml', taskFile('add-numbers', 'easy', 'arithmetic', image)),
    plain(
      'add-numbers/instruction.md',
      '`numbers.txt` in the working directory holds one whole number on each line. Write their sum, and nothing else, to `sum.txt`.\n',
    ),
    plain('add-numbers/environment/numbers.txt', '17\n-4\n1200\n0\n29\n'),
    program('add-numbers/tests/check.sh', SUM_CHECK),
    program('add-numbers/solution/solve.sh', SUM_SOLUTION),
  ];
}

function plain(path: string, text: string): ScaffoldFile {
  return { path, text, executable: false };
}

function program(path: string, text: string): ScaffoldFile {
  return { path, text, executable: true };
}

function taskFile(name: string, difficulty: string, tag: string, image: string): string {
  return `name = "${name}"
max_iterations = 1

[metadata]
difficulty = "${difficulty}"
tags = ["${tag}"]

[environment]
docker_image = ${JSON.stringify(image)}
workdir = "/app"
network_mode = "no-network"

[agent]
timeout_sec = 60.0

# The check: it sees what the agent left, the agent never sees it. Its reward decides, not its exit code.
[verifier]
command = ["sh", "/tests/check.sh"]
timeout_sec = 60.0
reward_format = "reward_text"
`;
}

const HELLO_CHECK = `#!/bin/sh
# Publishes 1 when the file holds exactly the line that was asked for, else 0.
app=\${PROCTOR_WORKDIR:-/app}
logs=\${PROCTOR_LOGS:-/logs}

reward=0
if [ "$(cat "$app/greeting.txt" 2> /dev/null)" = "Hello, world!" ]; then
  reward=1
else
  echo "greeting.txt is missing, or holds something else"
fi
echo "$reward" > "$logs/verifier/reward.txt"
`;

const SUM_CHECK = `#!/bin/sh
# The numbers are here once more: an agent may have changed the file that it was given.
app=\${PROCTOR_WORKDIR:-/app}
logs=\${PROCTOR_LOGS:-/logs}

expected=$((17 - 4 + 1200 + 0 + 29))
found=$(tr -d '[:space:]' < "$app/sum.txt" 2> /dev/null)
reward=0
if [ "$found" = "$expected" ]; then
  reward=1
else
  echo "sum.txt is missing, or does not hold the sum"
fi
echo "$reward" > "$logs/verifier/reward.txt"
`;

const SUM_SOLUTION = `#!/bin/sh
cd "\${PROCTOR_WORKDIR:-/app}" || exit 1
sum=0
while read -r number; do
  sum=$((sum + number))
done < numbers.txt
echo "$sum" > sum.txt
`;

const AGENT = `#!/bin/sh
# An agent is any program. This one reads what it is asked, and can only greet: it passes one task and fails the other.
if grep -q greeting "$PROCTOR_INSTRUCTION_FILE"; then
  echo "Hello, world!" > "$PROCTOR_WORKDIR/greeting.txt"
fi
`;

function readme(folder: string): string {
  return `# Two small tasks

A task is a folder: \`task.toml\`, \`instruction.md\` for the agent, \`tests/\` that only the check sees, and \`solution/\` as the reference.
What is in \`environment/\` is put into the working directory.

Prove that each task can be passed and failed:

    proctor check ${folder}

Evaluate an agent, three times on each task:

    proctor eval experiment ${folder} --agent command:${folder.startsWith('/') || folder.startsWith('.') ? folder : `./${folder}`}/agent.sh --repeat 3

Look at the report again, and at what one trial did:

    proctor report
    proctor sessions list

See what would run, and what became of every key of a task:

    proctor eval task ${folder}/hello

Without Docker add \`--sandbox local --ignore-image\` to \`check\` and \`eval experiment\`.
`;
}
