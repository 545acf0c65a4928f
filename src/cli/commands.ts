/** All commands, grouped by task, and the texts of --help. The overview of the help loads none of the commands. */
import { type Command, type Flag, type Flags, flagsOfAll, runFlags } from './command.js'

export interface ListedCommand {
  /** `recordings scan`. */
  readonly name: string
  /** The name and the arguments: required ones, `[optional]` ones, and `…` for any number. */
  readonly usage: string
  readonly does: string
  load(): Promise<Command<Flags>>
}

/** Imports the commands of a file, by name. That each reads only its own flags is checked where it is declared. */
type Load = () => Promise<Readonly<Record<string, Omit<Command<Flags>, 'run'>>>>

const dev: Load = async () => (await import('./dev.js')).devCommands
const init: Load = async () => (await import('./init.js')).initCommands
const env: Load = async () => (await import('./env.js')).envCommands
const ready: Load = async () => (await import('./ready.js')).readyCommands
const exec: Load = async () => (await import('./exec.js')).execCommands
const receipt: Load = async () => (await import('./receipts.js')).receiptCommands
const verify: Load = async () => (await import('./verify.js')).verifyCommands
const config: Load = async () => (await import('./config.js')).configCommands
const recordings: Load = async () => (await import('./recordings.js')).recordingsCommands
const accept: Load = async () => (await import('./accept.js')).acceptCommands
const drift: Load = async () => (await import('./drift.js')).driftCommands
const har: Load = async () => (await import('./har.js')).importCommands
const mint: Load = async () => (await import('./mint.js')).credentialCommands
const replies: Load = async () => (await import('./replies.js')).replyCommands

/** To add a command, add an entry here and its file. */
const commandTable: Readonly<Record<string, readonly (readonly [usage: string, does: string, load: Load])[]>> = {
  'Start Standin': [
    ['[dev|record|replay]', 'Start the platform; record and replay start it in this mode', dev],
    ['init', 'Write a configuration, a rule and scripts for this project', init],
    ['exec -- COMMAND', 'Run a command with a platform of its own, on any free port', exec],
    ['receipt FILE…', 'Join what exec --receipt wrote in several parts of a run, and judge it', receipt],
  ],
  'Inspect and check': [
    ['env', 'Print the environment variables that an app needs, or --write them', env],
    ['ready', 'Wait until a Standin answers', ready],
    ['verify', "Check every rule of the platform's document, here or at a --target", verify],
  ],
  Recordings: [
    ['recordings prune', 'Remove recordings that are unused, errors, incomplete, broken or old', recordings],
    ['recordings repair', "Take out conflict markers, and write today's form and prompts.yaml", recordings],
    ['recordings accept', 'Adopt the requests of a run with --on-miss nearest, offline', accept],
    ['recordings scan [FILES…]', 'Find secrets in recordings and FILES; exit with 1 if there are any', recordings],
    ['drift', 'Repeat recorded requests at the live platform, and report changes', drift],
    ['import FILE.har', 'Turn a HAR file into recordings; - is standard input', har],
  ],
  Credentials: [
    ['token', 'Print a token for tests', mint],
    ['key create', 'Print a new API key', mint],
  ],
  'Configuration and replies': [
    ['config check', 'Check the configuration, the rules included, and report mistakes', config],
    ['config print', 'Show every option, what it means, its value and where that was set', config],
    ['replies try [PROMPT…]', 'Show which rule answers, with what, and why', replies],
  ],
}

const listedCommand = ([usage, does, load]: readonly [string, string, Load]): ListedCommand => {
  const name = usage.match(/^\[?([a-z]+( [a-z]+(-[a-z]+)*)?)/)?.[1] ?? usage
  return { name, usage, does, load: async () => (await load())[name] as Command<Flags> }
}

export const topics = Object.entries(commandTable).map(([topic, commands]) => ({
  topic,
  commands: commands.map(listedCommand),
}))

export const commands = topics.flatMap(({ commands }) => commands)

const byName = new Map(commands.map(command => [command.name, command]))

/** What people also type, for which command. */
export const otherNames: ReadonlyMap<string, string> = new Map([
  ['start', 'dev'],
  ['record', 'dev'],
  ['replay', 'dev'],
  ['replies check', 'config check'],
])

/** Finds the command by its first one or two words. `standin` alone is `standin dev`. */
export const findCommand = ([first = 'dev', second]: readonly string[]) => named(`${first} ${second}`) ?? named(first)

const named = (name: string) => byName.get(otherNames.get(name) ?? name)

/** The commands whose name begins with this word, such as all of `recordings`. */
export const groupOf = (word: string) => commands.filter(({ name }) => name.split(' ')[0] === word)

const overviewExamples = [
  ['standin', 'start on http://127.0.0.1:4100, and print its keys'],
  ['standin --port 0 --json', 'start on any free port; the first line says which, for scripts'],
  ['standin exec -- npm test', 'run the tests against a temporary platform'],
  ['standin verify', 'check a fresh stand-in'],
] as const

/** Returns the help for the command or group that these words name; `undefined` if there is none. */
export async function helpText(words: readonly string[]): Promise<string | undefined> {
  if (words.length === 0) return overview()
  const named = findCommand(words.flatMap(word => word.split(' ')))
  if (named) return helpOf(named, words[0])
  const [group = ''] = words
  const found = groupOf(group)
  return found.length === 0 ? undefined : `${twoColumns(found.map(commandRow))}\n\n${moreHelp(found[0]?.name ?? '')}\n`
}

const moreHelp = (example: string) =>
  `standin COMMAND --help shows the flags of one command, such as standin ${example} --help.`

function overview(): string {
  const width = Math.max(...topics.flatMap(({ commands }) => commands.map(({ usage }) => usage.length)))
  const groups = topics.map(
    ({ topic, commands }) => `${topic}\n${twoColumns(commands.map(commandRow), 'standin '.length + width)}`,
  )
  return `A local stand-in for the AI platform: its documented endpoints, bearer rules and errors, offline.

${groups.join('\n\n')}

Flags of standin dev
${twoColumns(Object.entries({ ...runFlags, ...flagsOfAll }).map(flagRow))}

${moreHelp('verify')}
Options are taken from flags, the environment (STANDIN_PORT), the file and the defaults, in this order.

Examples
${twoColumns(overviewExamples)}
`
}

const commandRow = ({ usage, does }: ListedCommand) => [`standin ${usage}`, does] as const

async function helpOf(listed: ListedCommand, word = ''): Promise<string> {
  const { flags, examples = [] } = await listed.load()
  // These words are modes themselves.
  const isRefused = (name: string) => name === 'mode' && /^(record|replay)$/.test(word)
  const rows = Object.entries(flags).flatMap(flag => (isRefused(flag[0]) ? [] : [flagRow(flag)]))
  return [
    twoColumns([commandRow(listed)]),
    ...(rows.length > 0 ? ['', 'Flags', twoColumns(rows)] : []),
    ...(examples.length > 0 ? ['', 'Examples', twoColumns(examples)] : []),
    '',
  ].join('\n')
}

const flagRow = ([name, { value, short, meaning }]: readonly [string, Flag]) =>
  [`--${name}${value ? ` ${value}` : ''}${short ? `, -${short}` : ''}`, meaning] as const

const twoColumns = (
  rows: readonly (readonly [string, string])[],
  width = Math.max(...rows.map(([name]) => name.length)),
): string => rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`).join('\n')
