/** The texts of --help: the overview, and the help of each command. */
import { type Flag, type Flags, sharedFlags } from './command.js'
import { findCommand, groupOf, type ListedCommand, topics } from './commands.js'
import { padTo, wrap } from './format.js'

const examples = [
  ['standin', 'start on http://127.0.0.1:4100, and print its keys'],
  ['standin --port 0 --json', 'start on any free port; the first line says which, for scripts'],
  ['standin exec -- npm test', 'run the tests against a temporary platform'],
  ['standin verify', 'check a fresh stand-in'],
] as const

/** The width of running text, outside tables. */
const WIDTH = 100

const precedence =
  'Options are taken from flags, the environment (STANDIN_PORT), the file and the defaults, in this order.'

/** Returns the help for the command or group that these words name; `undefined` if there is none. */
export async function helpText(words: readonly string[]): Promise<string | undefined> {
  if (words.length === 0) return overview()
  const named = findCommand(words.flatMap(word => word.split(' ')))
  const found = named ? [named] : groupOf(words[0] ?? '')
  return found.length === 0 ? undefined : helpOf(found)
}

function overview(): string {
  const width = Math.max(...topics.flatMap(({ commands }) => commands.map(({ usage }) => usage.length)))
  const groups = topics.map(({ topic, commands }) => `${topic}\n${table(commands.map(row), 'standin '.length + width)}`)
  return `A local stand-in for the AI platform: its documented endpoints, bearer rules and errors, offline.

${groups.join('\n\n')}

Flags of all commands
${table(Object.entries(sharedFlags).map(flagRow))}

standin COMMAND --help shows the flags of one command, such as standin verify --help.
${precedence}

Examples
${table(examples)}
`
}

const row = ({ usage, does }: ListedCommand) => [`standin ${usage}`, does] as const

async function helpOf(listed: readonly ListedCommand[]): Promise<string> {
  const loaded = await Promise.all(listed.map(({ load }) => load()))
  const own = Object.assign({}, ...loaded.map(({ flags }) => flags)) as Flags
  const others = Object.keys(sharedFlags).filter(name => !Object.hasOwn(own, name))
  const allExamples = loaded.flatMap(({ examples = [] }) => examples)
  return [
    table(listed.map(row)),
    ...(Object.keys(own).length > 0 ? ['', 'Flags', table(visibleFlags(own).map(flagRow))] : []),
    '',
    ...(others.length === 0
      ? [precedence]
      : wrap(
          `The flags of all commands work as well (see standin --help): ${others.map(name => `--${name}`).join(', ')}.`,
          WIDTH,
        )),
    ...(allExamples.length > 0 ? ['', 'Examples', table(allExamples)] : []),
    '',
  ].join('\n')
}

const visibleFlags = (flags: Flags) => Object.entries(flags).filter(([, { isHidden }]) => !isHidden)

const flagRow = ([name, { value, short, meaning }]: readonly [string, Flag]) =>
  [`--${name}${value ? ` ${value}` : ''}${short ? `, -${short}` : ''}`, meaning] as const

const table = (
  rows: readonly (readonly [string, string])[],
  width = Math.max(...rows.map(([name]) => name.length)),
): string => rows.map(([name, meaning]) => `  ${padTo(name, width)}  ${meaning}`).join('\n')
