/** The text of --help. */
import { flags } from './arguments.js'

const commands = [
  ['standin [dev]', 'Start the platform'],
  ['standin record', 'The same in mode record: ask the live platform, and keep what it says'],
  ['standin replay', 'The same in mode replay: answer from what was recorded'],
  ['standin drift', 'Ask the live platform for each recording again, and say what has changed'],
  ['standin tail', 'Follow the requests of a Standin that runs already: --url, --last, --path …'],
  ['standin verify', "Check each rule of the platform's document, here or at another --target"],
  ['standin recordings list', 'List what was recorded'],
  ['standin recordings show NAME', 'Show one recording; NAME is its key or a part of its file name'],
  ['standin recordings prune', 'Remove recordings: --incomplete, --older-than, --broken'],
  ['standin recordings rename', 'Give all recordings the names they would get today, or OLD the name NEW'],
  ['standin recordings scan', 'Find secrets in recordings, and in further FILES; any makes it exit with 1'],
  ['standin import FILE.har', 'Make recordings of the exchanges in a HAR file; - is standard input'],
  ['standin export FILE.har', 'Write the recordings as a HAR file; - is standard output'],
  ['standin exec -- COMMAND', 'Run a command with a platform of its own in its environment, on any free port'],
  ['standin login', 'Sign in to the live auth backend: --email, --password-stdin'],
  ['standin logout', 'Sign out there, and forget the session'],
  ['standin token', 'Print a token for tests: --role, --email, --expires-in or --expired'],
  ['standin key create', 'Print a new API key: --name, --email, --expires-in'],
  ['standin openapi', 'Print the OpenAPI document of everything that is answered; --yaml as YAML'],
  ['standin config check', 'Say what is wrong with the configuration, or that nothing is'],
  ['standin config print', 'Show every option, its value and where that came from'],
  ['standin config init', 'Print a configuration file with every option at its default'],
  ['standin config schema', 'Print the JSON Schema of the configuration file'],
  ['standin replies check', 'Say which rules never answer, and what else is odd about them'],
  ['standin replies try PROMPT', 'Say which rule answers, what it says, and why'],
  ['standin replies schema', 'Print the JSON Schema of reply files'],
] as const

interface FlagShown {
  readonly value?: string
  readonly short?: string
  readonly meaning: string
  readonly commands?: readonly string[]
}

export function helpText(): string {
  const ofAll = Object.entries<FlagShown>(flags).filter(([, { commands }]) => !commands)
  const ofSome = Object.entries<FlagShown>(flags).filter(([, { commands }]) => commands)
  return `A local stand-in for the AI platform: its documented endpoints, bearer rules and errors, offline.

Usage
${rows(commands)}

Flags
${rows(ofAll.map(flagRow))}

Flags of single commands
${rows(ofSome.map(flagRow))}

Flags beat the environment (STANDIN_PORT), the environment beats the file, the file beats the defaults.

Examples
  standin                         start on http://127.0.0.1:4100 with the keys it prints
  standin --port 0 --json         start on any free port; the first line says which, for scripts
  standin exec -- npm test        run the tests against a platform that is gone afterwards
  standin token --role user --email ada@example.com
  standin config init > platform.config.yaml
`
}

const flagRow = ([name, { value, short, meaning }]: readonly [string, FlagShown]) =>
  [`--${name}${value ? ` ${value}` : ''}${short ? `, -${short}` : ''}`, meaning] as const

function rows(entries: readonly (readonly [string, string])[]): string {
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`).join('\n')
}
