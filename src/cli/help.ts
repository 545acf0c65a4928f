/** The texts of --help: the overview, and the help of each command. */
import { type Flag, flagsOfAll, runFlags } from './command.js'
import { findCommand, groupOf, type ListedCommand, topics } from './commands.js'
import { padTo } from './output.js'

const examples = [
  ['standin', 'start on http://127.0.0.1:4100, and print its keys'],
  ['standin --port 0 --json', 'start on any free port; the first line says which, for scripts'],
  ['standin exec -- npm test', 'run the tests against a temporary platform'],
  ['standin verify', 'check a fresh stand-in'],
] as const

/** Returns the help for the command or group that these words name; `undefined` if there is none. */
export async function helpText(words: readonly string[]): Promise<string | undefined> {
  if (words.length === 0) return overview()
  const named = findCommand(words.flatMap(word => word.split(' ')))
  if (named) return helpOf(named)
  const [group = ''] = words
  const found = groupOf(group)
  return found.length === 0 ? undefined : `${table(found.map(row))}\n\n${moreHelp(found[0]?.name ?? '')}\n`
}

const moreHelp = (example: string) =>
  `standin COMMAND --help shows the flags of one command, such as standin ${example} --help.`

function overview(): string {
  const width = Math.max(...topics.flatMap(({ commands }) => commands.map(({ usage }) => usage.length)))
  const groups = topics.map(({ topic, commands }) => `${topic}\n${table(commands.map(row), 'standin '.length + width)}`)
  return `A local stand-in for the AI platform: its documented endpoints, bearer rules and errors, offline.

${groups.join('\n\n')}

Flags of standin dev
${table(Object.entries({ ...runFlags, ...flagsOfAll }).map(flagRow))}

${moreHelp('verify')}
Options are taken from flags, the environment (STANDIN_PORT), the file and the defaults, in this order.

Examples
${table(examples)}
`
}

const row = ({ usage, does }: ListedCommand) => [`standin ${usage}`, does] as const

async function helpOf(listed: ListedCommand): Promise<string> {
  const { flags, examples = [] } = await listed.load()
  const rows = Object.entries(flags).map(flagRow)
  return [
    table([row(listed)]),
    ...(rows.length > 0 ? ['', 'Flags', table(rows)] : []),
    ...(examples.length > 0 ? ['', 'Examples', table(examples)] : []),
    '',
  ].join('\n')
}

const flagRow = ([name, { value, short, meaning }]: readonly [string, Flag]) =>
  [`--${name}${value ? ` ${value}` : ''}${short ? `, -${short}` : ''}`, meaning] as const

const table = (
  rows: readonly (readonly [string, string])[],
  width = Math.max(...rows.map(([name]) => name.length)),
): string => rows.map(([name, meaning]) => `  ${padTo(name, width)}  ${meaning}`).join('\n')
