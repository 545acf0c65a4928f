/** The texts of --help: the overview, and the help of each command. */
import { type Flag, flags } from './arguments.js'
import { wrapped } from './columns.js'

/** Commands, grouped by task. */
const topics: Readonly<Record<string, readonly (readonly [usage: string, meaning: string])[]>> = {
  'Start it': [
    ['standin [dev]', 'Start the platform'],
    ['standin record', 'Start it in mode record: ask the live platform, and keep what it says'],
    ['standin replay', 'Start it in mode replay: answer from what was recorded'],
    ['standin exec -- COMMAND', 'Run a command with a platform of its own in its environment, on any free port'],
  ],
  'Look at it': [
    ['standin tail', 'Follow the requests of a Standin that runs already'],
    ['standin verify', "Check each rule of the platform's document, here or at another --target"],
    ['standin openapi', 'Print the OpenAPI document of everything that is answered'],
  ],
  Recordings: [
    ['standin recordings list', 'List what was recorded'],
    ['standin recordings show NAME', 'Show one recording; NAME is its key or a part of its file name'],
    ['standin recordings prune', 'Remove recordings: --incomplete, --older-than, --broken'],
    ['standin recordings rename', 'Give all recordings the names they would get today, or OLD the name NEW'],
    ['standin recordings scan', 'Find secrets in recordings, and in further FILES; any makes it exit with 1'],
    ['standin drift', 'Ask the live platform for each recording again, and say what has changed'],
    ['standin import FILE.har', 'Make recordings of the exchanges in a HAR file; - is standard input'],
    ['standin export FILE.har', 'Write the recordings as a HAR file; - is standard output'],
  ],
  Credentials: [
    ['standin token', 'Print a token for tests'],
    ['standin key create', 'Print a new API key'],
    ['standin login', 'Sign in to the live auth backend'],
    ['standin logout', 'Sign out there, and forget the session'],
  ],
  'Configuration and replies': [
    ['standin config check', 'Say what is wrong with the configuration, or that nothing is'],
    ['standin config print', 'Show every option, its value and where that came from'],
    ['standin config init', 'Print a configuration file with every option at its default'],
    ['standin config schema', 'Print the JSON Schema of the configuration file'],
    ['standin replies check', 'Say which rules never answer, and what else is odd about them'],
    ['standin replies try PROMPT', 'Say which rule answers, what it says, and why'],
    ['standin replies schema', 'Print the JSON Schema of reply files'],
  ],
}

const examples = [
  ['standin', 'start on http://127.0.0.1:4100 with the keys it prints'],
  ['standin --port 0 --json', 'start on any free port; the first line says which, for scripts'],
  ['standin exec -- npm test', 'run the tests against a platform that is gone afterwards'],
  ['standin verify', 'check a fresh stand-in'],
  ['standin exec --mode replay --strict -- npm test', 'fail when something was not recorded'],
  ['standin tail --last 20 --status 4xx', 'show what was refused, the last 20 first'],
  ['standin tail --json | jq .request.path', 'hand the requests to a program'],
  ['standin verify --only AUTH-*', 'check what is said about credentials'],
  ['standin verify --target live --reporter junit --output report.xml', 'check the live platform in CI'],
  ['standin openapi --yaml > openapi.yaml', 'keep the document'],
  ['standin token --role user --email ada@example.com', 'print the token of a user'],
  ['standin config init > platform.config.yaml', 'begin a configuration'],
] as const

/** How many examples the overview shows. */
const firstExamples = 4

/** The width of running text, outside tables. */
const WIDTH = 100

const commands = Object.values(topics)
  .flat()
  .map(row => ({ row, name: nameIn(row[0]) }))

/** Extracts the name: `recordings show` from `standin recordings show NAME`. */
function nameIn(usage: string): string {
  const words = usage.replace(/[[\]]/g, '').split(' ').slice(1)
  return words.filter(word => /^[a-z]/.test(word)).join(' ')
}

/** The help for the command that these words name, or the overview without words. Undefined for an unknown command. */
export function helpText(words: readonly string[] = []): string | undefined {
  if (words.length === 0) return overview()
  const asked = words.slice(0, 2).join(' ')
  const one = commands.filter(({ name }) => name === asked || name === words[0])
  const told = one.length > 0 ? one : commands.filter(({ name }) => name.split(' ')[0] === words[0])
  return told.length === 0 ? undefined : helpOf(told)
}

function overview(): string {
  const width = widest(commands.map(({ row: [usage] }) => usage))
  const groups = Object.entries(topics).map(([topic, entries]) => `${topic}\n${rows(entries, width)}`)
  const ofAll = flagList.filter(([, { commands }]) => !commands)
  return `A local stand-in for the AI platform: its documented endpoints, bearer rules and errors, offline.

${groups.join('\n\n')}

Flags of all commands
${rows(ofAll.map(flag => flagRow(flag)))}

standin COMMAND --help shows the flags of one command, such as standin verify --help.
${precedence}

Examples
${rows(examples.slice(0, firstExamples))}
`
}

const precedence =
  'Flags beat the environment (STANDIN_PORT), the environment beats the file, the file beats the defaults.'

const flagList = Object.entries<Flag>(flags)

function helpOf(told: typeof commands): string {
  const names = told.map(({ name }) => name)
  const own = flagList.filter(([, flag]) => names.some(name => isOwn(flag, name)))
  const others = names.some(name => starting.has(name))
    ? []
    : flagList.filter(flag => !flag[1].commands && !own.includes(flag))
  const [only] = names.length === 1 ? names : []
  const shown = examples.filter(([command]) => names.includes(commandOf(command)))
  return [
    rows(told.map(({ row }) => row)),
    ...(own.length > 0 ? ['', 'Flags', rows(own.map(flag => flagRow(flag, only)))] : []),
    ...(others.length > 0
      ? ['', ...wrapped(`Flags of all commands, see standin --help: ${others.map(nameOf).join(', ')}.`, WIDTH)]
      : ['', precedence]),
    ...(shown.length > 0 ? ['', 'Examples', rows(shown)] : []),
    '',
  ].join('\n')
}

const nameOf = ([name]: readonly [string, Flag]) => `--${name}`

/** The command that an example shows. */
function commandOf(example: string): string {
  const words = example.split(' ').slice(1, 3)
  const found = commands.find(({ name }) => name === words.join(' ') || name === words[0])
  return found?.name ?? 'dev'
}

/** Whether the help of a command lists a flag as its own. Commands that start a platform take every flag that configures it. */
function isOwn({ commands, meanings, option }: Flag, name: string): boolean {
  if (commands) return commands.includes(name)
  // These commands set the mode themselves.
  if (option?.[0] === 'mode' && (name === 'record' || name === 'replay')) return false
  return starting.has(name) || meanings?.[name] !== undefined
}

const starting = new Set(['dev', 'record', 'replay', 'exec'])

function flagRow([name, { value, short, meaning, meanings }]: readonly [string, Flag], command = '') {
  const usage = `--${name}${value ? ` ${value}` : ''}${short ? `, -${short}` : ''}`
  return [usage, meanings?.[command] ?? meaning] as const
}

const widest = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length))

function rows(entries: readonly (readonly [string, string])[], width = widest(entries.map(([name]) => name))): string {
  return entries.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`).join('\n')
}
